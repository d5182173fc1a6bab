"""Learners from a definition and the store's rows, and matrices of counts."""

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

#: retired items in a learner, those shown most: their counts inform the position bias
MAX_RETIRED: Final = 20_000


def retired_items(definition: PlacementDefinition, rows: Iterable[TallyRow]) -> list[str]:
    """The items with counts that are no longer in the definition, in order of id."""
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
    decayed: DecayedCounts | None = None,
) -> Learner:
    """A learner that has learned from all counts, or from decayed ones.

    Parameters
    ----------
    definition
        The definition of the placement.
    rows
        The rows of its tally.
    apart
        Segments that are merged into the learner's segment 1, with all others in its segment 0; None for the
        placement's own segments.
    decayed
        Counts by period with their decay, used in place of the tally's.
    """
    rows = list(rows)
    ids, retired = [item.id for item in definition.items], retired_items(definition, rows)
    items = [*ids, *retired]
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
        weighed=decayed is not None,
    )
    numbers = numbered(items)

    def number(segment: int) -> int:
        return segment if apart is None else int(segment in apart)

    if decayed is None:
        for segment, group in by_segment(segments, rows).items():
            shown = shows(group, numbers, definition.slots)
            learner.update_from_tally(*matrices(group, numbers, definition.slots), shown, segment=number(segment))
    else:
        for segment, counts in decayed.matrices(segments, numbers, definition.slots).items():
            learner.update_from_tally(*counts, segment=number(segment))
    return learner


def try_out(definition: PlacementDefinition, rows: Iterable[TallyRow] = ()) -> None:
    """Raise if no learner accepts the definition; compiles kernels if these are to be compiled first."""
    learner = learner_of(definition, rows)
    learner.choose()
    learner.choose_several(1)
    if not definition.exploring:
        learner.choose_best()


def shows(rows: Iterable[TallyRow], numbers: Mapping[str, int], slots: int) -> IntArray:
    """How often each item was shown in one of these slots."""
    shows_by_item = np.zeros(len(numbers), np.int64)
    for row in rows:
        if row.item in numbers and row.slot < slots:
            shows_by_item[numbers[row.item]] += row.shows
    return shows_by_item


def by_segment(segments: VisitorSegments, rows: Iterable[TallyRow]) -> dict[int, list[TallyRow]]:
    """The rows of each segment, by its number and in order; segments without rows are left out."""
    rows_by_segment: dict[int, list[TallyRow]] = {}
    for row in rows:
        rows_by_segment.setdefault(segments.number(row.segment), []).append(row)
    return dict(sorted(rows_by_segment.items()))


def numbered(items: Iterable[str]) -> dict[str, int]:
    """Items to their column numbers in a tally."""
    return {item: number for number, item in enumerate(items)}


def matrices(rows: Iterable[TallyRow], numbers: Mapping[str, int], slots: int) -> tuple[IntArray, IntArray]:
    """Clicks and passes, slots × items, over all segments of the rows; other slots and items are left out.

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
