"""A click log as a tally: one GROUP BY, wherever the log is.

A tally counts, for each slot and item, the clicks, and the passes: the impressions without any click in which the item
stood in that slot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.sources import ReadOptions
from slotwise.tally import Tally
from slotwise.typing import IntArray


@dataclass(eq=False)
class LogTally(Tally):
    """A tally with the names of its items, and what the log was like. Every estimator takes it."""

    #: item j is item_ids[j]; in alphabetical order
    item_ids: tuple[str, ...]
    #: slots × items: the counted impressions in which an item stood in a slot, whatever was clicked
    showings: IntArray
    placement: str | None
    #: found in the log; counted in the tally; of these, without a click; with clicks on several items
    impressions: int
    counted: int
    no_click: int
    multi_click: int
    #: how often each rule of `slotwise.logs.RULES` was needed, in the whole log
    cleaning: Mapping[str, int]


def tally(
    source: Any,
    columns: Columns | None = None,
    *,
    multi_click: MultiClick | None = None,
    **reading: Unpack[ReadOptions],
) -> LogTally:
    """Count a click log: whatever `slotwise.logs.read` reads, with its options.

    >>> log = {"impression": [1, 1, 2, 2], "slot": [1, 2, 1, 2], "item": ["a", "b", "b", "a"], "clicked": [0, 1, 0, 0]}
    >>> counted = tally(pa.table(log))
    >>> counted.item_ids, counted.clicks.tolist(), counted.passes.tolist()
    (('a', 'b'), [[0, 0], [0, 1]], [[0, 1], [1, 0]])
    >>> counted.impressions, counted.no_click
    (2, 1)
    """
    columns = columns or Columns()
    if columns.placement is not None:
        raise InvalidInput(
            f"a log with placements has a tally for each: use tallies, got placement={columns.placement!r}"
        )
    with clean_log(source, columns, multi_click, **reading) as log:
        (found,) = tally_by_placement(log).values()
    return found


def tallies(
    source: Any,
    columns: Columns,
    *,
    multi_click: MultiClick | None = None,
    **reading: Unpack[ReadOptions],
) -> dict[str, LogTally]:
    """The tally of each placement, in one pass.

    >>> log = {"page": ["x", "y"], "impression": [1, 1], "slot": [1, 1], "item": ["a", "a"], "clicked": [0, 1]}
    >>> {page: counted.clicks.tolist() for page, counted in tallies(pa.table(log), Columns(placement="page")).items()}
    {'x': [[0]], 'y': [[1]]}
    """
    if columns.placement is None:
        raise InvalidInput("columns must name the placement, got None")
    with clean_log(source, columns, multi_click, **reading) as log:
        found = tally_by_placement(log)
    return {str(placement): one for placement, one in found.items()}


def tally_by_placement(log: CleanLog) -> dict[str | None, LogTally]:
    """The tally of each placement of a cleaned log, in order of their names; under None where it has none."""
    rows = log.rows
    by = [key for key in log.keys if key == "placement"]
    grouped = rows.group_by([*by, "slot", "item"]).aggregate(
        shown=rows.count(),
        clicks=rows.count(where=rows.clicked),
        passes=rows.count(where=~rows.page_clicked),
    )
    counts = grouped.to_pyarrow()
    if not by:
        return {None: _tally(counts, None, log)}
    codes, names = _coded(counts["placement"])
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {
        name: _tally(counts.take(pa.array(order[ends[place] : ends[place + 1]])), name, log)
        for place, name in enumerate(names)
    }


def _tally(counts: pa.Table, placement: str | None, log: CleanLog) -> LogTally:
    items, item_ids = _coded(counts["item"])
    slots = counts["slot"].to_numpy() - 1
    shape = int(slots.max()) + 1, len(item_ids)

    def matrix(name: str) -> IntArray:
        made = np.zeros(shape, np.int64)
        made[slots, items] = counts[name].cast(pa.int64()).to_numpy()
        return made

    pages = log.pages[placement]
    return LogTally(
        clicks=matrix("clicks"),
        passes=matrix("passes"),
        item_ids=item_ids,
        showings=matrix("shown"),
        placement=placement,
        impressions=pages.impressions,
        counted=pages.counted,
        no_click=pages.no_click,
        multi_click=pages.multi_click,
        cleaning=log.counts,
    )


def _coded(texts: pa.ChunkedArray) -> tuple[IntArray, tuple[str, ...]]:
    """The distinct texts in order, and the place of each text among them."""
    coded = texts.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[coded.indices.to_numpy()], tuple(coded.dictionary.take(pa.array(order)).to_pylist())
