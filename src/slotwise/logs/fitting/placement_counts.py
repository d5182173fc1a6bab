"""The counts of a placement or of one of its segments, merged from strata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.tally import WeightedTally
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.uncertainty.standard_errors import Counts
from slotwise.logs.counting.impressions import Impressions
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.counting.merge_strata import merge_impressions, merge_tallies, places_in
from slotwise.logs.counting.strata import LogStratum, Stratified, TimePeriods
from slotwise.logs.fitting.time_drift import weight_of

#: a placement, and the values of a segment
Place = tuple[str | None, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class PlacementCounts:
    """The strata of a placement or of one of its segments; a single part if the log has no strata."""

    #: as the log's tallies are named
    names: tuple[str | None, ...]
    strata: tuple[LogStratum, ...]
    parts: tuple[LogTally, ...]
    impressions_of_parts: tuple[Impressions, ...]

    @cached_property
    def tally(self) -> LogTally:
        """All that was counted."""
        first, placement = self.parts[0], self.strata[0].placement
        if not self.is_one:
            return merge_tallies(self.parts, placement)
        return first if first.placement == placement else replace(first, placement=placement)

    @cached_property
    def impressions(self) -> Impressions:
        """All that was kept."""
        if self.is_one:
            return self.impressions_of_parts[0]
        return merge_impressions(self.impressions_of_parts, self._places, self.tally)

    @cached_property
    def rankings(self) -> Rankings:
        """The lists that were kept, counted."""
        return self.impressions.rankings

    @property
    def is_one(self) -> bool:
        """Whether there is nothing to put together."""
        return len(self.parts) == 1

    @cached_property
    def _places(self) -> list[IntArray]:
        return [np.arange(self.tally.items)] if self.is_one else places_in(self.tally.item_ids, self.parts)

    @property
    def by_period(self) -> list[tuple[int, LogTally]]:
        """The tallies with their periods."""
        return [(stratum.period, part) for stratum, part in zip(self.strata, self.parts, strict=True)]

    def seen(self, periods: TimePeriods | None, half_life: float | None, *, by_lists: bool) -> Counts:
        """Return the counts to estimate from, decayed by their age."""
        if half_life is None:
            return self.rankings if by_lists else self.tally
        weights = [weight_of(stratum.period, periods, half_life) for stratum in self.strata]
        if by_lists:
            lists = [part.rankings for part in self.impressions_of_parts]
            return Rankings.weighted_sum(lists, self._places, weights, self.tally.items)
        return WeightedTally.weighted_sum(self.parts, self._places, weights, self.tally.items)

    def factors(self, alpha: FloatArray, bias: FloatArray) -> dict[str | None, tuple[FloatArray, FloatArray]]:
        """α and λ of every stratum, given those of the whole."""
        return {
            name: (alpha[place], bias[: part.slots])
            for name, place, part in zip(self.names, self._places, self.parts, strict=True)
        }


def gathered(
    counted: Mapping[str | None, LogTally], impressions: Mapping[str | None, Impressions], strata: Stratified | None
) -> dict[Place, PlacementCounts]:
    """By placement and segment, in the order of their names; without strata, the placements of the log."""
    strata_of: dict[Place, list[tuple[str | None, LogStratum]]] = {}
    for name in counted:
        stratum = LogStratum(name, (), 0) if strata is None else strata.stratum(name)
        strata_of.setdefault((stratum.placement, stratum.segment), []).append((name, stratum))
    counts = {}
    for place in sorted(strata_of, key=lambda place: (place[0] or "", place[1])):
        names, parts = zip(*strata_of[place], strict=True)
        counts[place] = PlacementCounts(
            names, parts, tuple(counted[name] for name in names), tuple(impressions[name] for name in names)
        )
    return counts


def by_placement(segments: Mapping[Place, PlacementCounts]) -> dict[str | None, PlacementCounts]:
    """The segments of each placement put together."""
    parts_of: dict[str | None, list[PlacementCounts]] = {}
    for (placement, _), segment in segments.items():
        parts_of.setdefault(placement, []).append(segment)
    return {
        placement: PlacementCounts(
            tuple(name for segment in every for name in segment.names),
            tuple(stratum for segment in every for stratum in segment.strata),
            tuple(part for segment in every for part in segment.parts),
            tuple(impressions for segment in every for impressions in segment.impressions_of_parts),
        )
        for placement, every in parts_of.items()
    }
