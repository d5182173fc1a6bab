"""How slotwise compiles: cached kernels, records of state, and generic functions over them."""

from slotwise.compiled.cache import inlined, jit, uncached
from slotwise.compiled.generic import generic
from slotwise.compiled.interrupt import postponed_interrupt
from slotwise.compiled.record import is_compiled, is_ours, is_record, plain, record

__all__ = [
    "generic",
    "inlined",
    "is_compiled",
    "is_ours",
    "is_record",
    "jit",
    "plain",
    "postponed_interrupt",
    "record",
    "uncached",
]
