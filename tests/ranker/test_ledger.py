"""Whatever is done to a ranker, in whatever order: what it has counted is what a plain ledger has."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from slotwise import Ranker, Tally
from slotwise.ranker import Ranking

SLOTS = 2
SEGMENTS = st.sampled_from([None, "mobile", "desktop", 3])


class Ledger(RuleBasedStateMachine):
    """Clicks, passes and showings by segment, slot and item."""

    @initialize(half_life=st.sampled_from(["none", "auto", 4.0]), has_features=st.booleans())
    def begin(self, half_life: str | float, has_features: bool) -> None:
        features: dict[str, dict[str, float | str]] | None = {"a": {"price": 1.0}} if has_features else None
        self.ranker = Ranker(["a", "b", "c"], SLOTS, half_life=half_life, features=features, seed=1)
        self.items, self.retired = ["a", "b", "c"], set[str]()
        self.waiting: list[tuple[Ranking, str | None]] = []
        self.clicks, self.passes, self.shown = (Counter[tuple[str | None, int, str]]() for _ in range(3))

    @rule(segment=SEGMENTS, exclude_first=st.booleans())
    def rank(self, segment: str | int | None, exclude_first: bool) -> None:
        left = [item for item in self.items if item not in self.retired]
        exclude = left[:1] if exclude_first and len(left) > 1 else []
        ranking = self.ranker.rank(exclude=exclude, segment=segment)
        assert set(ranking.items) <= set(left) - set(exclude)
        assert len(ranking.items) == min(SLOTS, len(left) - len(exclude))
        self.waiting.append((ranking, None if segment is None else str(segment)))

    @precondition(lambda self: self.waiting)
    @rule(number=st.integers(0, 99), slot=st.integers(0, SLOTS))
    def observe(self, number: int, slot: int) -> None:
        ranking, segment = self.waiting.pop(number % len(self.waiting))
        for place, item in enumerate(ranking.items):
            self.shown[segment, place, item] += 1
        if slot < len(ranking.items):
            self.clicks[segment, slot, ranking.items[slot]] += 1
            self.ranker.observe(ranking, clicked=ranking.items[slot])
        else:
            for place, item in enumerate(ranking.items):
                self.passes[segment, place, item] += 1
            self.ranker.observe(ranking.id, clicked=None)

    @rule(segment=SEGMENTS, seed=st.integers(0, 999))
    def absorb(self, segment: str | int | None, seed: int) -> None:
        clicks, passes = np.random.default_rng(seed).integers(0, 4, (2, SLOTS, len(self.items)))
        self.ranker.update_from_tally(Tally(clicks, passes), segment=segment)
        name = None if segment is None else str(segment)
        for slot in range(SLOTS):
            for number, item in enumerate(self.items):
                self.clicks[name, slot, item] += int(clicks[slot, number])
                self.passes[name, slot, item] += int(passes[slot, number])
                self.shown[name, slot, item] += int(clicks[slot, number] + passes[slot, number])

    @precondition(lambda self: len(self.items) < 6)
    @rule(has_features=st.booleans())
    def add(self, has_features: bool) -> None:
        item = "abcdef"[len(self.items)]
        self.ranker.add(item, features={"price": 2.0, "kind": "new"} if has_features else None)
        self.items.append(item)

    @rule(number=st.integers(0, 99))
    def retire_or_bring_back(self, number: int) -> None:
        item = self.items[number % len(self.items)]
        if item in self.retired:
            self.ranker.add(item)
            self.retired.discard(item)
        elif len(self.retired) < len(self.items) - 1:
            self.ranker.retire(item)
            self.retired.add(item)

    @rule(exploring=st.booleans())
    def turn_exploring_on_or_off(self, exploring: bool) -> None:
        self.ranker.exploring = exploring

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.ranker.save(Path(folder) / "ranker")
            self.ranker = Ranker.load(Path(folder) / "ranker")

    @rule()
    def estimate(self) -> None:
        for segment in (None, *self.ranker.segments):
            found = self.ranker.estimates(segment=segment)
            assert (found.attractiveness_interval.low <= found.attractiveness).all()
            assert (found.attractiveness <= found.attractiveness_interval.high).all()
            assert found.clicks.tolist() == self._by_item(self.clicks, segment)
            assert found.shown.tolist() == self._by_item(self.shown, segment)

    def _by_item(self, counts: Counter[tuple[str | None, int, str]], segment: str | None) -> list[int]:
        """Of a segment, or of all."""
        return [
            sum(count for (name, _, of), count in counts.items() if of == item and segment in (None, name))
            for item in self.items
        ]

    @invariant()
    def has_counted_the_same(self) -> None:
        if not hasattr(self, "ranker"):
            return
        assert self.ranker.items == tuple(self.items)
        assert set(self.ranker.retired) == self.retired
        assert self.ranker.pending == len(self.waiting)
        for segment in (None, *self.ranker.segments):
            tally = self.ranker.tally(segment)
            for matrix, counts in ((tally.clicks, self.clicks), (tally.passes, self.passes)):
                of_segments = [segment] if segment else [None, *self.ranker.segments]
                assert matrix.tolist() == [
                    [sum(counts[name, slot, item] for name in of_segments) for item in self.items]
                    for slot in range(SLOTS)
                ]


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
