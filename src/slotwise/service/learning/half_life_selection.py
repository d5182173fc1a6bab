"""The half-life of a placement's counts: the one that its owner gives, or the one that predicts its clicks best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from slotwise.posterior.forgetting import CountsByPeriod, best_half_life
from slotwise.service.learning.decay import Decay, DecayedCounts, may_grow_since
from slotwise.service.learning.learner_factory import learner_of
from slotwise.service.learning.period_counts import PeriodCounts, sums
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import PeriodRow
from slotwise.service.storage.decision_types import HOUR

#: half-lives that are tried, in hours
GRID: Final = (2160.0, 720.0, 168.0, 72.0, 24.0)


def read_periods(store: Store, name: str, definition: PlacementDefinition) -> PeriodCounts | None:
    """The counts by period; None if the placement's counts do not decay."""
    return None if definition.half_life is None else PeriodCounts.of_columns(store.period_columns(name))


def read_recent(store: Store, name: str, definition: PlacementDefinition, hour: int) -> list[PeriodRow]:
    """The rows of periods that may grow in the hour that began at `hour`, and a few others."""
    if definition.half_life is None:
        return []
    return store.period_tally(name, since=may_grow_since(definition.longest_window, hour))


def decayed_counts(definition: PlacementDefinition, counts: PeriodCounts | None, hour: int) -> DecayedCounts | None:
    """Counts with their decay in the hour that began at `hour`; None if they do not decay."""
    if definition.half_life is None or counts is None:
        return None
    return DecayedCounts(counts, decay_of(definition, definition.half_life, counts, hour))


def decay_of(
    definition: PlacementDefinition, half_life: float | Literal["auto"], counts: PeriodCounts, hour: int
) -> Decay:
    """The decay of counts in the hour that began at `hour`."""
    if half_life != "auto":
        return Decay(half_life, hour)
    # only periods that no longer grow: the result is the same within an hour and after a restart
    over = counts.start + counts.hours * HOUR + definition.longest_window <= hour
    return Decay(find_half_life(definition, counts.of_rows(over)), hour)


def find_half_life(definition: PlacementDefinition, counts: PeriodCounts) -> float | None:
    """Return the half-life in hours that `best_half_life` selects for all segments together; None for no decay.

    The position bias is estimated from all of the rows.
    """
    bias = np.array(_position_bias(definition, counts))
    counts = counts.of_rows(counts.slot < len(bias))
    # periods by number, in order of time
    order = np.lexsort((counts.hours, counts.start, counts.middle))
    start, hours = counts.start[order], counts.hours[order]
    is_another = np.diff(start, prepend=start[:1] - 1).astype(bool) | np.diff(hours, prepend=hours[:1]).astype(bool)
    firsts = np.flatnonzero(is_another)
    # items of each period by number, in the same order
    names = max(1, len(counts.item.names))
    pairs, pair = np.unique((np.cumsum(is_another) - 1) * names + counts.item.places[order], return_inverse=True)
    exposure = (bias[counts.slot] * counts.passes)[order]
    columns = CountsByPeriod(
        times=counts.middle[order][firsts] / HOUR,
        is_scored=hours[firsts] > 0,
        period=pairs // names,
        item=pairs % names,
        clicks=sums(pair, counts.clicks[order], len(pairs)),
        exposure=sums(pair, exposure, len(pairs)),
    )
    return best_half_life(columns, GRID)


def _position_bias(definition: PlacementDefinition, counts: PeriodCounts) -> Sequence[float]:
    if definition.position_bias is not None:
        return definition.position_bias
    # of the current items, at full weight
    learner = learner_of(definition, decayed=DecayedCounts(counts, Decay(None, 0)))
    position_bias: list[float] = learner.estimates().position_bias.tolist()
    return position_bias
