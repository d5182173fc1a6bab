"""The compiler's pipeline: functions that compiled code calls are compiled only as parts of their callers.

numba by itself turns every function into machine code, optimised with all its callees linked in, and then does so again
for its caller, and for its caller's caller: a function six calls deep is optimised six times. Here a part stays LLVM
code. Only functions that Python calls are optimised and turned into machine code, once, with all of their parts.
"""

from __future__ import annotations

from typing import Any

from numba._dynfunc import make_function  # type: ignore[import-not-found]
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from slotwise.jit.sigint import postponed_interrupt


class Part(Compiler):  # type: ignore[misc]
    """Compiles a part: numba's own pipeline, without machine code."""

    def _compile_core(self) -> Any:
        state = self.state
        state.flags = state.flags.copy()
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        result = super()._compile_core()
        state.library.replaces_references = replaces_references(state)
        # numba requires an entry point, although Python never calls this one
        name = result.fndesc.llvm_func_name
        entry = make_function(result.fndesc.lookup_module(), name, name, 0, result.environment, (result.library,))
        state.targetctx.insert_user_function(entry, result.fndesc, [result.library])
        return result._replace(entry_point=entry)


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part, with its own parts linked in and not optimised."""

    #: whether the part itself, without its own parts, stores an array or record in a field
    replaces_references = False

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def replaces_references(state: Any) -> bool:
    """Whether the function just compiled stores an array or record in a field of a record."""
    models = state.targetctx.data_model_manager
    return any(
        models[state.typemap[statement.value.name]].contains_nrt_meminfo()
        for block in state.func_ir.blocks.values()
        for statement in block.find_insts(ir.SetAttr)
    )


class Whole(CPUDispatcher):  # type: ignore[misc]
    """A function that Python calls, compiled with its parts."""

    def compile(self, signature: Any) -> Any:
        before = set(self.overloads)
        with postponed_interrupt():
            entry = super().compile(signature)
        for arguments, result in self.overloads.items():
            if arguments not in before:
                # the environments of its parts hold their globals and the exceptions that they raise
                for environment in result._find_referenced_environments():
                    result.library.codegen.set_env(environment.env_name, environment)
        return entry
