"""All clicks of every impression: what models need in which a visitor may click several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, NO_CLICK, BoolArray, IntArray
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.log_source import LogOptions, LogSource
from slotwise.logs.reading.sql_functions import bucket

#: a larger log is sampled down to about this many impressions, which distinguish models as well
MAX_IMPRESSIONS = 200_000
#: impressions are sampled by a hash of their id, which falls into one of this many parts
PARTS = 1_000_003


@dataclass(frozen=True, eq=False)
class ClickSets:
    """The impressions of one placement: lists, all clicks, and the first click."""

    placement: str | None
    item_ids: tuple[str, ...]
    #: impressions × slots; EMPTY where there was nothing
    shown: IntArray
    clicks: BoolArray
    #: the slot of the first click, or NO_CLICK
    first: IntArray
    #: how many impressions each stands for
    times: IntArray
    #: whether the first click is that in time; otherwise it is the uppermost
    ordered: bool = False

    @property
    def slots(self) -> int:
        """K."""
        return int(self.shown.shape[1])

    @property
    def items(self) -> int:
        """J."""
        return len(self.item_ids)

    @property
    def impressions(self) -> int:
        """How many there are."""
        return int(self.times.sum())

    @property
    def several(self) -> int:
        """In how many more than one item was clicked."""
        return int(self.times[self.clicks.sum(axis=1) > 1].sum())

    @property
    def rankings(self) -> Rankings:
        """With the first clicks only."""
        hit = self.first[:, None] == np.arange(self.slots)
        return Rankings(
            self.shown,
            hit * self.times[:, None],
            np.where(self.first == NO_CLICK, self.times, 0),
            items=self.items,
        )

    def some(self, times: IntArray) -> ClickSets:
        """Return the sets with these multiplicities."""
        is_used = times > 0
        return ClickSets(
            self.placement,
            self.item_ids,
            self.shown[is_used],
            self.clicks[is_used],
            self.first[is_used],
            times[is_used],
            self.ordered,
        )

    def split(self, part: float, rng: np.random.Generator) -> tuple[ClickSets, ClickSets]:
        """Each impression goes to the first of the two with probability `part`."""
        taken = rng.binomial(self.times, part)
        return self.some(taken), self.some(self.times - taken)


def click_sets(source: object, columns: Columns | None = None, **options: Unpack[LogOptions]) -> list[ClickSets]:
    """All clicks of each placement of a log, in order of their names; a large log is sampled.

    >>> log = {"items": [["tea", "milk"], ["milk", "tea"]], "clicked": [["milk", "tea"], []]}
    >>> (found,) = click_sets(pa.table(log))
    >>> found.item_ids, found.shown.tolist(), found.clicks.tolist(), found.first.tolist()
    (('milk', 'tea'), [[0, 1], [1, 0]], [[False, False], [True, True]], [-1, 1])
    """
    with clean_log(LogSource.of(source, columns, **options), every_click=True, first_clicks=True) as log:
        rows, first = _rows(log), log.first_clicks
    if "placement" not in rows.column_names:
        return [_sets(None, rows, first)]
    names = sorted(rows["placement"].unique().to_pylist())
    of_first = dict.fromkeys(names) if first is None else _by_placement(first, names)
    return [_sets(name, part, of_first[name]) for name, part in _by_placement(rows, names).items()]


def _rows(log: CleanLog) -> pa.Table:
    """The rows of all impressions, or of a sample of them."""
    rows, total = log.rows, sum(page.counted for page in log.pages.values())
    if total > MAX_IMPRESSIONS:
        rows = rows.filter(bucket([rows[key] for key in log.keys], PARTS) < int(PARTS * MAX_IMPRESSIONS / total))
    names = [*log.keys, "slot", "item", "clicked", *(["weight"] if "weight" in rows.columns else [])]
    return rows.select(*names).to_pyarrow()


def _by_placement(table: pa.Table, names: list[str]) -> dict[str, pa.Table]:
    codes = pc.index_in(table["placement"], value_set=pa.array(names)).fill_null(-1).to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {name: table.take(pa.array(order[ends[place] : ends[place + 1]])) for place, name in enumerate(names)}


def _sets(placement: str | None, rows: pa.Table, first_in_time: pa.Table | None) -> ClickSets:
    coded = rows["impression"].combine_chunks().dictionary_encode()
    pages, places = coded.indices.to_numpy(), rows["slot"].to_numpy() - 1
    item_ids = tuple(sorted(rows["item"].unique().to_pylist()))
    count, slots = len(coded.dictionary), int(places.max(initial=0)) + 1
    shown, clicks = np.full((count, slots), EMPTY), np.zeros((count, slots), np.bool_)
    shown[pages, places] = pc.index_in(rows["item"], value_set=pa.array(item_ids)).to_numpy()
    clicks[pages, places] = np.asarray(rows["clicked"])
    times = np.ones(count, np.int64)
    if "weight" in rows.column_names:
        times[pages] = rows["weight"].to_numpy()
    first = np.where(clicks.any(axis=1), clicks.argmax(axis=1), NO_CLICK)
    if first_in_time is not None:
        of_page = pc.index_in(first_in_time["impression"], value_set=coded.dictionary).fill_null(-1).to_numpy()
        is_known = of_page >= 0
        first[of_page[is_known]] = first_in_time["slot"].to_numpy()[is_known] - 1
    return _merged(ClickSets(placement, item_ids, shown, clicks, first, times, first_in_time is not None))


def _merged(sets: ClickSets) -> ClickSets:
    """Merge impressions with the same list and clicks."""
    lines = np.column_stack([sets.shown, sets.clicks, sets.first])
    _, first, place = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    times = np.bincount(place.ravel(), weights=sets.times).astype(np.int64)
    return ClickSets(
        sets.placement,
        sets.item_ids,
        sets.shown[first],
        sets.clicks[first],
        sets.first[first],
        times,
        sets.ordered,
    )
