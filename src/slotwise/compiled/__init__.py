"""How slotwise compiles: cached kernels, records of state, and generic functions over them."""

from slotwise.compiled.cache import inlined, jit, postponed_interrupt, uncached
from slotwise.compiled.generic import generic
from slotwise.compiled.record import is_ours, is_record, plain, record

__all__ = ["generic", "inlined", "is_ours", "is_record", "jit", "plain", "postponed_interrupt", "record", "uncached"]
