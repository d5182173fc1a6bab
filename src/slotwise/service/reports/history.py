"""The history of a placement: counts by period, estimates at the ends of periods, and changes of the definition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeVar

from slotwise.core.errors import InvalidInput
from slotwise.service.learning.learner_factory import numbered
from slotwise.service.placements.placement_updates import change_document
from slotwise.service.reports.placement_estimates import counts
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import (
    ChangeDocument,
    EstimatesDocument,
    EstimatesSummary,
    HistoryDocument,
    PeriodDocument,
    SegmentCounts,
    ShowsDocument,
)
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.timestamps import rfc3339, seconds_of
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import Counters, CountPeriod, HistoryRow, PeriodCounters
from slotwise.service.storage.decision_types import DAY, HOUR, Arm

By = Literal["hour", "day"]
#: the length of a history without `since`, in days
DEFAULT_DAYS: Final[Mapping[By, int]] = {"hour": 7, "day": 90}
#: items with a smaller probability of being in the best list are left out of the summary
MIN_PROBABILITY: Final = 0.01
MAX_CHANGES: Final = 1_000
_Row = TypeVar("_Row", HistoryRow, PeriodCounters)


class HistorySpan(NamedTuple):
    """A time span of whole periods, in seconds since 1970."""

    since: int
    until: int

    @classmethod
    def of(cls, by: By, since: str | None, until: str | None, now: float) -> HistorySpan:
        """Periods that begin from `since` on and before `until`; by default the last days until now."""
        length = DAY if by == "day" else HOUR
        # the current period is included
        end = now // length * length + length if until is None else seconds_of("until", until)
        begin = end - DEFAULT_DAYS[by] * DAY if since is None else seconds_of("since", since)
        if begin >= end:
            raise InvalidInput(f"since must be before until, got {since!r} and {until!r}")
        return cls(int(begin // length) * length, int(-(-end // length)) * length)


class Past(NamedTuple):
    """The stored periods of a placement."""

    definition: PlacementDefinition
    rows: list[HistoryRow]
    counters: list[PeriodCounters]
    #: by hour, the summary of the estimates at its end
    ends: list[tuple[int, str]]
    #: changes within the span, the earliest first
    changes: list[ChangeDocument]


def read_past(store: Store, name: str, by: By, span: HistorySpan) -> Past:
    """Read the periods of a span; call it within a snapshot to read more of the same moment."""
    return Past(
        PlacementDefinition.model_validate_json(store.definition(name)),
        store.history(name, *span, by_day=by == "day"),
        store.period_counters(name, *span, by_day=by == "day"),
        store.hourly_summaries(name, *span),
        [
            change_document(change)
            for change in reversed(store.changes(name, MAX_CHANGES))
            if span.since <= change.time < span.until
        ],
    )


def history(store: Store, name: str, by: By, span: HistorySpan) -> HistoryDocument:
    """Every period in which a decision was issued, in order."""
    with store.snapshot():
        past = read_past(store, name, by, span)
    segments = VisitorSegments(past.definition.segments)
    shown, counted = _by_period(past.rows), _by_period(past.counters)
    summaries = _last_of_each(past.ends, counted)
    return {
        "by": by,
        "since": rfc3339(span.since),
        "until": rfc3339(span.until),
        "periods": [
            _period(period, segments, counted[period], shown.get(period, []), summaries.get(period))
            for period in counted
        ],
        "changes": past.changes,
    }


def summary_of(estimates: EstimatesDocument) -> str:
    """The summary of the estimates that is stored at the end of an hour, as text."""
    probabilities = {item["id"]: item["probability_in_best_list"] for item in estimates["items"]}
    summary: EstimatesSummary = {
        "best_list": estimates["best_list"],
        "probabilities": {
            item: round(probability, 4)
            for item, probability in probabilities.items()
            if probability >= MIN_PROBABILITY or item in estimates["best_list"]
        },
    }
    return json.dumps(summary, ensure_ascii=False, separators=(",", ":"))


def _by_period(rows: Iterable[_Row]) -> dict[CountPeriod, list[_Row]]:
    by_period: dict[CountPeriod, list[_Row]] = {}
    for row in rows:
        by_period.setdefault(row.period, []).append(row)
    return by_period


def _last_of_each(ends: Sequence[tuple[int, str]], periods: Iterable[CountPeriod]) -> dict[CountPeriod, str]:
    """The last summary of the hours of each period."""
    by_hour = dict(ends)
    by_period = {}
    for period in periods:
        hours = range(period.start + (period.hours - 1) * HOUR, period.start - 1, -HOUR)
        summary = next((by_hour[hour] for hour in hours if hour in by_hour), None)
        if summary is not None:
            by_period[period] = summary
    return by_period


def _period(
    period: CountPeriod,
    segments: VisitorSegments,
    counted: list[PeriodCounters],
    rows: list[HistoryRow],
    end: str | None,
) -> PeriodDocument:
    arms: dict[Arm, Counters] = {}
    by_segment: dict[int, Counters] = {}
    for row in counted:
        arms[row.arm] = arms.get(row.arm, Counters()) + row.counters
        number = segments.number(row.segment)
        by_segment[number] = by_segment.get(number, Counters()) + row.counters
    segment_counts: list[SegmentCounts] = [
        {"segment": segments.context(number), "decisions": counts(total)}
        for number, total in sorted(by_segment.items())
    ]
    return {
        "start": rfc3339(period.start),
        "hours": period.hours,
        "decisions": counts(sum(arms.values(), Counters())),
        "by_arm": {arm: counts(total) for arm, total in arms.items()},
        "by_segment": segment_counts,
        "shown": _shows(rows),
        "at_the_end": None if end is None else json.loads(end),
    }


def _shows(rows: list[HistoryRow]) -> ShowsDocument:
    numbers = numbered(sorted({row.item for row in rows}))
    slots = max((row.slot + 1 for row in rows), default=0)
    shows, clicks = ([[0] * len(numbers) for _ in range(slots)] for _ in range(2))
    for row in rows:
        shows[row.slot][numbers[row.item]] = row.shows
        clicks[row.slot][numbers[row.item]] = row.clicks
    return {"items": list(numbers), "shows": shows, "clicks": clicks}
