"""Counts over all time: the tally and the counters of placements."""

from __future__ import annotations

from collections import defaultdict

from slotwise.service.storage.count_rows import COUNTERS, TALLY_COUNTS, Counters, TallyRow
from slotwise.service.storage.decision_types import Arm
from slotwise.service.storage.sql_base import Database, adding, sums

ADD_COUNTERS = adding("counters", ("placement", "segment", "arm"), COUNTERS)
ADD_TALLY = adding("tally", ("placement", "segment", "slot", "item"), TALLY_COUNTS, revised=True)


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
        """Clicks of decisions that waited for `at_most` seconds, by delay class (`delay_histogram.number_of`)."""
        with self.reading():
            return dict(
                self.all("SELECT number, clicks FROM delays WHERE placement = ? AND at_most = ?", (name, at_most))
            )
