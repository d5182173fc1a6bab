"""Counts over all time, and by period: hours, and days that hours are merged into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple

from slotwise.service.storage.count_rows import (
    COUNTERS,
    LAST,
    TALLY_COUNTS,
    ArmCounts,
    Counters,
    CountPeriod,
    EventCounts,
    HistoryRow,
    ItemClicks,
    PeriodColumns,
    PeriodCounters,
    PeriodRow,
    TallyRow,
)
from slotwise.service.storage.decision_types import DAY, Arm
from slotwise.service.storage.sql_base import Database, adding, sums

ADD_COUNTERS = adding("counters", ("placement", "segment", "arm"), COUNTERS)
ADD_TALLY = adding("tally", ("placement", "segment", "slot", "item"), TALLY_COUNTS, revised=True)
_COUNTS = ("clicks", "passes", "shows")
ADD_PERIOD_TALLY = adding(
    "period_tally", ("placement", "start", "hours", "segment", "arm", "slot", "item"), _COUNTS, revised=True
)
ADD_EVENTS = adding("event_counts", ("placement", "start", "hours", "arm", "event"), ("decisions",))
ADD_PERIOD_COUNTERS = adding("period_counters", ("placement", "start", "hours", "segment", "arm"), COUNTERS)


class TotalTables(Database):
    """The part of a store that reads counts over all time."""

    def tally(self, name: str, since: int = 0) -> list[TallyRow]:
        """The rows of the tally that changed after revision `since`, with their current counts."""
        with self.reading():
            rows = self.all(
                f"SELECT slot, item, {', '.join(TALLY_COUNTS)}, segment FROM tally "
                "WHERE placement = ? AND revision > ?",
                (name, since),
            )
            return [TallyRow(*row) for row in rows]

    def counters(self) -> dict[str, dict[Arm, Counters]]:
        """Counters of decisions by placement and arm."""
        with self.reading():
            by_placement: dict[str, dict[Arm, Counters]] = defaultdict(dict)
            for placement, arm, *counts in self.all(
                f"SELECT placement, arm, {sums(COUNTERS)} FROM counters GROUP BY placement, arm"
            ):
                by_placement[placement][arm] = Counters(*counts)
            return by_placement

    def counters_of(self, name: str) -> dict[tuple[str, Arm], Counters]:
        """Counters of one placement's decisions by segment and arm."""
        with self.reading():
            rows = self.all(f"SELECT segment, arm, {', '.join(COUNTERS)} FROM counters WHERE placement = ?", (name,))
            return {(segment, arm): Counters(*counts) for segment, arm, *counts in rows}

    def reported(self, name: str) -> tuple[int, float | None]:
        """The number of pending decisions that have an outcome, and the first of their deadlines."""
        with self.reading():
            ((waiting, first),) = self.all(
                "SELECT COUNT(*), MIN(deadline) FROM decisions "
                "WHERE placement = ? AND final = 0 AND outcome IS NOT NULL",
                (name,),
            )
            return waiting, first

    def delays(self, name: str, at_most: float) -> dict[int, int]:
        """Clicks of decisions that waited for `at_most` seconds, by delay class (`accumulator.delay_class`)."""
        with self.reading():
            return dict(
                self.all("SELECT number, clicks FROM delays WHERE placement = ? AND at_most = ?", (name, at_most))
            )


def _keys(names: str, *, by_segment: bool) -> tuple[str, str]:
    """The selected and the grouping columns, by segment or over all segments."""
    if by_segment:
        return names.replace("SEGMENT", "segment"), names.replace("SEGMENT", "segment")
    return names.replace("SEGMENT", "''"), names.replace("SEGMENT, ", "")


def _period(by_day: bool) -> str:
    """Start and length in hours; imported counts stay separate."""
    if not by_day:
        return "start, hours"
    return (
        f"CASE WHEN hours = 0 THEN start ELSE start / {DAY} * {DAY} END, "
        "CAST(CASE WHEN hours = 0 THEN 0 ELSE 24 END AS BIGINT)"
    )


