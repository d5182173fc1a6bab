"""How fast a placement's counts are to fade: as its owner says, or as foretells its clicks best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from slotwise.belief.half_life import SHAPE, foretold, leading
from slotwise.belief.memory import FADE
from slotwise.service.store import Store
from slotwise.service.store.rows import HOUR, PeriodRow
from slotwise.service.worker.definition import Definition, HalfLife
from slotwise.service.worker.fading import Faded, Fading, may_grow_since
from slotwise.service.worker.learning import learner_of
from slotwise.service.worker.period_counts import PeriodCounts, sums
from slotwise.typing import BoolArray, FloatArray, IntArray

#: half-lives that are tried, in hours; the first is to forget nothing
GRID: Final = (math.inf, 2160.0, 720.0, 168.0, 72.0, 24.0)


class _Seen(NamedTuple):
    """What was counted of each item in each period in which it was shown, the earliest period first."""

    #: per item and period
    item: IntArray
    clicks: FloatArray
    exposure: FloatArray
    #: per period: where it begins and ends among these, when it was, and whether that is known
    begins: IntArray
    ends: IntArray
    middle: FloatArray
    is_timed: BoolArray


def read_periods(store: Store, name: str, definition: Definition) -> PeriodCounts | None:
    """The counts that fade; None where the placement is not to forget."""
    return None if definition.memory is None else PeriodCounts.of_columns(store.period_columns(name))


def read_recent(store: Store, name: str, definition: Definition, hour: int) -> list[PeriodRow]:
    """Those of periods to which something may be added in the hour that began then, and a few others."""
    if definition.memory is None:
        return []
    return store.period_tally(name, since=may_grow_since(definition.longest_window, hour))


def faded_counts(definition: Definition, counts: PeriodCounts | None, hour: int) -> Faded | None:
    """Counts as they have faded in the hour that began then; None where the placement is not to forget."""
    if definition.memory is None or counts is None:
        return None
    return Faded(counts, fading_of(definition, definition.memory, counts, hour))


def fading_of(definition: Definition, memory: HalfLife | Literal["auto"], counts: PeriodCounts, hour: int) -> Fading:
    """How counts fade in the hour that began then."""
    if isinstance(memory, HalfLife):
        return Fading(memory.half_life_hours, hour)
    # only periods to which nothing is added any more: within an hour, and after a restart, the same is found
    over = counts.start + counts.hours * HOUR + definition.longest_window <= hour
    return Fading(find_half_life(definition, counts.of_rows(over)), hour)


def find_half_life(definition: Definition, counts: PeriodCounts) -> float | None:
    """The half-life in hours under which faded counts foresaw the next period's clicks best; None to forget nothing.

    Of all visitors together, and as in `slotwise.belief.half_life`, the position bias being what is
    estimated from all of the rows. A half-life is used where it leads forgetting nothing by enough.
    """
    seen = _by_period(definition, counts)
    clicks, exposure = seen.clicks.sum(), seen.exposure.sum()
    if len(seen.middle) < 2 or not (clicks > 0.0 and exposure > 0.0):
        return None
    scores = np.zeros(len(GRID))
    for foreseen in _foreseen(seen, rate=SHAPE * exposure / clicks)[seen.is_timed]:
        scores = FADE * scores + foreseen
    return leading(scores, np.array(GRID))


def _foreseen(seen: _Seen, rate: float) -> FloatArray:
    """The log-probability of each period's clicks under each half-life, less what is the same under all of them."""
    of_items = foretold(_known_before(seen), rate, seen.clicks, seen.exposure)
    found: FloatArray = np.add.reduceat(of_items, seen.begins, axis=1).T
    return found


def _known_before(seen: _Seen) -> FloatArray:
    """What was left of an item's clicks and exposure when each of its periods began, by half-life."""
    half_lives = np.array(GRID)[:, None]
    items = seen.item.max() + 1
    # as it was when the item was last shown, and when that was
    left, then = np.zeros((2, len(GRID), items)), np.full(items, seen.middle[0])
    found = np.empty((2, len(GRID), len(seen.item)))
    for begin, end, now in zip(seen.begins.tolist(), seen.ends.tolist(), seen.middle.tolist(), strict=True):
        shown = seen.item[begin:end]
        known = left[:, :, shown] * 0.5 ** ((now - then[shown]) / HOUR / half_lives)
        found[:, :, begin:end] = known
        left[:, :, shown] = known + np.stack([seen.clicks[begin:end], seen.exposure[begin:end]])[:, None]
        then[shown] = now
    return found


def _by_period(definition: Definition, counts: PeriodCounts) -> _Seen:
    bias = np.array(_position_bias(definition, counts))
    counts = counts.of_rows(counts.slot < len(bias))
    # periods by number, in order of time
    order = np.lexsort((counts.hours, counts.start, counts.middle))
    start, hours = counts.start[order], counts.hours[order]
    is_another = np.diff(start, prepend=start[:1] - 1).astype(bool) | np.diff(hours, prepend=hours[:1]).astype(bool)
    period = np.cumsum(is_another) - 1
    # items of each period by number, in the same order
    names = len(counts.item.names)
    pairs, pair = np.unique(period * names + counts.item.places[order], return_inverse=True)
    begins = np.flatnonzero(np.diff(pairs // max(1, names), prepend=-1))
    firsts = np.flatnonzero(is_another)
    return _Seen(
        pairs % max(1, names),
        sums(pair, counts.clicks[order], len(pairs)),
        sums(pair, (bias[counts.slot] * counts.passes)[order], len(pairs)),
        begins,
        np.append(begins[1:], len(pairs)),
        counts.middle[order][firsts],
        hours[firsts] > 0,
    )


def _position_bias(definition: Definition, counts: PeriodCounts) -> Sequence[float]:
    if definition.position_bias is not None:
        return definition.position_bias
    # of the items that are listed, and at full weight
    learner = learner_of(definition, faded=Faded(counts, Fading(None, 0)))
    found: list[float] = learner.estimates().position_bias.tolist()
    return found
