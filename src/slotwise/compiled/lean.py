"""Lean loops: nothing is spent on counting references where that can change nothing.

Whenever compiled code reads an array or a record out of a record, numba counts a reference to it, and takes it off the
count when it is done. In a loop that asks a policy for one list after another that is up to a third of the time. A loop
that makes no array, puts none into a field and returns none leaves every count as it was, and whoever calls it holds
all that it reads meanwhile: its counts can be left out. Whether a loop is like that is found out from what was
compiled, all of its parts included; one that is not keeps its counts.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from slotwise.compiled.parts import replaces_references

FUNCTION = re.compile(r"^(?=define )", re.MULTILINE)
#: what Python calls, which holds the arguments while the loop runs, and what references are counted by
COUNTING = re.compile(r"define [^@]*@\"?(_ZN7cpython|cfunc\.|NRT_)")
COUNT = re.compile(r"^ *(?:tail )?call void @NRT_(?:inc|dec)ref\(.*\n", re.MULTILINE)
#: what numba's runtime is asked for besides: to read an array or a record, which is all that a lean loop does
READ = "NRT_MemInfo_data_fast"
ASKED = re.compile(r"call [^@\n]*@(NRT_\w+)\(")


class Lean(Compiler):  # type: ignore[misc]
    """The way a lean loop is compiled: numba's own, with the counts left out of its code."""

    def _compile_core(self) -> Any:
        state = self.state
        library = state.library = LeanLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        library.state = state
        result = super()._compile_core()
        library.state = None
        return result


class LeanLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a loop, with that of all its parts."""

    #: of its compiler, while that is at work
    state: Any = None
    #: whether the counts were left out
    is_lean = False
    _final_module: Any

    def _optimize_final_module(self) -> None:
        lean = without_counts(str(self._final_module)) if self._gives_references_back() else None
        if lean is not None:
            name, self._final_module = self._final_module.name, binding.parse_assembly(lean)
            self._final_module.name = name
            self.is_lean = True
        super()._optimize_final_module()

    def _gives_references_back(self) -> bool:
        """Whether what is read is neither returned nor put into a field, here or in a part."""
        returned = self.state.targetctx.data_model_manager[self.state.return_type]
        return not (
            returned.contains_nrt_meminfo()
            or replaces_references(self.state)
            or any(getattr(part, "replaces_references", False) for part in _parts_of(self))
        )


def without_counts(code: str) -> str | None:
    """LLVM's code without what counts references, but for those of the arguments; None if it makes any array."""
    functions = FUNCTION.split(code)
    for number, function in enumerate(functions):
        if function.startswith("define ") and not COUNTING.match(function):
            functions[number] = COUNT.sub("", function)
            if set(ASKED.findall(functions[number])) - {READ}:
                return None
    return "".join(functions)


def _parts_of(library: Any) -> set[Any]:
    """The parts of a loop, with their own parts."""
    found: set[Any] = set()
    new = [library]
    while new:
        parts = [one for one in new.pop()._linking_libraries if one not in found]
        found.update(parts)
        new += parts
    return found
