"""How slotwise compiles: cached kernels, records of state, and generic functions over them."""

from slotwise.jit.dispatch import generic
from slotwise.jit.interpreter_mode import interpreted
from slotwise.jit.kernel_cache import inlined, jit, loop, uncached
from slotwise.jit.records import compiled, is_compiled, is_ours, is_plain, is_record, plain, record

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
    "loop",
    "plain",
    "record",
    "uncached",
]
