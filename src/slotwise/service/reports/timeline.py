"""The history of a placement by column, for charts, with the most shown items."""

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

#: items with a line of their own
MAX_ITEMS: Final = 5
_WITHIN: Final = NormalDist().inv_cdf(0.5 + LEVEL / 2)


def timeline(store: Store, name: str, by: By, span: HistorySpan) -> TimelineDocument:
    """Every period in which a decision was issued, in order."""
    with store.snapshot():
        past = read_past(store, name, by, span)
        evidence = read_evidence(store, name, past.definition, Span(*span))
    issued = _issued(past.counters)
    starts = list(issued)
    by_arm: dict[tuple[Arm, int], Sums] = defaultdict(Sums)
    for period, _, arm, sums in views_by_period(evidence):
        by_arm[arm, _start(period, by)] += sums
    measure = measure_of(evidence)
    clicks = _clicks(past.counters)
    items, shows, others = _shown(past.rows, starts)
    return {
        "by": by,
        "since": rfc3339(span.since),
        "until": rfc3339(span.until),
        "starts": [rfc3339(start) for start in starts],
        "measure": measure,
        "issued": list(issued.values()),
        "arms": {
            arm: _line([(by_arm[arm, start], clicks[arm, start]) for start in starts], measure == "click_rate")
            for arm in sorted({arm for arm, _ in by_arm}, reverse=True)
        },
        "items": items,
        "shows": shows,
        "rest": others,
        "probabilities": _probabilities(past.ends, items, starts, by),
        "changes": past.changes,
    }


def _start(period: CountPeriod, by: By) -> int:
    return period.start // DAY * DAY if by == "day" else period.start


def _issued(counters: Iterable[PeriodCounters]) -> dict[int, int]:
    """Issued decisions by the start of their period, in order; counts from before there were periods are left out."""
    by_start: dict[int, int] = {}
    for row in counters:
        if row.period.hours:
            by_start[row.period.start] = by_start.get(row.period.start, 0) + row.counters.issued
    return dict(sorted(by_start.items()))


def _clicks(counters: Iterable[PeriodCounters]) -> Mapping[tuple[Arm, int], int]:
    clicks: dict[tuple[Arm, int], int] = defaultdict(int)
    for row in counters:
        clicks[row.arm, row.period.start] += row.counters.clicked
    return clicks


def _line(periods: Sequence[tuple[Sums, int]], of_clicks: bool) -> ArmLine:
    ends = [interval(sums, of_clicks) for sums, _ in periods]
    return {
        "shown": [sums.views for sums, _ in periods],
        "clicks": [clicks for _, clicks in periods],
        "mean": [sums.mean if sums.views else None for sums, _ in periods],
        "low": [None if end is None else end[0] for end in ends],
        "high": [None if end is None else end[1] for end in ends],
    }


def interval(sums: Sums, of_clicks: bool) -> tuple[float, float] | None:
    """The 95 % confidence interval of a mean per view: Wilson's for clicks, otherwise the normal one; None without one.

    >>> low, high = interval(Sums.of_clicks(views=100, clicks=10), True)
    >>> round(low, 3), round(high, 3)
    (0.055, 0.174)
    """
    if of_clicks:
        if not sums.views:
            return None
        correction = _WITHIN**2 / sums.views
        middle = (sums.mean + correction / 2) / (1 + correction)
        half = math.sqrt(correction * (sums.mean * (1 - sums.mean) + correction / 4)) / (1 + correction)
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
    number, place = ({name: at for at, name in enumerate(names)} for names in (items, starts))
    slots = max((row.slot + 1 for row in rows), default=0)
    shows = [[[0] * len(starts) for _ in items] for _ in range(slots)]
    others = [[0] * len(starts) for _ in range(slots)]
    for row in rows:
        at = place.get(row.period.start)
        if at is None or not row.period.hours:
            continue
        if row.item in number:
            shows[row.slot][number[row.item]][at] += row.shows
        else:
            others[row.slot][at] += row.shows
    return items, shows, others


def _probabilities(
    ends: Sequence[tuple[int, str]], items: Sequence[str], starts: Sequence[int], by: By
) -> list[list[float | None]]:
    # the last summary of a day
    by_start = {_start(CountPeriod(hour), by): text for hour, text in ends}
    lines: list[list[float | None]] = [[] for _ in items]
    for start in starts:
        text = by_start.get(start)
        summary: EstimatesSummary | None = None if text is None else json.loads(text)
        for item, line in zip(items, lines, strict=True):
            line.append(None if summary is None else summary["probabilities"].get(item, 0.0))
    return lines
