"""What the tables of counts must hold: a plain sum over decisions."""

from __future__ import annotations

from collections import Counter
from typing import Any

HOUR = 3600


class Counts:
    """Counts by placement, segment, arm and hour."""

    def __init__(self) -> None:
        #: placement, segment, slot, item, and the name of the count
        self.tally: Counter[tuple[Any, ...]] = Counter()
        #: placement, hour, segment, arm, slot, item, and the name of the count
        self.by_hour: Counter[tuple[Any, ...]] = Counter()
        #: placement, hour, segment, arm, and the name of the counter
        self.counters: Counter[tuple[Any, ...]] = Counter()

    def issue(self, row: Any) -> None:
        self._add(row, "issued")

    def _add(self, row: Any, counter: str, amount: float = 1) -> None:
        hour = int(row.issued // HOUR) * HOUR
        self.counters[row.placement, hour, row.segment, row.arm, counter] += amount  # type: ignore[assignment]

    def finalise(self, row: Any) -> None:
        """Count a decision, once, by its outcome."""
        kind, clicked, then, value = row.outcome
        clicks = {clicked, *(then or ())} if kind == "clicked" else set()
        if row.capped:
            self._add(row, "capped")
            return
        self._add(row, kind or "no_click")
        if kind is None:
            self._add(row, "silent")
        if kind == "clicked":
            self._add(row, "value", value or 0.0)
            self._add(row, "squares", (value or 0.0) ** 2)
            self._add(row, "several", len(clicks) > 1)
        if kind == "not_shown":
            return
        for slot, item in enumerate(row.items):
            self._cell(row, slot, item, "shows")
            # of several clicks, each counts; the others are passed, and all if most of the list was clicked
            is_most = len(clicks) > len(row.items) / 2
            if kind != "clicked" or (len(clicks) > 1 and (is_most or item not in clicks)):
                self._cell(row, slot, item, "passes")
            if item in clicks:
                self._cell(row, slot, item, "clicks")
            if item == clicked and value is not None:
                cell = row.placement, row.segment, slot, item
                self.tally[(*cell, "valued")] += 1
                self.tally[(*cell, "value")] += value
                self.tally[(*cell, "squares")] += value**2

    def _cell(self, row: Any, slot: int, item: str, count: str) -> None:
        self.tally[row.placement, row.segment, slot, item, count] += 1
        hour = int(row.issued // HOUR) * HOUR
        self.by_hour[row.placement, hour, row.segment, row.arm, slot, item, count] += 1
