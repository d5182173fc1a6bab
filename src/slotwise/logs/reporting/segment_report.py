"""How the segments of a placement differ: in a sentence or two, and segment by segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import percent, with_interval

#: items named; places of a segment's list that are; how much an item must differ to be worth saying
NAMED, LISTED, WORTH_SAYING = 3, 3, 1.25
#: standard errors of a clear difference: with many items and segments, few may be named by chance
SURE = 3.5
#: minimum variance for the normal approximation
MIN_VARIANCE = 10.0


class SegmentPreference(NamedTuple):
    """An item that is more or less attractive to a segment than to all, relative to the segment's click rate."""

    item: str
    segment: str
    times: float


def segment_preferences(fit: Fit) -> list[SegmentPreference]:
    """Items that are worth more or less to a segment than to all, by more than is chance; most of all first.

    Segments may click more or less on everything: this factor is removed first.
    Whether an item differs is asked of its clicks, given what slots are worth: that is not certain, but alike for all.
    """
    place = {id: number for number, id in enumerate(fit.item_ids)}
    clicks, exposure = fit.tally.clicks.sum(axis=0), fit.estimate.position_bias @ fit.tally.passes
    preferences = []
    for name, segment in fit.segments.items():
        mine = [place[id] for id in segment.item_ids]
        times = segment.estimate.attractiveness / fit.estimate.attractiveness[mine]
        habit = math.exp(float(np.median(np.log(times))))
        with np.errstate(divide="ignore", invalid="ignore"):
            usual = habit * clicks[mine] / exposure[mine] * (segment.estimate.position_bias @ segment.tally.passes)
        off = _off(segment.tally.clicks.sum(axis=0), segment.tally.passes.sum(axis=0), usual)
        relative = times / habit
        clear = (np.abs(off) > SURE) & (np.abs(np.log(relative)) > math.log(WORTH_SAYING)) & (off * (relative - 1) > 0)
        preferences += [
            SegmentPreference(segment.item_ids[item], name, float(relative[item])) for item in np.flatnonzero(clear)
        ]
    return sorted(preferences, key=lambda segment: -abs(math.log(segment.times)))


def _off(clicks: IntArray, passes: IntArray, usual: FloatArray) -> FloatArray:
    """By how many standard errors the clicks on items are off the usual ones; 0 where too little was seen.

    Of n clicks and m passes together, each is a click with a chance of γ/(1 + γ): n - γm has the variance γ(n + m).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = usual / passes * (clicks + passes)
        deviation = (clicks - usual) / np.sqrt(variance)
    return np.where(np.isfinite(deviation) & (variance >= MIN_VARIANCE), deviation, 0.0)


def segments_in_words(fit: Fit) -> list[str]:
    """Whether segments differ; nothing if there are none."""
    if not fit.segments or fit.segment_spread is None:
        return []
    if len(fit.segments) < 2:
        return [f"Do segments differ? There is only one: {next(iter(fit.segments))}."]
    typical = (
        f"the attractiveness of an item differs between them by typically {percent(math.expm1(fit.segment_spread))}"
    )
    preferences = segment_preferences(fit)
    if not preferences:
        return [
            "Do segments differ? Not detectably: no item is clearly more attractive to one of them than to "
            f"all, after the overall click rate of a segment. By the estimates, {typical}."
        ]
    examples = [
        f"{each.item} is {each.times:.2g} times as attractive to {each.segment} as to all"
        for each in preferences[:NAMED]
    ]
    others_named = f"; and {len(preferences) - NAMED} more" if len(preferences) > NAMED else ""
    compared = [] if fit.withheld else [each for each in fit.segments.values() if not each.withheld]
    others = sum(each.best().items != fit.best().items for each in compared)
    lists = (
        f" Of the {len(compared)} segments, {others} would be shown another list than all visitors together."
        if compared
        else ""
    )
    return [
        f"Do segments differ? Yes: {typical}. After the overall click rate of a segment, {'; '.join(examples)}"
        f"{others_named}.{lists}"
    ]


def strata_of_all(fits: Sequence[Fit]) -> list[str]:
    """Return sentences on segments and drift for several placements; empty if neither was given."""
    words, first = [], fits[0]
    if first.segment_spread is not None:
        differ, share = sum(bool(segment_preferences(fit)) for fit in fits), percent(math.expm1(first.segment_spread))
        words.append(
            f"Do segments differ? In {differ:,} of {len(fits):,} placements some item is clearly more or less "
            f"attractive to one than to all; an item differs between segments by typically {share}."
        )
    if first.changes is not None:
        moved = [item for fit in fits if fit.changes is not None for item in fit.changes.moved]
        places = sum(fit.changes is not None and bool(fit.changes.moved) for fit in fits)
        half_life = first.changes.half_life
        fading = (
            "old clicks predict later ones as well as recent ones do, so all have the same weight"
            if half_life is None
            else f"a half-life of {first.changes.periods.length_in_words(half_life)} predicts clicks best; the "
            "estimates are for the end of the log"
        )
        words.append(
            f"Did tastes change? {len(moved):,} items in {places:,} placements clearly did. All in all, {fading}."
        )
    return words


def segment_rows(fit: Fit) -> list[tuple[str, str, str, str, list[str]]]:
    """Return segment, impressions, click rate, and its best list with expected click rate; the largest first."""
    rows = []
    for name, segment in sorted(fit.segments.items(), key=lambda pair: -pair[1].impressions):
        counts = name, f"{segment.impressions:,}", percent(segment.click_rate)
        if fit.withheld or segment.withheld:
            rows.append((*counts, "", ["none"]))
            continue
        best = segment.best()
        begins = [f"{slot}. {item}" for slot, item in enumerate(best.items[:LISTED], start=1) if item is not None]
        rows.append((*counts, with_interval(best.rate), begins))
    return rows
