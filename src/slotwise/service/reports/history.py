"""What happened when: the counts of periods, what was believed at their ends, and what was changed."""

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
#: how far back a history goes where it is not said, in days
USUAL_DAYS: Final[Mapping[By, int]] = {"hour": 7, "day": 90}
#: what is kept of the end of a period: items that are less likely to be in the best list are left out
MIN_PROBABILITY: Final = 0.01
MAX_CHANGES: Final = 1_000
_Row = TypeVar("_Row", HistoryRow, PeriodCounters)


class HistorySpan(NamedTuple):
    """From when on, and until when, in seconds since 1970; at whole periods."""

    since: int
    until: int

    @classmethod
    def of(cls, by: By, since: str | None, until: str | None, now: float) -> HistorySpan:
        """Periods that begin from `since` on and before `until`; where that is not said, the last days until now."""
        length = DAY if by == "day" else HOUR
        # the period that is now is among them
        end = now // length * length + length if until is None else seconds_of("until", until)
        begin = end - USUAL_DAYS[by] * DAY if since is None else seconds_of("since", since)
        if begin >= end:
            raise InvalidInput(f"since must be before until, got {since!r} and {until!r}")
        return cls(int(begin // length) * length, int(-(-end // length)) * length)


class Past(NamedTuple):
    """What the store has of a placement's periods."""

    definition: PlacementDefinition
    rows: list[HistoryRow]
    counters: list[PeriodCounters]
    #: by hour, what was believed at its end
    ends: list[tuple[int, str]]
    #: those within the time, the earliest first
    changes: list[ChangeDocument]


def read_past(store: Store, name: str, by: By, span: HistorySpan) -> Past:
    """All of it; within a snapshot where more is to be read of the same moment."""
    return Past(
        PlacementDefinition.model_validate_json(store.definition(name)),
        store.history(name, *span, by_day=by == "day"),
        store.history_counters(name, *span, by_day=by == "day"),
        store.period_ends(name, *span),
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
    kept = _last_of_each(past.ends, counted)
    return {
        "by": by,
        "since": rfc3339(span.since),
        "until": rfc3339(span.until),
        "periods": [
            _period(period, segments, counted[period], shown.get(period, []), kept.get(period)) for period in counted
        ],
        "changes": past.changes,
    }


def believed(found: EstimatesDocument) -> str:
    """What is kept of the end of a period, as text."""
    likely = {item["id"]: item["probability_in_best_list"] for item in found["items"]}
    kept: EstimatesSummary = {
        "best_list": found["best_list"],
        "probabilities": {
            item: round(chance, 4)
            for item, chance in likely.items()
            if chance >= MIN_PROBABILITY or item in found["best_list"]
        },
    }
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _by_period(rows: Iterable[_Row]) -> dict[CountPeriod, list[_Row]]:
    found: dict[CountPeriod, list[_Row]] = {}
    for row in rows:
        found.setdefault(row.period, []).append(row)
    return found


def _last_of_each(ends: Sequence[tuple[int, str]], periods: Iterable[CountPeriod]) -> dict[CountPeriod, str]:
    """The last of what was believed at the ends of the hours of each period."""
    by_hour = dict(ends)
    found = {}
    for period in periods:
        hours = range(period.start + (period.hours - 1) * HOUR, period.start - 1, -HOUR)
        last = next((by_hour[hour] for hour in hours if hour in by_hour), None)
        if last is not None:
            found[period] = last
    return found


def _period(
    period: CountPeriod,
    segments: VisitorSegments,
    counted: list[PeriodCounters],
    rows: list[HistoryRow],
    end: str | None,
) -> PeriodDocument:
    arms: dict[Arm, Counters] = {}
    by_segment: dict[int, Counters] = {}
    for one in counted:
        arms[one.arm] = arms.get(one.arm, Counters()) + one.counters
        number = segments.number(one.segment)
        by_segment[number] = by_segment.get(number, Counters()) + one.counters
    told: list[SegmentCounts] = [
        {"segment": segments.context(number), "decisions": counts(total)}
        for number, total in sorted(by_segment.items())
    ]
    return {
        "start": rfc3339(period.start),
        "hours": period.hours,
        "decisions": counts(sum(arms.values(), Counters())),
        "by_arm": {arm: counts(total) for arm, total in arms.items()},
        "by_segment": told,
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
