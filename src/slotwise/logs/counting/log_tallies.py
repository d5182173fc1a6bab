"""A click log as a tally: one GROUP BY, wherever the log is.

A tally counts, for each slot and item, the clicks, and the passes: the impressions without any click in which the item
stood in that slot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import IntArray
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impression_counts import impressions_in
from slotwise.logs.counting.sanity_checks import missing_rows
from slotwise.logs.counting.similar_ids import ids_named_nothing, similar_ids
from slotwise.logs.counting.streaming import PairCounts
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.log_source import LogOptions, LogSource

#: of str
TextArray = np.ndarray[Any, np.dtype[np.object_]]


@dataclass(eq=False)
class LogTally(Tally):
    """A tally with the names of its items and the counts of the log. Every estimator takes it.

    Parameters
    ----------
    clicks, passes
        Slots × items, as in `Tally`.
    item_ids
        Item j is `item_ids[j]`; in alphabetical order.
    showings
        Slots × items: the counted impressions with the item in the slot.
    placement
        The name of the placement; None in a log without placements.
    impressions
        Impressions of the log.
    clicked
        Impressions with a click.
    counted
        Impressions that the tally counts.
    no_click
        Counted impressions without a click.
    multi_click
        Impressions with several clicks.
    cleaning
        How often each rule of `slotwise.logs.RULES` was applied, in the whole log.
    rule
        Which of several clicks counts.
    ordered
        Whether the log has the order of clicks.
    """

    item_ids: tuple[str, ...]
    showings: IntArray
    placement: str | None
    impressions: int
    clicked: int
    counted: int
    no_click: int
    multi_click: int
    cleaning: Mapping[str, int]
    rule: MultiClick
    ordered: bool


def tally(
    source: object,
    columns: Columns | None = None,
    *,
    multi_click: MultiClick | None = None,
    **options: Unpack[LogOptions],
) -> LogTally:
    """Count a click log of one placement.

    Parameters
    ----------
    source
        A log as `slotwise.logs.read` takes it, or a `slotwise.logs.LogSource`.
    columns
        The names of its columns.
    multi_click
        Which of several clicks counts: "first", "last" or "drop".
    options
        Names of columns, or options of `slotwise.logs.read`.

    Returns
    -------
    LogTally
        The tally with the ids of its items.

    Raises
    ------
    InvalidInput
        If the log has a column of placements.

    Examples
    --------
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
    log_source = LogSource.of(source, columns, **options)
    if log_source.columns.placement is not None:
        raise InvalidInput(
            f"a log with placements has a tally for each: use tallies, got placement={log_source.columns.placement!r}"
        )
    with clean_log(log_source, multi_click) as log:
        (single,) = tally_by_placement(log).values()
    return single


def tallies(
    source: object,
    columns: Columns | None = None,
    *,
    multi_click: MultiClick | None = None,
    **options: Unpack[LogOptions],
) -> dict[str, LogTally]:
    """Count a click log of several placements, in one pass.

    Parameters
    ----------
    source
        A log as `slotwise.logs.read` takes it, or a `slotwise.logs.LogSource`.
    columns
        The names of its columns, with `placement`.
    multi_click
        Which of several clicks counts: "first", "last" or "drop".
    options
        Names of columns, or options of `slotwise.logs.read`.

    Returns
    -------
    dict of str to LogTally
        The tally of each placement.

    Raises
    ------
    InvalidInput
        If no column of placements is named.

    Examples
    --------
    >>> log = {"page": ["x", "y"], "impression": [1, 1], "slot": [1, 1], "item": ["a", "a"], "clicked": [0, 1]}
    >>> {page: counted.clicks.tolist() for page, counted in tallies(pa.table(log), placement="page").items()}
    {'x': [[0]], 'y': [[1]]}
    """
    log_source = LogSource.of(source, columns, **options)
    if log_source.columns.placement is None:
        raise InvalidInput("placement must be named for tallies of placements, got None")
    with clean_log(log_source, multi_click) as log:
        by_placement = tally_by_placement(log)
    return {str(placement): tally for placement, tally in by_placement.items()}


