"""A placement with a past that is made up: hours of visitors, counted as a service would have counted them.

Lists are drawn as if they were learned: by what items are worth times e to the noise, which fades hour by hour.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from slotwise.service.placements.definition_edits import difference
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.count_rows import Counters, CountPeriod, PeriodCounters, PeriodRow, TallyRow
from slotwise.service.storage.decision_types import HOUR, Arm, hour_of
from slotwise.service.storage.placement_transfer import PlacementExport
from slotwise.service.storage.placements_table import Change

#: lists that the learned arm shows in an hour, and those from which is read what was believed at its end
LISTS: Final = 4
BELIEFS: Final = 50


@dataclass(frozen=True)
class Past:
    """Whose past, how long it is, and how visitors choose."""

    definition: Mapping[str, Any]
    #: of each item
    attractiveness: Mapping[str, float]
    position_bias: Sequence[float]
    hours: int
    views_per_hour: int
    #: share of the visitors by value of the one key that visitors are told apart by
    shares: Mapping[str, float] = field(default_factory=dict)
    #: hours ago, from when on these items are as attractive as this
    turn: tuple[int, Mapping[str, float]] = (0, {})
    #: hours ago, and what a merge patch of that time had taken back: what it was before
    changes: Sequence[tuple[int, Mapping[str, Any]]] = ()
    #: how long it takes to learn: the noise is as large as attractiveness after so many hours
    slow: float = 4.0
    seed: int = 1


def write(store: str, name: str, past: Past, now: float) -> None:
    """Put a placement with its past, up to the hour that is not over, into a store."""
    placement, ends = made_up(name, past, now)
    opened = open_store(store)
    try:
        opened.carry_in(placement)
        for start, believed in ends:
            opened.store_hourly_summary(name, start, believed)
    finally:
        opened.close()


def made_up(name: str, past: Past, now: float) -> tuple[PlacementExport, list[tuple[int, str]]]:
    """The placement, and what was believed at the end of each hour."""
    rng = np.random.default_rng(past.seed)
    items, bias = list(past.attractiveness), np.array(past.position_bias)
    listed = np.arange(len(bias))
    tally: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    counters: dict[tuple[str, Arm], Counters] = defaultdict(Counters)
    rows: list[PeriodRow] = []
    period_counters: list[PeriodCounters] = []
    ends: list[tuple[int, str]] = []
    holdout = float(past.definition.get("holdout", 0.0))
    first = hour_of(now) - past.hours * HOUR
    for number in range(past.hours):
        start = first + number * HOUR
        turned = past.turn[1] if past.hours - number <= past.turn[0] else {}
        alpha = np.array([turned.get(item, past.attractiveness[item]) for item in items])
        # what was learned before the turn is learned anew after it
        since = number - (past.hours - past.turn[0]) if turned else number
        noise = np.sqrt(past.slow / (1.0 + since))
        believed = _lists(alpha, len(bias), noise, BELIEFS, rng)
        views = rng.poisson(past.views_per_hour * (1.0 + 0.6 * np.sin((start // HOUR % 24 - 9) / 24 * 2 * np.pi)))
        for segment, share in _segments(past):
            for arm, part in _arms(holdout):
                shown = [listed] if arm == "holdout" else list(believed[:LISTS])
                counted, came = _count(alpha, bias, shown, round(views * share * part), rng)
                counters[segment, arm] += came
                period_counters.append(PeriodCounters(CountPeriod(start), segment, arm, came))
                for (slot, item), counts in counted.items():
                    rows.append(PeriodRow(CountPeriod(start), segment, arm, slot, items[item], *counts))
                    total = tally[segment, slot, item]
                    for at, count in enumerate(counts):
                        total[at] += count
        ends.append((start, _believed(items, alpha, believed)))
    placement = PlacementExport(
        name,
        PlacementDefinition.model_validate(dict(past.definition)).text(),
        [
            TallyRow(slot, items[item], clicks, passes, shows, segment=segment)
            for (segment, slot, item), (clicks, passes, shows) in tally.items()
        ],
        counters,
        rows,
        period_counters,
        _changes(past, first, hour_of(now)),
    )
    return placement, ends


def _segments(past: Past) -> list[tuple[str, float]]:
    if not past.shares:
        return [("", 1.0)]
    key = next(iter(past.definition["segments"]))
    return [(json.dumps({key: value}, separators=(",", ":")), share) for value, share in past.shares.items()]


def _arms(holdout: float) -> list[tuple[Arm, float]]:
    return [("learned", 1.0 - holdout), *([("holdout", holdout)] if holdout else [])]  # type: ignore[list-item]


def _lists(alpha: Any, slots: int, noise: float, count: int, rng: np.random.Generator) -> Any:
    index = np.log(alpha) + noise * rng.standard_normal((count, len(alpha)))
    return np.argsort(-index, axis=1)[:, :slots]


def _believed(items: Sequence[str], alpha: Any, lists: Any) -> str:
    numbers, counts = np.unique(lists, return_counts=True)
    chances = {items[item]: count / len(lists) for item, count in zip(numbers.tolist(), counts.tolist(), strict=True)}
    best = [items[item] for item in np.argsort(-alpha, kind="stable")[: lists.shape[1]]]
    return json.dumps({"best_list": best, "probabilities": chances})


def _count(
    alpha: Any, bias: Any, lists: Sequence[Any], views: int, rng: np.random.Generator
) -> tuple[dict[tuple[int, int], list[int]], Counters]:
    """By slot and item the clicks, passes and shows of these lists in turn; and what the views came to."""
    found: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    total = Counters()
    for number, ranking in enumerate(lists):
        shown = (views + number) // len(lists)
        gamma = np.append(bias * alpha[ranking], 1.0)
        *clicks, none = rng.multinomial(shown, gamma / gamma.sum()).tolist()
        for (slot, item), clicked in zip(enumerate(ranking.tolist()), clicks, strict=True):
            counts = found[slot, item]
            counts[0] += clicked
            counts[1] += none
            counts[2] += shown
        clicked = sum(clicks)
        total += Counters(issued=shown, clicked=clicked, no_click=none, silent=int(0.3 * none), several=clicked // 50)
    return {pair: counts for pair, counts in found.items() if counts[2]}, total


def _changes(past: Past, first: int, now: int) -> list[Change]:
    """What made the definition what it is: created at first, and each change in turn."""
    definitions, times = [dict(past.definition)], []
    for hours_ago, before in past.changes:
        definitions.append({**definitions[-1], **before})
        times.append(now - hours_ago * HOUR)
    after = [PlacementDefinition.model_validate(one) for one in reversed(definitions)]
    earlier = [None, *after[:-1]]
    moments = [float(first), *map(float, reversed(times))]
    return [
        Change(time, json.dumps(difference(was, now_is)), version)
        for version, (time, was, now_is) in enumerate(zip(moments, earlier, after, strict=True), start=1)
    ]
