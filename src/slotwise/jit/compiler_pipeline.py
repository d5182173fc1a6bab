"""Parts: functions that compiled code calls are compiled as part of their callers, and not each by itself as well.

Left to itself numba turns every function into machine code of its own, optimised with all that it calls linked in, and
then does so again in its caller, and in its caller's caller: what lies six calls deep is optimised six times. A part
stays as LLVM's code. Only what Python calls is optimised and turned into machine code, once, with all of its parts.
"""

from __future__ import annotations

from typing import Any

from numba._dynfunc import make_function  # type: ignore[import-not-found]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from slotwise.jit.sigint import postponed_interrupt


class Part(Compiler):  # type: ignore[misc]
    """The way a part is compiled: numba's own, up to machine code."""

    def _compile_core(self) -> Any:
        state = self.state
        state.flags = state.flags.copy()
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        result = super()._compile_core()
        # numba knows a function by what Python would call, which it never does here
        name = result.fndesc.llvm_func_name
        entry = make_function(result.fndesc.lookup_module(), name, name, 0, result.environment, (result.library,))
        state.targetctx.insert_user_function(entry, result.fndesc, [result.library])
        return result._replace(entry_point=entry)


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of its own parts, linked and nothing else."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class Whole(CPUDispatcher):  # type: ignore[misc]
    """What Python calls, made of parts."""

    def compile(self, signature: Any) -> Any:
        known = set(self.overloads)
        with postponed_interrupt():
            entry = super().compile(signature)
        for arguments, result in self.overloads.items():
            if arguments not in known:
                # tell it where the environments of its parts are: their globals, and what they raise
                for environment in result._find_referenced_environments():
                    result.library.codegen.set_env(environment.env_name, environment)
        return entry
