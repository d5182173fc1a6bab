"""What one transaction adds to counters and tallies, gathered before it is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from slotwise.service.store.contract import COUNTERS, Arm, Kind

CLICKS, PASSES, SHOWS = range(3)


class Count:
    """Sums by placement.

    >>> count = Count()
    >>> count.finalise("home", "learned", ["a", "b"], "clicked", "b", None)
    >>> count.finalise("home", "learned", ["b", "a"], None, None, 7)
    >>> count.tally("home")
    [(0, 'a', 0, 0, 1), (0, 'b', 0, 1, 1), (1, 'a', 0, 1, 1), (1, 'b', 1, 0, 1)]
    >>> count.ended("home")
    [7]
    """

    def __init__(self) -> None:
        self._counters: dict[tuple[str, Arm], dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
        self._tally: dict[str, dict[tuple[int, str], list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
        self._ended: dict[str, set[int]] = defaultdict(set)

    def add(self, placement: str, arm: Arm, **counts: int) -> None:
        """Add to the counters of an arm."""
        counters = self._counters[placement, arm]
        for name, more in counts.items():
            counters[name] += more

    def finalise(
        self, placement: str, arm: Arm, items: Sequence[str], kind: Kind | None, clicked: str | None, epoch: int | None
    ) -> None:
        """Count one decision as what was reported of it; silence is a no-click."""
        self.add(placement, arm, **{kind or "no_click": 1})
        tally = self._tally[placement]
        if kind is None:
            self.add(placement, arm, silent=1)
        if kind == "not_shown":
            return
        for slot, item in enumerate(items):
            pair = tally[slot, item]
            pair[SHOWS] += 1
            if kind != "clicked":
                pair[PASSES] += 1
            elif item == clicked:
                pair[CLICKS] += 1
        if kind != "clicked" and epoch is not None:
            self._ended[placement].add(epoch)

    def placements(self) -> list[str]:
        """Those with something final, in order."""
        return sorted(self._tally)

    def ended(self, placement: str) -> list[int]:
        """The epochs in which there was a no-click."""
        return sorted(self._ended[placement])

    def tally(self, placement: str) -> list[tuple[int, str, int, int, int]]:
        """Slot, item, clicks, passes and shows, in order of slot and item."""
        pairs = sorted(self._tally[placement].items())
        return [(slot, item, clicks, passes, shows) for (slot, item), (clicks, passes, shows) in pairs]

    def counters(self) -> list[tuple[Any, ...]]:
        """Placement, arm and every counter, in order of placement and arm."""
        return [(*key, *counts.values()) for key, counts in sorted(self._counters.items())]
