"""Impressions out of a cleaned log: which items were shown together, and which of them was clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, FloatArray, IntArray
from slotwise.logs.counting.cleaning import CleanLog
from slotwise.logs.counting.group_by_impression import OPTIONAL
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.counting.streaming import Streamed
from slotwise.logs.reading.sql_functions import bucket

#: impressions are sampled by a hash of their id, which falls into one of this many parts
PARTS = 1_000_003
PROPENSITY = "propensity must be the same in all rows of an impression, the probability of its whole list"
WEIGHT = "weight must be the same in all rows of an impression"


@dataclass(frozen=True, eq=False)
class Impressions:
    """The impressions of one placement: the list, the clicked slot, and the propensity if it was logged."""

    items: int
    #: impressions × slots
    shown: IntArray
    clicked: IntArray
    #: of each list, or impressions × slots; NaN where it is not known
    propensity: Any = None
    #: how many impressions each stands for; None if one
    weight: Any = None
    #: their ids, or places in the log, which put them in order; None if neither is known
    order: Any = None

    @classmethod
    def of_runs(cls, runs: IntArray, items: IntArray, marks: IntArray, counted: LogTally) -> Impressions:
        """From rows with the number of their impression, which rises, and marks as in `Rows`."""
        pages = np.cumsum(np.diff(runs, prepend=-1) > 0) - 1
        count = int(pages.max(initial=-1)) + 1
        shown, clicked = _lists(pages, (marks >> 1) - 1, items, (marks & 1) == 1, (count, counted.slots))
        return cls(counted.items, shown, clicked, order=np.arange(count))

    def __add__(self, other: Impressions) -> Impressions:
        """Those of both, which have neither propensities nor weights."""
        both = self, other
        shown, clicked = (np.concatenate([getattr(part, name) for part in both]) for name in ("shown", "clicked"))
        # the others were gathered by their ids, and left the order of the log
        return Impressions(self.items, shown, clicked, order=self.order)

    @property
    def rankings(self) -> Rankings:
        """The distinct lists, counted."""
        if self.weight is not None:
            hit = self.clicked[:, None] == np.arange(self.shown.shape[1])
            passes = np.where(self.clicked == NO_CLICK, self.weight, 0)
            return Rankings(self.shown, hit * self.weight[:, None], passes, items=self.items)
        return Rankings.of_valid_rounds(self.shown, self.clicked, items=self.items)

    @property
    def quarters(self) -> IntArray:
        """The quarter of the log, 0 to 3, of those with an order, which come first.

        Numbers rise, and texts too: of two texts the shorter comes first.

        >>> shown, clicked = np.zeros((4, 1), np.int64), np.zeros(4, np.int64)
        >>> Impressions(1, shown, clicked, order=["v9", "v11", "v10", "v8"]).quarters
        array([1, 3, 2, 0])
        """
        if self.order is None:
            return np.zeros(0, np.int64)
        ids = pa.array(self.order)
        columns = {"id": ids}
        if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
            columns = {"length": pc.binary_length(ids), "id": ids}
        ranked = pc.sort_indices(pa.table(columns), [(name, "ascending") for name in columns]).to_numpy()
        quarters = np.empty(len(ranked), np.int64)
        quarters[ranked] = 4 * np.arange(len(ranked)) // max(1, len(ranked))
        return quarters


def impressions_by_placement(
    log: CleanLog, counted: Mapping[str | None, LogTally], at_most: int | None
) -> tuple[dict[str | None, Impressions], bool]:
    """The impressions of every placement, and whether they are a sample: of about `at_most`, drawn by their ids."""
    total = sum(tally.counted for tally in counted.values())
    share = 1.0 if at_most is None or total <= at_most else at_most / total
    if log.streamed is None or log.streamed.sample.share < share:
        return _of_rows(log, log.rows, share, counted), share < 1.0
    impressions = _of_sample(log.streamed, share, counted)
    if log.others is not None:
        irregular = _of_rows(log, log.others, share, counted)
        impressions = {
            name: impressions[name] + irregular[name] if name in impressions else irregular[name] for name in counted
        }
    return impressions, share < 1.0


def _of_sample(
    streamed: Streamed, share: float, counted: Mapping[str | None, LogTally]
) -> dict[str | None, Impressions]:
    """Of the impressions that were kept while the log was read, those drawn among this share."""
    lots, lengths, pairs, marks = streamed.sample.whole()
    is_sampled = np.repeat(lots < share, lengths)
    runs, pairs, marks = np.repeat(np.arange(len(lots)), lengths)[is_sampled], pairs[is_sampled], marks[is_sampled]
    items = streamed.item_places({name: tally.item_ids for name, tally in counted.items()})[pairs]
    order = np.argsort(streamed.group[pairs], kind="stable")
    ends = np.searchsorted(streamed.group[pairs][order], np.arange(len(streamed.placements) + 1))
    impressions = {}
    for place, name in enumerate(streamed.placements):
        mine = order[ends[place] : ends[place + 1]]
        if name in counted:
            impressions[name] = Impressions.of_runs(runs[mine], items[mine], marks[mine], counted[name])
    return impressions


def _of_rows(
    log: CleanLog, rows: ir.Table, share: float, counted: Mapping[str | None, LogTally]
) -> dict[str | None, Impressions]:
    if share < 1.0:
        rows = rows.filter(bucket([rows[key] for key in log.keys], PARTS) < int(PARTS * share))
    names = [*log.keys, "slot", "item", "clicked", *(name for name in OPTIONAL if name in rows.columns)]
    return of_rows(rows.select(*names).to_pyarrow(), counted)


def of_rows(rows: pa.Table, counted: Mapping[str | None, LogTally]) -> dict[str | None, Impressions]:
    """From rows as in `CleanLog.rows`, with the items of tallies of them.

    All placements are looked at together: there may be thousands, with a few impressions each.
    """
    group = np.zeros(len(rows), np.int64)
    if "placement" in rows.column_names:
        codes = pc.index_in(rows["placement"], value_set=pa.array(list(counted), pa.string()))
        group = codes.to_numpy().astype(np.int64)
    impression = rows["impression"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first, pages = np.unique(
        group * (impression.max(initial=0) + 1) + impression, return_index=True, return_inverse=True
    )
    ends = np.searchsorted(group[first], np.arange(len(counted) + 1))
    every = list(counted.values())
    places = rows["slot"].to_numpy() - 1
    shape = len(first), max(tally.slots for tally in every)
    shown, clicked = _lists(pages, places, _item_places(rows["item"], group, every), np.asarray(rows["clicked"]), shape)
    propensity, weight = _propensity(rows, pages, places, shape), None
    if "weight" in rows.column_names:
        given = rows["weight"].cast(pa.float64()).to_numpy()
        weight = _per_page(WEIGHT, given, pages, len(first)).astype(np.int64)
    ids = rows["impression"].combine_chunks().take(pa.array(first))
    impressions = {}
    for (name, tally), start, end in zip(counted.items(), ends, ends[1:], strict=False):
        mine = slice(start, end)
        own_propensity = None if propensity is None else propensity[mine, ...]
        impressions[name] = Impressions(
            tally.items,
            shown[mine, : tally.slots],
            clicked[mine],
            own_propensity if own_propensity is None or own_propensity.ndim == 1 else own_propensity[:, : tally.slots],
            None if weight is None else weight[mine],
            ids[start:end],
        )
    return impressions


def _lists(
    pages: IntArray, places: IntArray, items: IntArray, hit: BoolArray, shape: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    """Return the list and the clicked slot of each impression, from rows."""
    shown: IntArray = np.full(shape, EMPTY)
    shown[pages, places] = items
    clicked: IntArray = np.full(shape[0], NO_CLICK)
    clicked[pages[hit]] = places[hit]
    return shown, clicked


def _item_places(items: pa.ChunkedArray, group: IntArray, counted: Sequence[LogTally]) -> IntArray:
    """The place of each item among those of its placement's tally."""
    ids = pa.array([id for tally in counted for id in tally.item_ids], pa.string())
    if len(counted) == 1:
        return np.asarray(pc.index_in(items, value_set=ids).to_numpy())
    names = ids.unique()
    sizes = [tally.items for tally in counted]
    # a number for every pair of placement and item
    codes = np.repeat(np.arange(len(counted)), sizes) * len(names) + pc.index_in(ids, value_set=names).to_numpy()
    order = np.argsort(codes)
    wanted = group * len(names) + pc.index_in(items, value_set=names).to_numpy()
    places = order[np.searchsorted(codes, wanted, sorter=order)]
    return np.asarray(places - np.concatenate([[0], np.cumsum(sizes)])[group])


