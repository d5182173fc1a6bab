"""How slotwise compiles: cached kernels, records of state, and generic functions over them."""

from slotwise.compiled.cache import inlined, jit, uncached
from slotwise.compiled.generic import generic
from slotwise.compiled.interpreted import interpreted
from slotwise.compiled.record import compiled, is_compiled, is_ours, is_plain, is_record, plain, record

__all__ = [
    "compiled",
    "generic",
    "inlined",
    "interpreted",
    "is_compiled",
    "is_ours",
    "is_plain",
    "is_record",
    "jit",
    "plain",
    "record",
    "uncached",
]
