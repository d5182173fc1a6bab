"""Generic functions: one name, an implementation per record class, chosen when the caller is compiled.

    @generic()
    def choose(policy, rng): ...

    @choose.register(EpochUCB)
    def _(policy, rng): ...

Compiled code that calls `choose` is statically dispatched by the record's type. Called from Python, the same
implementation runs compiled, or uncompiled if the record is plain. For an object that is not a record, its own method
of that name is called. A generic function may have a default for records without an implementation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload

from slotwise.jit.interpreter_mode import PLAIN, interpreted, is_interpreting
from slotwise.jit.kernel_cache import PART, compile_only

Function = TypeVar("Function", bound=Callable[..., Any])


class Generic:
    """A function whose implementation is chosen by the record that is its first argument."""

    def __init__(
        self,
        declaration: Callable[..., Any],
        prepare: Callable[..., tuple[Any, ...]] | None,
        default: Callable[..., Any] | None,
    ) -> None:
        functools.update_wrapper(self, declaration)
        self._name = declaration.__name__
        self._prepare = prepare
        self._default = default
        self._from_python: dict[type, Callable[..., Any]] = {}
        self._by_numba_type: dict[type, Callable[..., Any]] = {}
        # always inlined: the loop is compiled per policy, and a call can cost as much as a whole decision
        overload(self, strict=False, jit_options={**PART, "forceinline": True})(self._resolve)

    def register(self, record_class: type) -> Callable[[Function], Function]:
        """Decorate the implementation for one record class; its arguments are named as in the declaration."""

        def add(implementation: Function) -> Function:
            self._from_python[record_class] = compile_only(implementation)
            if compiled := getattr(record_class, "Type", None):
                self._by_numba_type[compiled] = implementation
                self._from_python[record_class.Plain] = implementation  # type: ignore[attr-defined]
            return implementation

        return add

    def is_answered_by(self, value: object) -> bool:
        """Whether a record or an object has an implementation of its own."""
        return type(value) in self._from_python or hasattr(value, self._name)

    def __call__(self, *arguments: Any) -> Any:
        kind = type(arguments[0])
        if kind in PLAIN and not is_interpreting():
            # this call and all nested calls
            with interpreted():
                return self(*arguments)
        implementation = self._from_python.get(kind)
        if implementation is None:
            if self._default is not None and not hasattr(arguments[0], self._name):
                return self._default(*arguments)
            return getattr(arguments[0], self._name)(*arguments[1:])
        return implementation(*(self._prepare(*arguments) if self._prepare else arguments))

    def _resolve(self, *arguments: object) -> Callable[..., Any] | None:
        return self._by_numba_type.get(type(arguments[0]), self._default)


def generic(
    prepare: Callable[..., tuple[Any, ...]] | None = None, default: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Generic]:
    """Make a declaration generic; `prepare` checks and converts the arguments of calls from Python.

    `default` is the implementation for records that have none of their own.
    """
    return lambda declaration: Generic(declaration, prepare, default)
