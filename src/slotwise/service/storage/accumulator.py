"""Sums of one transaction for counters and tallies, before they are written."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from slotwise.core.tally import clicked_most
from slotwise.service.storage.candidate_items import SeenCandidates
from slotwise.service.storage.count_rows import COUNTERS
from slotwise.service.storage.decision_types import Arm, Outcome

#: the ratio of the end of a class of delays to its start
DELAY_RATIO: Final = 1.05


def delay_class(seconds: float) -> int:
    """The class of a delay: the first class whose end is not below it; class 0 has delays below a second.

    >>> delay_class(0.2), delay_class(1.0), delay_class(60.0), delay_class(1800.0)
    (0, 0, 84, 154)
    """
    return max(0, math.ceil(math.log(max(seconds, 1.0)) / math.log(DELAY_RATIO) - 1e-9))


def delay_class_end(number: int) -> float:
    """The longest delay of a class, in seconds.

    >>> delay_class_end(0), round(delay_class_end(84), 1)
    (1.0, 60.2)
    """
    return DELAY_RATIO**number


CLICKS, PASSES, SHOWS, VALUED, VALUE, SQUARES = range(6)

#: slot and item
_Pair = tuple[int, str]


class CountKey(NamedTuple):
    """The key under which a decision is counted."""

    placement: str
    #: the start of the hour in which it was issued
    start: int
    segment: str
    arm: Arm


@dataclass
class _Pairs:
    """Counts per slot and item: clicks, passes, shows, clicks with a value, sum of values, sum of their squares."""

    counts: dict[_Pair, list[Any]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0, 0, 0.0, 0.0]))

    def add(self, items: Sequence[str], outcome: Outcome | None, times: int, value: float | None) -> None:
        if outcome is None or outcome.kind != "clicked":
            for slot, item in enumerate(items):
                pair = self.counts[slot, item]
                pair[SHOWS] += times
                pair[PASSES] += times
            return
        clicked = set(outcome.clicks)
        passes_clicked = clicked_most(len(clicked), len(items))
        for slot, item in enumerate(items):
            pair = self.counts[slot, item]
            pair[SHOWS] += 1
            pair[CLICKS] += item in clicked
            # as `Tally.count` does
            pair[PASSES] += len(clicked) > 1 and (passes_clicked or item not in clicked)
            if item == outcome.item and value is not None:
                pair[VALUED] += 1
                pair[VALUE] += value
                pair[SQUARES] += value**2


class Accumulator:
    """Sums by placement, segment, arm and hour.

    >>> count = Accumulator()
    >>> home = CountKey("home", 0, "", "learned")
    >>> count.finalise(home, ["a", "b"], Outcome("clicked", "b"), value=2.5)
    >>> count.finalise(home, ["b", "a"], None)
    >>> count.tally("home")[0]              # segment, slot, item, clicks, passes, shows, valued, value, squares
    ('', 0, 'a', 0, 0, 1, 0, 0.0, 0.0)
    >>> [row[3:] for row in count.tally("home")][1:]
    [(0, 1, 1, 0, 0.0, 0.0), (0, 1, 1, 0, 0.0, 0.0), (1, 0, 1, 1, 2.5, 6.25)]
    """

    def __init__(self) -> None:
        self._counters: dict[CountKey, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
        self._pairs: dict[str, dict[CountKey, _Pairs]] = defaultdict(lambda: defaultdict(_Pairs))
        self._events: dict[tuple[str, int, int, Arm, str], int] = defaultdict(int)
        self._delays: dict[tuple[str, float, int], int] = defaultdict(int)
        #: by placement
        self.candidates: dict[str, SeenCandidates] = defaultdict(SeenCandidates)

    def add(self, where: CountKey, **counts: float) -> None:
        """Add to counters."""
        counters = self._counters[where]
        for name, count in counts.items():
            counters[name] += count

    def issue(self, placement: str, start: int, segment: str, arm: Arm) -> None:
        """Count one decision as issued."""
        self._counters[CountKey(placement, start, segment, arm)]["issued"] += 1

    def finalise(
        self,
        where: CountKey,
        items: Sequence[str],
        outcome: Outcome | None,
        times: int = 1,
        value: float | None = None,
    ) -> None:
        """Count final decisions with the same list by their outcome; without a report they are no-clicks."""
        kind = "no_click" if outcome is None else outcome.kind
        counters = self._counters[where]
        counters[kind] += times
        if outcome is None:
            counters["silent"] += times
        elif len(set(outcome.clicks)) > 1:
            counters["several"] += 1
        if value is not None:
            self.add(where, value=value, squares=value**2)
        pairs = self._pairs[where.placement]
        if kind == "not_shown":
            return
        pairs[where].add(items, outcome, times, value)

    def revalue(
        self, where: CountKey, items: Sequence[str], outcome: Outcome | None, before: float, after: float
    ) -> None:
        """Count a new value of a final decision instead of the one that is counted; clicks and passes stay."""
        value, squares = after - before, after**2 - before**2
        self.add(where, value=value, squares=squares)
        if outcome is not None and outcome.item is not None:
            pair = self._pairs[where.placement][where].counts[items.index(outcome.item), outcome.item]
            pair[VALUE] += value
            pair[SQUARES] += squares

    def event(self, where: CountKey, name: str) -> None:
        """Count a final decision that has an event of this name."""
        self._events[where.placement, where.start, 1, where.arm, name] += 1

    def delay(self, placement: str, at_most: float, seconds: float) -> None:
        """Count the delay of a click, of a decision that waited for `at_most` seconds."""
        self._delays[placement, at_most, delay_class(seconds)] += 1

    def placements(self) -> list[str]:
        """The placements with final decisions, in order."""
        return sorted(self._pairs)

    def tally(self, placement: str) -> list[tuple[Any, ...]]:
        """Segment, slot, item and their counts, in that order."""
        total: dict[tuple[str, int, str], list[Any]] = {}
        for where, pairs in self._pairs[placement].items():
            for (slot, item), counts in pairs.counts.items():
                key = where.segment, slot, item
                total[key] = [a + b for a, b in zip(total[key], counts, strict=True)] if key in total else counts
        return [(*key, *counts) for key, counts in sorted(total.items())]

    def periods(self, placement: str) -> list[tuple[Any, ...]]:
        """Hour, 1 for its length, segment, arm, slot, item, clicks, passes and shows, in that order."""
        return sorted(
            (where.start, 1, where.segment, where.arm, *pair, *counts[: SHOWS + 1])
            for where, pairs in self._pairs[placement].items()
            for pair, counts in pairs.counts.items()
            # those of a decision that was counted before are there, or merged into a day
            if counts[SHOWS]
        )

    def counters(self) -> list[tuple[Any, ...]]:
        """Placement, segment, arm and every counter, in order of these."""
        total: dict[tuple[str, str, Arm], list[Any]] = {}
        for where, counts in self._counters.items():
            key, more = (where.placement, where.segment, where.arm), list(counts.values())
            total[key] = [a + b for a, b in zip(total[key], more, strict=True)] if key in total else more
        return [(*key, *counts) for key, counts in sorted(total.items())]

    def period_counters(self) -> list[tuple[Any, ...]]:
        """Placement, hour, 1 for its length, segment, arm and every counter, in order of these."""
        return [
            (where.placement, where.start, 1, where.segment, where.arm, *counts.values())
            for where, counts in sorted(self._counters.items())
        ]

    def events(self) -> list[tuple[Any, ...]]:
        """Placement, hour, 1 for its length, arm, event and decisions, in order of these."""
        return [(*key, decisions) for key, decisions in sorted(self._events.items())]

    def delays(self) -> list[tuple[Any, ...]]:
        """Placement, longest window, number of the delay and clicks, in order of these."""
        return [(*key, clicks) for key, clicks in sorted(self._delays.items())]
