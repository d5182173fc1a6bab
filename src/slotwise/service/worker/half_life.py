"""How fast a placement's counts are to fade: as its owner says, or as foretells its clicks best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from slotwise.belief.memory import FADE, LEAD
from slotwise.service.store import Store
from slotwise.service.store.rows import HOUR, Period, PeriodRow
from slotwise.service.worker.definition import Definition, HalfLife
from slotwise.service.worker.fading import Faded, Fading, is_over, middle
from slotwise.service.worker.learning import learner_of, numbered
from slotwise.typing import FloatArray

#: half-lives that are tried, in hours; the first is to forget nothing
GRID: Final = (math.inf, 2160.0, 720.0, 168.0, 72.0, 24.0)
#: before anything was counted, an item's attractiveness is believed to be exponential
SHAPE: Final = 1.0


class _Seen(NamedTuple):
    """Clicks and exposure per item in a period."""

    period: Period
    clicks: FloatArray
    exposure: FloatArray


def read_periods(store: Store, name: str, definition: Definition) -> list[PeriodRow]:
    """The counts that fade; none where the placement is not to forget."""
    return [] if definition.memory is None else store.period_tally(name)


def faded_counts(definition: Definition, rows: Sequence[PeriodRow], hour: int) -> Faded | None:
    """Counts as they have faded in the hour that began then; None where the placement is not to forget."""
    if definition.memory is None:
        return None
    return Faded(rows, fading_of(definition, definition.memory, rows, hour))


def fading_of(
    definition: Definition, memory: HalfLife | Literal["auto"], rows: Sequence[PeriodRow], hour: int
) -> Fading:
    """How counts fade in the hour that began then."""
    if isinstance(memory, HalfLife):
        return Fading(memory.half_life_hours, hour)
    # only periods to which nothing is added any more: within an hour, and after a restart, the same is found
    return Fading(
        find_half_life(definition, [row for row in rows if is_over(row.period, definition.longest_window, hour)]), hour
    )


def find_half_life(definition: Definition, rows: Sequence[PeriodRow]) -> float | None:
    """The half-life in hours under which faded counts foresaw the next period's clicks best; None to forget nothing.

    Of all visitors together, and by the log-probability in `slotwise.belief.memory`, the position bias being what is
    estimated from all of the rows. A half-life is used where it leads forgetting nothing by enough.
    """
    periods = _by_period(definition, rows)
    if len(periods) < 2:
        return None
    clicks, exposure = sum(seen.clicks.sum() for seen in periods), sum(seen.exposure.sum() for seen in periods)
    if not (clicks > 0.0 and exposure > 0.0):
        return None
    rate = SHAPE * exposure / clicks
    half_lives = np.array(GRID)
    past = np.zeros((2, len(GRID), len(periods[0].clicks)))
    scores, before = np.zeros(len(GRID)), middle(periods[0].period)
    for seen in periods:
        now = middle(seen.period)
        past *= 0.5 ** ((now - before) / HOUR / half_lives)[:, None]
        before = now
        if seen.period.hours:
            scores = FADE * scores + _foreseen(SHAPE + past[0], rate + past[1], seen)
        past[0] += seen.clicks
        past[1] += seen.exposure
    best = 1 + int(scores[1:].argmax())
    return GRID[best] if scores[best] > scores[0] + LEAD else None


def _foreseen(shape: FloatArray, rate: FloatArray, seen: _Seen) -> FloatArray:
    """The log-probability of a period's clicks under each half-life, less what is the same under all of them."""
    # here, for it takes long to import, and few placements need it
    from scipy.special import gammaln

    shown = seen.exposure > 0.0
    shape, rate, clicks, exposure = shape[:, shown], rate[:, shown], seen.clicks[shown], seen.exposure[shown]
    found: FloatArray = (
        gammaln(shape + clicks) - gammaln(shape) + shape * np.log(rate) - (shape + clicks) * np.log(rate + exposure)
    ).sum(axis=1)
    return found


def _by_period(definition: Definition, rows: Sequence[PeriodRow]) -> list[_Seen]:
    """In order of time."""
    numbers = numbered(dict.fromkeys(row.item for row in rows))
    bias = _position_bias(definition, rows)
    found: dict[Period, _Seen] = {}
    for row in rows:
        if row.slot < len(bias):
            if row.period not in found:
                found[row.period] = _Seen(row.period, np.zeros(len(numbers)), np.zeros(len(numbers)))
            seen, number = found[row.period], numbers[row.item]
            seen.clicks[number] += row.clicks
            seen.exposure[number] += bias[row.slot] * row.passes
    return sorted(found.values(), key=lambda seen: (middle(seen.period), seen.period))


def _position_bias(definition: Definition, rows: Sequence[PeriodRow]) -> list[float]:
    if definition.position_bias is not None:
        return definition.position_bias
    # of the items that are listed, and at full weight
    learner = learner_of(definition, faded=Faded(rows, Fading(None, 0)))
    found: list[float] = learner.estimates().position_bias.tolist()
    return found