class PeriodTables(Database):
    """The part of a store that holds counts by period."""

    def period_tally(self, name: str, *, after: int = 0, since: int = 0, until: int = LAST) -> list[PeriodRow]:
        """The rows that changed after revision `after`, of periods that start from `since` on and before `until`."""
        with self.reading():
            rows = self.all(
                f"SELECT start, hours, segment, arm, slot, item, {', '.join(_COUNTS)} FROM period_tally "
                "WHERE placement = ? AND revision > ? AND start >= ? AND start < ?",
                (name, after, since, until),
            )
            return [PeriodRow(CountPeriod(start, hours), *columns) for start, hours, *columns in rows]

    def period_columns(self, name: str, since: int = 0) -> PeriodColumns:
        """All rows of periods that start from `since` on, by column and in no order."""
        with self.reading():
            return PeriodColumns.of(
                self.all(
                    f"SELECT {', '.join(PeriodColumns._fields)} FROM period_tally WHERE placement = ? AND start >= ?",
                    (name, since),
                )
            )

    def arm_counts(self, name: str, since: int, until: int, *, by_segment: bool) -> list[ArmCounts]:
        """Outcomes by arm, of periods that start from `since` on and before `until`."""
        keys, group = _keys("start, hours, SEGMENT, arm", by_segment=by_segment)
        with self.reading():
            rows = self.all(
                f"SELECT {keys}, {sums(('clicked', 'no_click', 'value', 'squares'))} FROM period_counters "
                f"WHERE placement = ? AND start >= ? AND start < ? GROUP BY {group} ORDER BY {group}",
                (name, since, until),
            )
            return [ArmCounts(CountPeriod(start, hours), *columns) for start, hours, *columns in rows]

    def event_counts(self, name: str, since: int = 0, until: int = LAST) -> list[EventCounts]:
        """Decisions with each event by arm, of periods that start from `since` on and before `until`."""
        with self.reading():
            rows = self.all(
                "SELECT start, hours, arm, event, decisions FROM event_counts "
                "WHERE placement = ? AND start >= ? AND start < ? ORDER BY start, hours, arm, event",
                (name, since, until),
            )
            return [EventCounts(CountPeriod(start, hours), *columns) for start, hours, *columns in rows]

    def item_clicks(self, name: str, since: int, until: int, *, by_segment: bool) -> list[ItemClicks]:
        """Clicks by item and arm in these periods; counts whose arm is unknown are left out."""
        keys, group = _keys("start, hours, SEGMENT, arm, item", by_segment=by_segment)
        with self.reading():
            rows = self.all(
                f"SELECT {keys}, {sums(('clicks',))} FROM period_tally WHERE placement = ? AND start >= ? "
                f"AND start < ? AND clicks > 0 AND arm <> '' GROUP BY {group} ORDER BY {group}",
                (name, since, until),
            )
            return [ItemClicks(CountPeriod(start, hours), *columns) for start, hours, *columns in rows]

    def history(self, name: str, since: int, until: int, *, by_day: bool) -> list[HistoryRow]:
        """Clicks and shows by period, slot and item, over all segments and arms; with `by_day`, hours are added up."""
        with self.reading():
            rows = self.all(
                f"SELECT {_period(by_day)}, slot, item, {sums(('clicks', 'shows'))} FROM period_tally "
                "WHERE placement = ? AND start >= ? AND start < ? GROUP BY 1, 2, slot, item ORDER BY 1, 2, slot, item",
                (name, since, until),
            )
            return [HistoryRow(CountPeriod(start, hours), *columns) for start, hours, *columns in rows]

    def period_counters(
        self, name: str, since: int = 0, until: int = LAST, *, by_day: bool = False
    ) -> list[PeriodCounters]:
        """Counters by period, segment and arm, in order; with `by_day`, hours are added up."""
        with self.reading():
            rows = self.all(
                f"SELECT {_period(by_day)}, segment, arm, {sums(COUNTERS)} FROM period_counters "
                "WHERE placement = ? AND start >= ? AND start < ? "
                "GROUP BY 1, 2, segment, arm ORDER BY 1, 2, segment, arm",
                (name, since, until),
            )
            return [
                PeriodCounters(CountPeriod(start, hours), segment, arm, Counters(*counts))
                for start, hours, segment, arm, *counts in rows
            ]

    def store_hourly_summary(self, name: str, start: int, summary: str) -> None:
        """Store the summary of the estimates at the end of the hour that began at `start`, unless there is one."""
        with self.transaction():
            self.all(
                "INSERT INTO hourly_summaries (placement, start, summary) VALUES (?, ?, ?) "
                "ON CONFLICT (placement, start) DO NOTHING",
                (name, start, summary),
            )

    def lacks_summary(self, name: str, start: int) -> bool:
        """Whether something was counted in the hour that began at `start`, and no summary of its end is stored."""
        with self.reading():
            return bool(
                self.all(
                    "SELECT 1 FROM period_counters WHERE placement = ? AND start = ? AND hours = 1 "
                    "AND NOT EXISTS (SELECT 1 FROM hourly_summaries WHERE placement = ? AND start = ?) LIMIT 1",
                    (name, start, name, start),
                )
            )

    def hourly_summaries(self, name: str, since: int = 0, until: int = LAST) -> list[tuple[int, str]]:
        """Summaries of the estimates at the ends of hours, by the starts of these hours, in order."""
        with self.reading():
            rows = self.all(
                "SELECT start, summary FROM hourly_summaries WHERE placement = ? AND start >= ? AND start < ? "
                "ORDER BY start",
                (name, since, until),
            )
            return [(start, summary) for start, summary in rows]

    def merge_hours(self, before: float, at_most: int) -> int:
        """Add up the hours of days that ended before then, a placement's day at a time; returns the number of days."""
        end = int(before // DAY) * DAY
        with self.reading():
            days = self.all(
                f"SELECT DISTINCT placement, start / {DAY} * {DAY} FROM period_counters "
                "WHERE hours = 1 AND start < ? ORDER BY 1, 2 LIMIT ?",
                (end, at_most),
            )
        for placement, day in days:
            with self.transaction():
                self._merge(placement, day)
        return len(days)

    def _merge(self, placement: str, day: int) -> None:
        # transactions that add to the tally change this row first, and wait here
        revised = self.all(
            "UPDATE placements SET revision = revision + 1 WHERE name = ? RETURNING revision", (placement,)
        )
        if not revised:
            return
        hours = "placement = ? AND hours = 1 AND start >= ? AND start < ?"
        where = (placement, day, day + DAY)
        merged = self.all(
            f"SELECT segment, arm, slot, item, {sums(_COUNTS)} FROM period_tally WHERE {hours} "
            "GROUP BY segment, arm, slot, item ORDER BY segment, arm, slot, item",
            where,
        )
        self.all(f"DELETE FROM period_tally WHERE {hours}", where)
        self.many(ADD_PERIOD_TALLY, [(placement, day, 24, *row, revised[0][0]) for row in merged])
        # counters change without that row: the deleted rows are summed, after locking them in the common order
        if self.for_update:
            self.all(
                f"SELECT 1 FROM period_counters WHERE {hours} ORDER BY start, hours, segment, arm{self.for_update}",
                where,
            )
        total: dict[tuple[str, str], Counters] = {}
        for segment, arm, *counts in self.all(
            f"DELETE FROM period_counters WHERE {hours} RETURNING segment, arm, {', '.join(COUNTERS)}", where
        ):
            total[segment, arm] = total.get((segment, arm), Counters()) + Counters(*counts)
        self.many(
            ADD_PERIOD_COUNTERS, [(placement, day, 24, *key, *counted.all()) for key, counted in sorted(total.items())]
        )
        self._merge_events(placement, hours, where)

    def _merge_events(self, placement: str, hours: str, where: tuple[str, int, int]) -> None:
        if self.for_update:
            self.all(
                f"SELECT 1 FROM event_counts WHERE {hours} ORDER BY start, hours, arm, event{self.for_update}", where
            )
        total: dict[tuple[str, str], int] = defaultdict(int)
        for arm, event, decisions in self.all(
            f"DELETE FROM event_counts WHERE {hours} RETURNING arm, event, decisions", where
        ):
            total[arm, event] += decisions
        self.many(ADD_EVENTS, [(placement, where[1], 24, *key, decisions) for key, decisions in sorted(total.items())])

    def add_periods(self, name: str, rows: Sequence[PeriodRow], counters: Sequence[PeriodCounters]) -> None:
        """Add counts from another store, within a transaction."""
        self.many(
            ADD_PERIOD_TALLY,
            [(name, *astuple(row.period), row.segment, row.arm, row.slot, row.item, *row.counts(), 1) for row in rows],
        )
        self.many(
            ADD_PERIOD_COUNTERS,
            [(name, *astuple(row.period), row.segment, row.arm, *row.counters.all()) for row in counters],
        )
