"""Records: a policy's or a model's whole state as named fields that compiled code reads and writes.

    @record
    class Coin:
        heads: int
        weights: FloatArray

    coin = Coin(heads=0, weights=np.ones(2))

Inside compiled code a record is a numba `structref`: passed by reference, its scalars mutable. From Python its fields
can be read. `plain(record)` is its twin for code that is not compiled, and `compiled` the way back; inside
`interpreted` every record is built plain. With `NUMBA_DISABLE_JIT=1` there is nothing else, and the same code runs in
the debugger.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, dataclass_transform

from numba.core import config
from numba.core.types import Boolean, Float, Integer, StructRef
from numba.experimental import structref

from slotwise.jit.interpreter_mode import PLAIN, is_interpreting
from slotwise.jit.kernel_cache import compile_only

Record = TypeVar("Record")


@dataclass_transform(kw_only_default=True)
def record(declaration: type[Record]) -> type[Record]:
    """Turn a class of annotated fields into a record, built by field name.

    A classmethod `prepare(**fields)`, if there is one, checks and converts what the constructor is given.
    """
    fields = tuple(inspect.get_annotations(declaration))
    return _plain(declaration, fields) if config.DISABLE_JIT else _compiled(declaration, fields)


def plain(value: Record) -> Record:
    """Return a record as an ordinary mutable object that shares its arrays; anything else unchanged."""
    twin = getattr(type(value), "Plain", None)
    if twin is None:
        return value
    return twin(**{name: plain(field) for name, field in value.as_dict().items()})  # type: ignore[attr-defined,no-any-return]


def compiled(value: Record, like: object) -> Record:
    """Return a plain record and its contents as a compiled record of the type of `like`; arrays are shared."""
    if not isinstance(like, structref.StructRefProxy):
        return value
    return _as_type(value, like._numba_type_)  # type: ignore[no-any-return]


def _as_type(value: Any, kind: Any) -> Any:
    if isinstance(kind, StructRef):
        fields = (_as_type(getattr(value, name), field) for name, field in kind.field_dict.items())
        return kind.make(*fields)
    # as compiled code would have kept it
    for scalar, convert in ((Boolean, bool), (Integer, int), (Float, float)):
        if isinstance(kind, scalar):
            return convert(value)
    return value


def is_record(value: object) -> bool:
    """Whether `value` is a record, compiled or plain."""
    return hasattr(type(value), "is_record")


def is_compiled(value: object) -> bool:
    """Whether `value` is a record that compiled code takes."""
    return isinstance(value, structref.StructRefProxy)


def is_plain(value: object) -> bool:
    """Whether `value` is the plain twin of a record that could be compiled."""
    return type(value) in PLAIN


def is_ours(value: object) -> bool:
    """Whether a record, and every record in it, is defined in this package."""
    if not isinstance(value, structref.StructRefProxy):
        return True
    return type(value).__module__.partition(".")[0] == __name__.partition(".")[0] and all(
        is_ours(getattr(value, name))
        for name, kind in value._numba_type_.field_dict.items()
        if isinstance(kind, StructRef)
    )


def _plain(declaration: type[Record], fields: tuple[str, ...], name: str | None = None) -> type[Record]:
    def construct(self: object, **values: object) -> None:
        for name, value in _in_order(declaration, fields, values).items():
            setattr(self, name, value)

    namespace = {"__slots__": fields, "__init__": construct, **_conveniences(fields)}
    # pickled under this name
    namespace["__qualname__"] = name or declaration.__qualname__
    twin: type[Record] = _rebuilt(type, declaration, (), namespace)
    return twin


class _RecordClass(type):
    """The metaclass of compiled records: their plain twins count as instances too."""

    Plain: type

    def __instancecheck__(cls, value: object) -> bool:
        return super().__instancecheck__(value) or type(value) is cls.Plain


class _Field:
    """Reads a field from Python; its reader is compiled when it is first needed.

    One kernel reads all fields (`as_dict`): it compiles faster than a kernel for each.
    """

    def __init__(self, declaration: type, name: str) -> None:
        self._declaration, self._name = declaration, name
        self._read: Callable[[Any], Any] | None = None

    def __get__(self, value: Any, owner: type) -> Any:
        if value is None:
            return self
        if self._read is None:
            self._read = _generated(self._declaration, f"get_{self._name}", "record", f"record.{self._name}", {})
        return self._read(value)


def _compiled(declaration: type[Record], fields: tuple[str, ...]) -> type[Record]:
    type_class = type(
        f"{declaration.__name__}Type",
        (StructRef,),
        # numba pickles the types of cached kernels: they must be found again under this name
        {"__module__": declaration.__module__, "__qualname__": f"{declaration.__qualname__}.Type"},
    )
    structref.register(type_class)
    twin = _plain(declaration, fields, f"{declaration.__qualname__}.Plain")
    PLAIN.add(twin)

    def construct(_class: type, **values: object) -> object:
        return twin(**values) if is_interpreting() else make(*_in_order(declaration, fields, values).values())

    def make(*values: object) -> object:
        return maker()(*values)

    @cache
    def maker() -> Callable[..., Any]:
        arguments = ", ".join(fields)
        return _generated(declaration, "make", arguments, f"Record({arguments})", {"Record": built})

    @cache
    def reader() -> Callable[[Any], tuple[Any, ...]]:
        values = "".join(f"record.{field}, " for field in fields)
        return _generated(declaration, "read", "record", f"({values})", {})

    def as_dict(self: object) -> dict[str, Any]:
        return dict(zip(fields, reader()(self), strict=True))

    namespace = {"__slots__": (), "__new__": construct, "Type": type_class, "Plain": twin, **_conveniences(fields)}
    namespace["as_dict"] = as_dict
    namespace.update((field, _Field(declaration, field)) for field in fields)
    built: type[Record] = _rebuilt(_RecordClass, declaration, (structref.StructRefProxy,), namespace)
    structref.define_proxy(built, type_class, list(fields))
    type_class.make = staticmethod(make)  # type: ignore[attr-defined]
    return built


def _in_order(declaration: Any, fields: tuple[str, ...], values: dict[str, object]) -> dict[str, object]:
    if hasattr(declaration, "prepare"):
        values = declaration.prepare(**values)
    if set(values) != set(fields):
        raise TypeError(f"{declaration.__name__} has the fields {', '.join(fields)}, got {', '.join(values)}")
    return {name: values[name] for name in fields}


def _conveniences(fields: tuple[str, ...]) -> dict[str, Any]:
    def as_dict(self: object) -> dict[str, Any]:
        return {name: getattr(self, name) for name in fields}

    def represent(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"

    def reduce(self: Any) -> Any:
        return _restore, (type(self), self.as_dict())

    return {"__repr__": represent, "__reduce__": reduce, "as_dict": as_dict, "is_record": True}


def _restore(record_class: type[Record], values: dict[str, Any]) -> Record:
    return record_class(**values)


def _rebuilt(kind: type[type], declaration: type, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
    """Return a copy of the declared class on other bases, because slots cannot be added later."""
    namespace_kept = {k: v for k, v in vars(declaration).items() if k not in ("__dict__", "__weakref__", *namespace)}
    return kind(declaration.__name__, bases, {**namespace_kept, **namespace})


def _generated(declaration: type, name: str, arguments: str, result: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """Return a compiled one-line function with a unique name in the record's file, as numba's cache requires."""
    unique = f"{declaration.__name__}_{name}"
    source = f"def {unique}({arguments}):\n    return {result}\n"
    # a record typed into an interpreter has no file, and is not cached
    file = getattr(sys.modules.get(declaration.__module__), "__file__", None) or "<record>"
    exec(compile(source, file, "exec"), scope)
    scope[unique].__module__ = declaration.__module__
    generated: Callable[..., Any] = compile_only(scope[unique])
    return generated
