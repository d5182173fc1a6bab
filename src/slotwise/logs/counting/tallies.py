"""A click log as a tally: one GROUP BY, wherever the log is.

A tally counts, for each slot and item, the clicks, and the passes: the impressions without any click in which the item
stood in that slot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.page_counts import impressions_in
from slotwise.logs.counting.streaming import PairCounts
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.options import LogOptions, apart
from slotwise.tally import Tally
from slotwise.typing import IntArray

#: of str
TextArray = np.ndarray[Any, np.dtype[np.object_]]


@dataclass(eq=False)
class LogTally(Tally):
    """A tally with the names of its items, and what the log was like. Every estimator takes it."""

    #: item j is item_ids[j]; in alphabetical order
    item_ids: tuple[str, ...]
    #: slots × items: the counted impressions in which an item stood in a slot, whatever was clicked
    showings: IntArray
    placement: str | None
    #: found in the log; of these, with a click; counted in the tally; of these, without a click; with several clicks
    impressions: int
    clicked: int
    counted: int
    no_click: int
    multi_click: int
    #: how often each rule of `slotwise.logs.RULES` was needed, in the whole log
    cleaning: Mapping[str, int]
    #: which of several clicks counts
    rule: MultiClick
    #: of the impressions with several clicks, by slot and item: shown, first, last; None if their order is not known
    several: pa.Table | None

    def under(self, rule: MultiClick) -> LogTally:
        """The tally as it would be if another one of several clicks counted, or if those impressions were left out.

        >>> log = {"impression": [1, 1, 2], "slot": [1, 2, 1], "item": ["a", "b", "a"], "clicked": [1, 1, 0]}
        >>> counted = tally(pa.table(log | {"turn": [2, 1, None]}), Columns(order="turn"))
        >>> {rule: counted.under(rule).clicks.tolist() for rule in ("first", "last", "drop")}
        {'first': [[0, 0], [0, 1]], 'last': [[1, 0], [0, 0]], 'drop': [[0, 0], [0, 0]]}
        """
        if rule == self.rule:
            return self
        if self.several is None:
            raise InvalidInput(f"multi_click={rule} needs the order of the clicks: name the column that has it")
        ids = tuple(sorted({*self.item_ids, *self.several["item"].to_pylist()}))
        slots = self.several["slot"].to_numpy() - 1
        items = pc.index_in(self.several["item"], value_set=pa.array(ids)).to_numpy()
        places = pc.index_in(pa.array(self.item_ids), value_set=pa.array(ids)).to_numpy()
        shape = max(self.slots, int(slots.max(initial=-1)) + 1), len(ids)

        def changed(before: IntArray, counts: Mapping[str, str | None]) -> IntArray:
            made = np.zeros(shape, np.int64)
            made[: self.slots, places] = before
            for sign, which in ((-1, counts[self.rule]), (1, counts[rule])):
                if which is not None:
                    assert self.several is not None
                    np.add.at(made, (slots, items), sign * self.several[which].cast(pa.int64()).to_numpy())
            return made

        impressions = int(pc.sum(self.several["first"]).as_py() or 0)
        kept = (rule != "drop") - (self.rule != "drop")
        return replace(
            self,
            clicks=changed(self.clicks, {"drop": None, "first": "first", "last": "last"}),
            passes=changed(self.passes, {"drop": None, "first": None, "last": None}),
            showings=changed(self.showings, {"drop": None, "first": "shown", "last": "shown"}),
            item_ids=ids,
            counted=self.counted + kept * impressions,
            rule=rule,
        )


def tally(
    source: Any,
    columns: Columns | None = None,
    *,
    multi_click: MultiClick | None = None,
    **options: Unpack[LogOptions],
) -> LogTally:
    """Count a click log: whatever `slotwise.logs.read` reads, with its options and those that name columns.

    >>> log = {"impression": [1, 1, 2, 2], "slot": [1, 2, 1, 2], "item": ["a", "b", "b", "a"], "clicked": [0, 1, 0, 0]}
    >>> counted = tally(pa.table(log))
    >>> counted.item_ids, counted.clicks.tolist(), counted.passes.tolist()
    (('a', 'b'), [[0, 0], [0, 1]], [[0, 1], [1, 0]])
    >>> counted.impressions, counted.no_click
    (2, 1)
    >>> renamed = pa.table(log).rename_columns(["view", "slot", "item", "hit"])
    >>> tally(renamed, impression="view", clicked="hit") == counted
    True
    """
    columns, reading = apart(columns, options)
    if columns.placement is not None:
        raise InvalidInput(
            f"a log with placements has a tally for each: use tallies, got placement={columns.placement!r}"
        )
    with clean_log(source, columns, multi_click, **reading) as log:
        (found,) = tally_by_placement(log).values()
    return found


def tallies(
    source: Any,
    columns: Columns | None = None,
    *,
    multi_click: MultiClick | None = None,
    **options: Unpack[LogOptions],
) -> dict[str, LogTally]:
    """The tally of each placement, in one pass.

    >>> log = {"page": ["x", "y"], "impression": [1, 1], "slot": [1, 1], "item": ["a", "a"], "clicked": [0, 1]}
    >>> {page: counted.clicks.tolist() for page, counted in tallies(pa.table(log), placement="page").items()}
    {'x': [[0]], 'y': [[1]]}
    """
    columns, reading = apart(columns, options)
    if columns.placement is None:
        raise InvalidInput("placement must be named for tallies of placements, got None")
    with clean_log(source, columns, multi_click, **reading) as log:
        found = tally_by_placement(log)
    return {str(placement): one for placement, one in found.items()}


def tally_by_placement(log: CleanLog) -> dict[str | None, LogTally]:
    """The tally of each placement of a cleaned log, in order of their names; under None where it has none."""
    streamed = {} if log.streamed is None else log.streamed.by_placement()
    grouped = _grouped(log)
    # all names at once: there may be thousands of placements with a few items each
    texts = [one.items for one in streamed.values()] + ([] if grouped is None else grouped["item"].chunks)
    codes, names = _coded(pa.chunked_array(texts, pa.string()))
    ends = np.cumsum([0, *(len(one.items) for one in streamed.values())])
    counts = {
        name: (codes[first:last], one)
        for (name, one), first, last in zip(streamed.items(), ends, ends[1:], strict=False)
    }
    rows = None if grouped is None else PairRows.of(grouped, codes[ends[-1] :])
    if "placement" not in log.keys:
        return {None: _tally(None, log, names, counts.get(None), rows, log.several)}
    places = sorted({*streamed, *([] if grouped is None else grouped["placement"].unique().to_pylist())}, key=str)
    several = {} if log.several is None else by_placement(log.several, places)
    parts = dict[str | None, PairRows]()
    if grouped is not None and rows is not None:
        order, last = in_order(grouped, places)
        parts = {name: rows.part(order[last[place] : last[place + 1]]) for place, name in enumerate(places)}
    return {name: _tally(name, log, names, counts.get(name), parts.get(name), several.get(name)) for name in places}


class PairRows(NamedTuple):
    """Pairs of slot and item, and their counts: impressions, clicks, impressions without a click."""

    items: IntArray
    slots: IntArray
    shown: IntArray
    clicks: IntArray
    passes: IntArray

    @classmethod
    def of(cls, grouped: pa.Table, items: IntArray) -> PairRows:
        """Of a table, and the codes of its items."""
        counts = (grouped[name].cast(pa.int64()).to_numpy() for name in ("shown", "clicks", "passes"))
        return cls(items, grouped["slot"].to_numpy() - 1, *counts)

    def part(self, rows: IntArray) -> PairRows:
        """Some of them."""
        return PairRows(*(column[rows] for column in self))


def _grouped(log: CleanLog) -> pa.Table | None:
    """By placement, slot and item, how often shown and clicked, and the passes, of what was not counted in passing."""
    if log.others is None:
        return None
    rows = log.others
    by = [key for key in log.keys if key == "placement"]
    counts = rows.group_by([*by, "slot", "item"]).aggregate(
        shown=impressions_in(rows),
        clicks=impressions_in(rows, rows.clicked),
        passes=impressions_in(rows, ~rows.page_clicked),
    )
    return counts.to_pyarrow()


def in_order(table: pa.Table, names: list[str | None]) -> tuple[IntArray, IntArray]:
    """The rows of these placements one after the other, and where those of each begin, and the last ones end."""
    codes = pc.index_in(table["placement"], value_set=pa.array(names, pa.string())).fill_null(-1).to_numpy()
    order = np.argsort(codes, kind="stable")
    return order, np.searchsorted(codes[order], np.arange(len(names) + 1))


def by_placement(table: pa.Table, names: list[str | None]) -> dict[str | None, pa.Table]:
    """The rows of each of these placements."""
    order, ends = in_order(table, names)
    # in one piece, of which there is then a part for each
    together = table.take(pa.array(order)).combine_chunks()
    return {name: together.slice(ends[place], ends[place + 1] - ends[place]) for place, name in enumerate(names)}


def _tally(
    placement: str | None,
    log: CleanLog,
    names: TextArray,
    streamed: tuple[IntArray, PairCounts] | None,
    rows: PairRows | None,
    several: pa.Table | None,
) -> LogTally:
    known = [] if streamed is None else [streamed[0]]
    known += [] if rows is None else [rows.items]
    used, codes = _used(np.concatenate(known), len(names))
    there = 0 if streamed is None else len(streamed[0])
    slots = np.zeros(0, np.int64) if rows is None else rows.slots
    filled = 0 if streamed is None else int(np.flatnonzero(streamed[1].shown.any(axis=0))[-1]) + 1
    shape = max(filled, int(slots.max(initial=-1)) + 1), len(used)

    def matrix(name: Literal["shown", "clicks", "passes"]) -> IntArray:
        made = np.zeros(shape, np.int64)
        if streamed is not None:
            made[:filled, codes[:there]] = getattr(streamed[1], name)[:, :filled].T
        if rows is not None:
            np.add.at(made, (slots, codes[there:]), getattr(rows, name))
        return made

    pages = log.pages[placement]
    return LogTally(
        clicks=matrix("clicks"),
        passes=matrix("passes"),
        item_ids=tuple(names[used].tolist()),
        showings=matrix("shown"),
        placement=placement,
        impressions=pages.impressions,
        clicked=pages.clicked,
        counted=pages.counted,
        no_click=pages.no_click,
        multi_click=pages.multi_click,
        cleaning=log.counts,
        rule=log.rule,
        several=several,
    )


def _used(codes: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Which of so many codes there are, in order, and the place of each among them."""
    if len(codes) < count:
        used, places = np.unique(codes, return_inverse=True)
        return used, places
    there = np.zeros(count, np.bool_)
    there[codes] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def _coded(texts: pa.ChunkedArray) -> tuple[IntArray, TextArray]:
    """The place of each text among the distinct ones, and these in order."""
    coded = texts.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[coded.indices.to_numpy()], coded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
