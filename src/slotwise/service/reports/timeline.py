"""What happened when, by column, as a chart wants it: the history, with the items told apart that were shown most."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Final

from slotwise.service.reports.ab_test import LEVEL, Sums
from slotwise.service.reports.history import By, HistorySpan, read_past
from slotwise.service.reports.uplift import Span, measure_of, read_evidence, views_by_period
from slotwise.service.schemas.overview_schemas import ArmLine, TimelineDocument
from slotwise.service.schemas.report_schemas import EstimatesSummary
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import CountPeriod, HistoryRow, PeriodCounters
from slotwise.service.storage.decision_types import DAY, Arm

#: items that are told apart
MAX_ITEMS: Final = 5
_WITHIN: Final = NormalDist().inv_cdf(0.5 + LEVEL / 2)


def timeline(store: Store, name: str, by: By, span: HistorySpan) -> TimelineDocument:
    """Every period in which a decision was issued, in order."""
    with store.snapshot():
        past = read_past(store, name, by, span)
        evidence = read_evidence(store, name, past.definition, Span(*span))
    issued = _issued(past.counters)
    starts = list(issued)
    brought: dict[tuple[Arm, int], Sums] = defaultdict(Sums)
    for period, arm, sums in views_by_period(evidence):
        brought[arm, _start(period, by)] += sums
    measure = measure_of(evidence)
    clicks = _clicks(past.counters)
    items, shows, rest = _shown(past.rows, starts)
    return {
        "by": by,
        "since": rfc3339(span.since),
        "until": rfc3339(span.until),
        "starts": [rfc3339(start) for start in starts],
        "measure": measure,
        "issued": list(issued.values()),
        "arms": {
            arm: _line([(brought[arm, start], clicks[arm, start]) for start in starts], measure == "click_rate")
            for arm in sorted({arm for arm, _ in brought}, reverse=True)
        },
        "items": items,
        "shows": shows,
        "rest": rest,
        "probabilities": _probabilities(past.ends, items, starts, by),
        "changes": past.changes,
    }


def _start(period: CountPeriod, by: By) -> int:
    return period.start // DAY * DAY if by == "day" else period.start


def _issued(counters: Iterable[PeriodCounters]) -> dict[int, int]:
    """By the beginning of each period, in order; what was before there were hours has no place in time."""
    found: dict[int, int] = {}
    for one in counters:
        if one.period.hours:
            found[one.period.start] = found.get(one.period.start, 0) + one.counters.issued
    return dict(sorted(found.items()))


def _clicks(counters: Iterable[PeriodCounters]) -> Mapping[tuple[Arm, int], int]:
    found: dict[tuple[Arm, int], int] = defaultdict(int)
    for one in counters:
        found[one.arm, one.period.start] += one.counters.clicked
    return found


def _line(periods: Sequence[tuple[Sums, int]], of_clicks: bool) -> ArmLine:
    ends = [interval(sums, of_clicks) for sums, _ in periods]
    return {
        "shown": [sums.views for sums, _ in periods],
        "clicks": [clicks for _, clicks in periods],
        "mean": [sums.mean if sums.views else None for sums, _ in periods],
        "low": [None if one is None else one[0] for one in ends],
        "high": [None if one is None else one[1] for one in ends],
    }


def interval(sums: Sums, of_clicks: bool) -> tuple[float, float] | None:
    """The 95 % interval of the mean of a view: Wilson's for a share, else the normal one; None where it has none.

    >>> low, high = interval(Sums.of_clicks(views=100, clicks=10), True)
    >>> round(low, 3), round(high, 3)
    (0.055, 0.174)
    """
    if of_clicks:
        if not sums.views:
            return None
        more = _WITHIN**2 / sums.views
        middle = (sums.mean + more / 2) / (1 + more)
        half = math.sqrt(more * (sums.mean * (1 - sums.mean) + more / 4)) / (1 + more)
    else:
        if sums.views < 2:
            return None
        middle, half = sums.mean, _WITHIN * math.sqrt(sums.variance / sums.views)
    return max(0.0, middle - half), middle + half


def _shown(
    rows: Sequence[HistoryRow], starts: Sequence[int]
) -> tuple[list[str], list[list[list[int]]], list[list[int]]]:
    """The items that were shown most; by slot and item, how often in each period; and the same for all others."""
    total: dict[str, int] = defaultdict(int)
    for row in rows:
        total[row.item] += row.shows
    items = sorted(total, key=lambda item: (-total[item], item))[:MAX_ITEMS]
    number, place = ({one: at for at, one in enumerate(all)} for all in (items, starts))
    slots = max((row.slot + 1 for row in rows), default=0)
    shows = [[[0] * len(starts) for _ in items] for _ in range(slots)]
    rest = [[0] * len(starts) for _ in range(slots)]
    for row in rows:
        at = place.get(row.period.start)
        if at is None or not row.period.hours:
            continue
        if row.item in number:
            shows[row.slot][number[row.item]][at] += row.shows
        else:
            rest[row.slot][at] += row.shows
    return items, shows, rest


def _probabilities(
    ends: Sequence[tuple[int, str]], items: Sequence[str], starts: Sequence[int], by: By
) -> list[list[float | None]]:
    # of a day, the last that was kept
    last = {_start(CountPeriod(hour), by): text for hour, text in ends}
    found: list[list[float | None]] = [[] for _ in items]
    for start in starts:
        text = last.get(start)
        kept: EstimatesSummary | None = None if text is None else json.loads(text)
        for item, line in zip(items, found, strict=True):
            line.append(None if kept is None else kept["probabilities"].get(item, 0.0))
    return found
