"""The default fit: placements pooled, then their segments, and both as they are at the end of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import polygamma

from slotwise.estimators.pooled import POOLED
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.counting.strata import Stratified
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.placement_counts import Place, PlacementCounts
from slotwise.logs.fitting.placement_pooling import Bias, BiasChoice, pool_placements
from slotwise.logs.fitting.time_drift import find_changes
from slotwise.logs.reading.feature_file import Row

#: a segment's value that is missing
NO_VALUE = "(none)"


@dataclass(frozen=True)
class Pooling:
    """Options of `slotwise.logs.fit_placements` on pooling, and whether the log has all lists."""

    bias: Bias
    position_bias: Sequence[float] | None
    features: Mapping[str, Row] | None
    by_lists: bool

    def pool(
        self,
        pages: Sequence[PlacementCounts],
        strata: Stratified | None,
        half_life: float | None = None,
        within: Sequence[int] | None = None,
        chosen: BiasChoice | None = None,
    ) -> tuple[list[dict[str, Any]], BiasChoice, float]:
        """Return the fields of each fit, the choice of the bias, and κ."""
        periods = None if strata is None else strata.periods
        pooled, choice = pool_placements(
            [page.seen(periods, half_life, by_lists=self.by_lists) for page in pages],
            [page.rankings for page in pages],
            [page.tally.item_ids for page in pages],
            bias=self.bias,
            position_bias=None if self.position_bias is None else np.asarray(self.position_bias, np.float64),
            features=self.features,
            within=within,
            chosen=chosen,
        )
        sentence = choice.in_words(len(pages), "placement" if within is None else "segment")
        pieces = [
            {"estimate": estimate, "parts": parts, "unseen": unseen, "shared_slots": sentence}
            for estimate, parts, unseen in zip(pooled.estimates, pooled.parts, pooled.unseen, strict=True)
        ]
        return pieces, choice, pooled.prior.shape


def fit_pooled(
    pages: Mapping[str | None, PlacementCounts],
    segments: Mapping[Place, PlacementCounts],
    strata: Stratified | None,
    how: Pooling,
) -> list[Fit]:
    """Return a fit of every placement, with its segments and its drift if the log has strata."""
    every = list(pages.values())
    pieces, choice, _ = how.pool(every, strata)
    half_life = None
    if strata is not None and strata.periods is not None:
        bias = [each_page["estimate"].position_bias for each_page in pieces]
        ids = [each_page.tally.item_ids for each_page in every]
        changes = find_changes([each_page.by_period for each_page in every], ids, bias, strata.periods)
        half_life = changes[0].half_life
        if half_life is not None:
            pieces, *_ = how.pool(every, strata, half_life, chosen=choice)
        pieces = [each_page | {"changes": change} for each_page, change in zip(pieces, changes, strict=True)]
    if strata is not None and strata.segmented:
        parts, spread = _segments(segments, strata, how, half_life)
        pieces = [
            each_page | {"segments": parts[name], "segment_spread": spread}
            for name, each_page in zip(pages, pieces, strict=True)
        ]
    sampled = not how.by_lists
    return [
        assembled(each_page, sampled, estimator=POOLED, **each) for each_page, each in zip(every, pieces, strict=True)
    ]


def _segments(
    segments: Mapping[Place, PlacementCounts], strata: Stratified, how: Pooling, half_life: float | None
) -> tuple[dict[str | None, dict[str, Fit]], float]:
    """By placement and name, a fit of each segment; and how much an item differs between those of a placement.

    They are pooled as placements are: an item of a segment is drawn towards what it is in the others, as far as they
    are alike.
    """
    placements = list(dict.fromkeys(placement for placement, _ in segments))
    within = [placements.index(placement) for placement, _ in segments]
    parts, _, shape = how.pool(list(segments.values()), strata, half_life, within)
    fits: dict[str | None, dict[str, Fit]] = {placement: {} for placement in placements}
    for ((placement, segment), counts), each in zip(segments.items(), parts, strict=True):
        fits[placement][name_of(segment)] = assembled(
            counts, not how.by_lists, estimator=POOLED, segment=segment, **each
        )
    return fits, float(np.sqrt(polygamma(1, shape)))


def name_of(segment: Sequence[str]) -> str:
    """A segment in words.

    >>> name_of(["phone", "de"]), name_of([""])
    ('phone, de', '(none)')
    """
    return ", ".join(value or NO_VALUE for value in segment)


def assembled(counts: PlacementCounts, sampled: bool, **parts: Any) -> Fit:
    """Return a fit from its counts and the results of the estimator."""
    return Fit(
        tally=counts.tally,
        rankings=counts.rankings,
        sample=counts.impressions,
        sampled=sampled,
        by_period=counts.by_period,
        logged=LoggedPropensities.of(counts.impressions),
        **parts,
    )
