"""Learners from a definition and the store's rows, and matrices of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from slotwise.core.types import IntArray
from slotwise.ranker import Learner
from slotwise.ranker.policy_options import policy_for
from slotwise.service.learning.click_values import values_of
from slotwise.service.learning.decay import DecayedCounts
from slotwise.service.schemas.definition import MAX_CANDIDATES, PlacementDefinition
from slotwise.service.schemas.item_schema import MAX_FEATURES
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.storage import Store
from slotwise.service.storage.candidate_items import CandidateItem
from slotwise.service.storage.count_rows import TallyRow
from slotwise.service.storage.decision_types import Features

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
    candidates: Sequence[CandidateItem] = (),
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
    candidates
        Items that only candidates of decisions name.
    """
    rows = list(rows)
    ids, hidden = [item.id for item in definition.items], retired_items(definition, rows)
    features: dict[str, Features] = {item.id: item.features for item in definition.items if item.features}
    if definition.max_items is not None:
        hidden = sorted({*hidden, *(candidate.item for candidate in candidates)}.difference(ids))
        features = with_candidates(definition, features, candidates)
    items = [*ids, *hidden]
    segments, values = VisitorSegments(definition.segments), values_of(definition, items, rows).tolist()
    learner = Learner(
        items,
        definition.slots,
        policy=definition.policy,
        position_bias=definition.position_bias,
        values={item: value for item, value in zip(items, values, strict=True) if value != 1.0},
        retired=hidden if definition.max_items is None else (),
        reserve=() if definition.max_items is None else hidden,
        # as many as there are may come before it is made again
        spare=0 if definition.max_items is None else MAX_CANDIDATES + len(candidates),
        segments=len(segments) if apart is None else 2,
        features=features or None,
        new_items_at_most=definition.new_items_at_most,
        weighed=decayed is not None,
    )
    if definition.learns_values:
        (average,) = values_of(definition, [""], rows)
        for item in learner.spare:
            learner.set_value(item, average)
    numbers = numbered(learner.items)

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


def read_candidates(
    store: Store, name: str, definition: PlacementDefinition, since: int = 0
) -> Sequence[CandidateItem]:
    """The candidate items that changed since a revision; none if the placement learns none."""
    return () if definition.max_items is None else store.candidate_items(name, since)


def with_candidates(
    definition: PlacementDefinition, features: Mapping[str, Features], candidates: Sequence[CandidateItem]
) -> dict[str, Features]:
    """Features of items together with those of candidate items, as far as they agree and the policy can use them.

    Callers may have sent a number and a text under the same name, or ever more names: the first kind and the most
    common names are used.
    """
    combined: dict[str, Features] = dict(features)
    if not policy_for(definition.policy, definition.bias()).pools:
        return combined
    kinds = {name: isinstance(value, str) for of_item in features.values() for name, value in of_item.items()}
    common = Counter(name for candidate in candidates for name in candidate.features if name not in kinds)
    for name, _ in sorted(common.items(), key=lambda pair: (-pair[1], pair[0]))[: MAX_FEATURES - len(kinds)]:
        first = next(candidate.features[name] for candidate in candidates if name in candidate.features)
        kinds[name] = isinstance(first, str)
    for candidate in candidates:
        usable = {
            name: value for name, value in candidate.features.items() if kinds.get(name) is isinstance(value, str)
        }
        if usable:
            combined.setdefault(candidate.item, usable)
    return combined


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
