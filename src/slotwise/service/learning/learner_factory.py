"""From a definition and the store's rows to a learner, and back to matrices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np

from slotwise.core.types import IntArray
from slotwise.ranker import Learner
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import DecayedCounts
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage.count_rows import TallyRow

#: retired items of which something is known that are kept in mind, those shown most: they tell of the slots
MAX_RETIRED: Final = 20_000


def retired_items(definition: PlacementDefinition, rows: Iterable[TallyRow]) -> list[str]:
    """The items that were shown once and are not listed any more, in order of id."""
    shown: dict[str, int] = {}
    for row in rows:
        shown[row.item] = shown.get(row.item, 0) + row.shows
    for item in definition.items:
        shown.pop(item.id, None)
    return sorted(sorted(shown, key=lambda item: -shown[item])[:MAX_RETIRED])


def learner_of(
    definition: PlacementDefinition,
    rows: Iterable[TallyRow] = (),
    apart: Collection[int] | None = None,
    faded: DecayedCounts | None = None,
) -> Learner:
    """A learner that has absorbed all there is, or what is left of it where it has `faded`.

    It tells the placement's segments apart, or, where some are given in `apart`, these together from all others: they
    are its segment 1, and the others its segment 0.
    """
    rows = list(rows)
    listed, retired = [item.id for item in definition.items], retired_items(definition, rows)
    items = [*listed, *retired]
    segments, values = VisitorSegments(definition.segments), values_of(definition, items, rows).tolist()
    learner = Learner(
        items,
        definition.slots,
        policy=definition.policy,
        position_bias=definition.position_bias,
        values={item: value for item, value in zip(items, values, strict=True) if value != 1.0},
        retired=retired,
        segments=len(segments) if apart is None else 2,
        features={item.id: item.features for item in definition.items if item.features} or None,
        new_items_at_most=definition.new_items_at_most,
        weighed=faded is not None,
    )
    numbers = numbered(items)

    def number(segment: int) -> int:
        return segment if apart is None else int(segment in apart)

    if faded is None:
        for segment, counted in by_segment(segments, rows).items():
            shown = shows(counted, numbers, definition.slots)
            learner.update_from_tally(*matrices(counted, numbers, definition.slots), shown, segment=number(segment))
    else:
        for segment, counts in faded.matrices(segments, numbers, definition.slots).items():
            learner.update_from_tally(*counts, segment=number(segment))
    return learner


def try_out(definition: PlacementDefinition, rows: Iterable[TallyRow] = ()) -> None:
    """Refuse what no learner takes; and compile what was never used here, if that is to be done first."""
    learner = learner_of(definition, rows)
    learner.choose()
    learner.choose_several(1)
    if definition.mode == "frozen":
        learner.choose_best()


def shows(rows: Iterable[TallyRow], numbers: Mapping[str, int], slots: int) -> IntArray:
    """How often each item was shown in one of these slots, whatever was clicked."""
    found = np.zeros(len(numbers), np.int64)
    for row in rows:
        if row.item in numbers and row.slot < slots:
            found[numbers[row.item]] += row.shows
    return found


def by_segment(segments: VisitorSegments, rows: Iterable[TallyRow]) -> dict[int, list[TallyRow]]:
    """The rows of each segment of which there are any, by its number and in order."""
    found: dict[int, list[TallyRow]] = {}
    for row in rows:
        found.setdefault(segments.number(row.segment), []).append(row)
    return dict(sorted(found.items()))


def numbered(items: Iterable[str]) -> dict[str, int]:
    """Items to their places in a tally."""
    return {item: number for number, item in enumerate(items)}


def matrices(rows: Iterable[TallyRow], numbers: Mapping[str, int], slots: int) -> tuple[IntArray, IntArray]:
    """Clicks and passes, slots × items, of all segments among the rows; what is of other slots or items is left out.

    >>> clicks, passes = matrices([TallyRow(0, "b", clicks=2, passes=5), TallyRow(7, "b", 1, 1)], {"a": 0, "b": 1}, 2)
    >>> clicks.tolist(), passes.tolist()
    ([[0, 2], [0, 0]], [[0, 5], [0, 0]])
    """
    clicks, passes = np.zeros((2, slots, len(numbers)), np.int64)
    for row in rows:
        number = numbers.get(row.item)
        if number is not None and row.slot < slots:
            clicks[row.slot, number] += row.clicks
            passes[row.slot, number] += row.passes
    return clicks, passes