def tally_by_placement(log: CleanLog) -> dict[str | None, LogTally]:
    """The tally of each placement of a cleaned log, in order of their names; under None where it has none."""
    streamed = {} if log.streamed is None else log.streamed.by_placement()
    grouped = _grouped(log)
    # all names at once: there may be thousands of placements with a few items each
    texts = [pairs.items for pairs in streamed.values()] + ([] if grouped is None else grouped["item"].chunks)
    codes, names = _coded(pa.chunked_array(texts, pa.string()))
    ends = np.cumsum([0, *(len(pairs.items) for pairs in streamed.values())])
    counts = {
        name: (codes[first:last], pairs)
        for (name, pairs), first, last in zip(streamed.items(), ends, ends[1:], strict=False)
    }
    rows = None if grouped is None else PairRows.of(grouped, codes[ends[-1] :])
    if "placement" not in log.keys:
        return _with_findings({None: _tally(None, log, names, counts.get(None), rows)}, log, names)
    places = sorted({*streamed, *([] if grouped is None else grouped["placement"].unique().to_pylist())}, key=str)
    parts = dict[str | None, PairRows]()
    if grouped is not None and rows is not None:
        order, last = _in_order(grouped, places)
        parts = {name: rows.part(order[last[place] : last[place + 1]]) for place, name in enumerate(places)}
    tallies = {name: _tally(name, log, names, counts.get(name), parts.get(name)) for name in places}
    return _with_findings(tallies, log, names)


def _with_findings(tallies: dict[str | None, LogTally], log: CleanLog, names: TextArray) -> dict[str | None, LogTally]:
    """Add to the counts of the log what only the tallies show: items of doubtful names, and missing rows."""
    item_ids = names.tolist()
    log.counts.update(missing_rows((tally, tally.showings, tally.no_click) for tally in tallies.values()))
    doubtful: dict[str, IntArray] = {
        "similar_items": np.concatenate([np.zeros(0, np.int64), *similar_ids(item_ids)]),
        "items_named_nothing": ids_named_nothing(item_ids),
    }
    for rule, places in doubtful.items():
        ids = set(names[places].tolist())
        log.counts[rule] = sum(
            int(tally.showings[:, [place for place, id in enumerate(tally.item_ids) if id in ids]].sum())
            for tally in (tallies.values() if ids else ())
        )
    return tallies


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
    """Return showings, clicks and passes by placement, slot and item, of rows that were not streamed."""
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


def _in_order(table: pa.Table, names: list[str | None]) -> tuple[IntArray, IntArray]:
    """The rows of these placements one after the other, and where those of each begin, and the last ones end."""
    codes = pc.index_in(table["placement"], value_set=pa.array(names, pa.string())).fill_null(-1).to_numpy()
    order = np.argsort(codes, kind="stable")
    return order, np.searchsorted(codes[order], np.arange(len(names) + 1))


def _tally(
    placement: str | None,
    log: CleanLog,
    names: TextArray,
    streamed: tuple[IntArray, PairCounts] | None,
    rows: PairRows | None,
) -> LogTally:
    item_codes = [] if streamed is None else [streamed[0]]
    item_codes += [] if rows is None else [rows.items]
    used, codes = _used(np.concatenate(item_codes), len(names))
    there = 0 if streamed is None else len(streamed[0])
    slots = np.zeros(0, np.int64) if rows is None else rows.slots
    filled = 0 if streamed is None else int(np.flatnonzero(streamed[1].shown.any(axis=0))[-1]) + 1
    shape = max(filled, int(slots.max(initial=-1)) + 1), len(used)

    def matrix(name: Literal["shown", "clicks", "passes"]) -> IntArray:
        cells = np.zeros(shape, np.int64)
        if streamed is not None:
            cells[:filled, codes[:there]] = getattr(streamed[1], name)[:, :filled].T
        if rows is not None:
            np.add.at(cells, (slots, codes[there:]), getattr(rows, name))
        return cells

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
        ordered=log.ordered,
    )


def _used(codes: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return the codes that occur, in order, and the place of each."""
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
