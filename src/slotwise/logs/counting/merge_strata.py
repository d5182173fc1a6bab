"""Strata put together again: their tallies and impressions are those of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from slotwise.core.types import EMPTY, IntArray
from slotwise.logs.counting.impressions import Impressions
from slotwise.logs.counting.log_tallies import LogTally

#: fields of a tally that add up
_SUMS = ("impressions", "clicked", "counted", "no_click", "multi_click")


def places_in(item_ids: Sequence[str], parts: Sequence[LogTally]) -> list[IntArray]:
    """Of each part, the places of its items among these."""
    numbers = {id: number for number, id in enumerate(item_ids)}
    return [np.array([numbers[id] for id in part.item_ids], np.int64) for part in parts]


def merge_tallies(parts: Sequence[LogTally], placement: str | None) -> LogTally:
    """One tally, with the items of all of them."""
    ids = tuple(sorted({id for part in parts for id in part.item_ids}))
    shape = max(part.slots for part in parts), len(ids)
    matrices = {name: np.zeros(shape, np.int64) for name in ("clicks", "passes", "showings")}
    for part, place in zip(parts, places_in(ids, parts), strict=True):
        for name, total in matrices.items():
            total[: part.slots, place] += getattr(part, name)
    sums = {name: sum(getattr(part, name) for part in parts) for name in _SUMS}
    first = parts[0]
    return LogTally(
        clicks=matrices["clicks"],
        passes=matrices["passes"],
        showings=matrices["showings"],
        item_ids=ids,
        placement=placement,
        **sums,
        cleaning=first.cleaning,
        rule=first.rule,
        ordered=first.ordered,
    )


def merge_impressions(parts: Sequence[Impressions], places: Sequence[IntArray], tally: LogTally) -> Impressions:
    """The impressions of all of them, as those of the tally of all."""
    shown = []
    for part, place in zip(parts, places, strict=True):
        named = np.where(part.shown == EMPTY, EMPTY, place[np.maximum(part.shown, 0)])
        shown.append(_wider(named, tally.slots, EMPTY))
    columns = {"shown": np.concatenate(shown), "clicked": np.concatenate([part.clicked for part in parts])}
    for name in ("propensity", "weight"):
        given = [getattr(part, name) for part in parts]
        if all(column is not None for column in given):
            columns[name] = np.concatenate(
                [_wider(column, tally.slots, np.nan) if column.ndim == 2 else column for column in given]
            )
    return Impressions(items=tally.items, **columns, order=pa.concat_arrays([part.order for part in parts]))


def _wider(lists: np.ndarray, slots: int, nothing: float) -> np.ndarray:
    return np.pad(lists, [(0, 0), (0, slots - lists.shape[1])], constant_values=nothing)