def _propensity(rows: pa.Table, pages: IntArray, places: IntArray, shape: tuple[int, int]) -> FloatArray | None:
    """Of each list, or impressions × slots; None if the rows have none."""
    name = next((name for name in ("propensity", "item_propensity") if name in rows.column_names), None)
    if name is None:
        return None
    given = rows[name].cast(pa.float64()).to_numpy()
    _refuse_improbable(given)
    if name == "propensity":
        return _per_page(PROPENSITY, given, pages, shape[0])
    propensity = np.full(shape, np.nan)
    propensity[pages, places] = given
    return propensity


def _refuse_improbable(values: np.ndarray) -> None:
    wrong = values[~np.isnan(values) & ~((values > 0.0) & (values <= 1.0))]
    if wrong.size:
        raise InvalidInput(
            f"propensity must be a probability, above 0 and at most 1, got {wrong[0]:.6g} (in {wrong.size:,} of "
            f"{values.size:,} rows it is not)"
        )


def _per_page(what: str, values: np.ndarray, pages: np.ndarray, count: int) -> np.ndarray:
    """One value per impression; refuses rows of one impression that disagree."""
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, pages, values)
    np.maximum.at(highest, pages, values)
    differ = np.flatnonzero(highest - lowest > 1e-9 * np.abs(highest))
    if differ.size:
        raise InvalidInput(
            f"{what}, got {lowest[differ[0]]:.6g} and {highest[differ[0]]:.6g} in one ({len(differ):,} of {count:,} "
            "differ)"
        )
    return np.where(np.isfinite(highest), highest, np.nan)
