"""What the tables of counts must hold: a plain sum over decisions.

Written from the documentation: the table of outcomes in `life-of-a-decision.md`, several clicks in
`when-the-model-is-wrong.md`, and later events in `reward-events.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.service.simulation.model_types import Row

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
        #: placement, hour, arm and event
        self.events: Counter[tuple[Any, ...]] = Counter()

    def issue(self, row: Row) -> None:
        _add(self.counters, (row.placement, _hour(row), row.segment, row.arm, "issued"), 1)

    def count(self, row: Row, times: int = 1) -> None:
        """Add what a final decision adds; with -1, take it away, because the decision has changed."""
        for name, amount in _counters(row):
            _add(self.counters, (row.placement, _hour(row), row.segment, row.arm, name), times * amount)
        if row.capped or row.outcome.kind == "not_shown":
            return
        for event in {name for name, _, _ in (*row.outcome.events, *row.events)}:
            _add(self.events, (row.placement, _hour(row), row.arm, event), times)
        for slot, item, name in _seen(row.items, row.outcome.clicks):
            _add(self.tally, (row.placement, row.segment, slot, item, name), times)
            _add(self.by_hour, (row.placement, _hour(row), row.segment, row.arm, slot, item, name), times)
        value, clicked = _value(row), row.outcome.clicked
        if clicked is not None and value is not None:
            cell = row.placement, row.segment, row.items.index(clicked), clicked
            for name, amount in (("valued", 1), ("value", value), ("squares", value**2)):
                _add(self.tally, (*cell, name), times * amount)


def _add(counts: Counter[tuple[Any, ...]], key: tuple[Any, ...], amount: float) -> None:
    """Add to a count; none is 0."""
    if total := counts[key] + amount:
        counts[key] = total  # type: ignore[assignment]
    else:
        counts.pop(key, None)


def _hour(row: Row) -> int:
    return int(row.issued // HOUR) * HOUR


def _counters(row: Row) -> Iterator[tuple[str, float]]:
    if row.capped:
        yield "capped", 1
        return
    yield row.outcome.kind or "no_click", 1
    if row.outcome.kind == "not_shown":
        return
    if row.outcome.kind is None:
        yield "silent", 1
    if len({*row.outcome.clicks}) > 1:
        yield "several", 1
    value = _value(row) or 0.0
    yield "value", value
    yield "squares", value**2


def _value(row: Row) -> float | None:
    """What a decision brought: by its reward the sum of its click and its events, else the value of its click."""
    if row.reward is None:
        return row.outcome.value
    happened = [*row.outcome.events, *row.events]
    if row.outcome.clicked is not None:
        happened.append(("click", row.outcome.value, None))
    worths = [row.reward.get(name, 0.0) for name, _, _ in happened]
    return sum(
        (value or 0.0) if worth is None else worth for worth, (_, value, _) in zip(worths, happened, strict=True)
    )


def _seen(items: Sequence[str], clicks: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Slot, item, and what happened to it: a view is a sequence of choices, each from the items that remain."""
    remaining = dict(enumerate(items))
    for slot, item in enumerate(items):
        yield slot, item, "shows"
    for item in dict.fromkeys(clicks):
        slot = items.index(item)
        yield slot, remaining.pop(slot), "clicks"
    clicked = len(items) - len(remaining)
    if clicked == 1:
        # the only choice was an item, and nothing was passed by
        return
    if 2 * clicked > len(items):
        # each item was judged by itself
        remaining = dict(enumerate(items))
    for slot, item in remaining.items():
        yield slot, item, "passes"
