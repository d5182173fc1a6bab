"""Put the changed source of a module in the place of the original, without importing anything again."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any


@contextmanager
def swapped(module: ModuleType, source: str) -> Iterator[None]:
    """Within the block, functions of the module run the code of `source`, and its constants have their values."""
    changed = ModuleType(module.__name__)
    # as much of the original as decorators and annotations look for
    changed.__dict__.update({"__file__": module.__file__, "__package__": module.__package__})
    original = sys.modules[module.__name__]
    sys.modules[module.__name__] = changed
    try:
        exec(compile(source, str(module.__file__), "exec"), changed.__dict__)
    finally:
        sys.modules[module.__name__] = original
    before = [*_swap_functions(module, changed)]
    constants = [*_swap_constants(module, changed)]
    try:
        yield
    finally:
        for function, code, defaults, keyword_defaults in before:
            function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, keyword_defaults
        for holder, name, value in constants:
            setattr(holder, name, value)


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """All functions that the module defines, by qualified name, without their decorators."""
    found: dict[str, FunctionType] = {}

    def add(value: Any) -> None:
        value = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "__func__", value))
        value = getattr(value, "func", value)
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            found[value.__qualname__] = value

    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            for member in vars(value).values():
                add(member)
        elif callable(value) and not isinstance(value, type):
            add(value)
    return found


def _swap_functions(module: ModuleType, changed: ModuleType) -> Iterator[tuple[FunctionType, CodeType, Any, Any]]:
    others = _functions(changed)
    for name, function in _functions(module).items():
        other = others.get(name)
        if other is not None and len(other.__code__.co_freevars) == len(function.__code__.co_freevars):
            yield function, function.__code__, function.__defaults__, function.__kwdefaults__
            function.__code__ = other.__code__
            function.__defaults__, function.__kwdefaults__ = other.__defaults__, other.__kwdefaults__


def _swap_constants(module: ModuleType, changed: ModuleType) -> Iterator[tuple[Any, str, Any]]:
    """Also where other modules have imported them, and in classes."""
    package = [other for name, other in [*sys.modules.items()] if name.startswith("slotwise.service")]
    for name, value in [*vars(module).items()]:
        other = vars(changed).get(name)
        if isinstance(value, str | int | float | tuple | dict) and not name.startswith("__") and other != value:
            for holder in package:
                if vars(holder).get(name) is value:
                    yield holder, name, value
                    setattr(holder, name, other)
        if isinstance(value, type) and isinstance(other, type) and value.__module__ == module.__name__:
            for member, content in [*vars(value).items()]:
                differs = isinstance(content, str | int | float) and vars(other).get(member, content) != content
                if differs and not member.startswith("__"):
                    yield value, member, content
                    setattr(value, member, vars(other)[member])
