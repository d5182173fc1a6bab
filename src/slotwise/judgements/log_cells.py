"""The counts of a log by query and document: impressions in each slot, and clicks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray, IntArray
from slotwise.logs.counting.cleaning import clean_log
from slotwise.logs.counting.impression_counts import impressions_in
from slotwise.logs.reading.log_source import LogSource

#: the name of the query in a log without a column of queries
ONE_QUERY = "all"


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts by cell, a document of a query; the cells of a query follow each other.

    Parameters
    ----------
    queries
        The names of the queries.
    pages
        The impressions of each query.
    query
        The number of the query of each cell.
    documents
        The id of the document of each cell.
    shown
        Slots × cells: the impressions with the document in the slot.
    clicks
        Slots × cells: the clicks on the document in the slot.
    cleaning
        How often each rule of `slotwise.logs.RULES` was applied.
    values
        2 × cells: the sum of the values of clicks, and of their squares; None if the log has no values.
    """

    queries: tuple[str, ...]
    pages: FloatArray
    query: IntArray
    documents: tuple[str, ...]
    shown: FloatArray
    clicks: FloatArray
    cleaning: Mapping[str, int]
    values: FloatArray | None = None


def count_cells(source: LogSource) -> CellCounts:
    """Count all clicks of a log, those of pages with several clicks as well.

    Parameters
    ----------
    source
        The log; its placements are the queries.

    Returns
    -------
    CellCounts
        The counts of every query and document.

    Raises
    ------
    InvalidInput
        If the log has no impression to count, or no click.
    """
    with clean_log(source, every_click=True) as log:
        rows = log.rows
        keys = [name for name in ("placement", "item", "slot") if name in rows.columns]
        counted = {"shown": impressions_in(rows), "clicks": impressions_in(rows, rows.clicked)}
        if "value" in rows.columns:
            worth = rows.value.fill_null(0.0) * (rows.weight if "weight" in rows.columns else 1)
            counted["value"] = worth.sum(where=rows.clicked).fill_null(0.0)
            counted["square"] = (worth * rows.value.fill_null(0.0)).sum(where=rows.clicked).fill_null(0.0)
            counted["negative"] = (rows.value < 0.0).sum()
        table = rows.group_by(keys).aggregate(**counted).order_by(keys).to_pyarrow()
        pages = {name or ONE_QUERY: page.counted for name, page in log.pages.items() if page.counted}
        cleaning = dict(log.counts)
    if not len(table):
        raise InvalidInput(f"{source.name} has no impression to count: see what was left out by slotwise fit")
    if "value" in table.column_names and pc.sum(table["negative"]).as_py():
        raise InvalidInput(f"{source.columns.value} must be values of 0 or more, got some below 0")
    counts = _cells(table, pages, cleaning)
    if not counts.clicks.any():
        raise InvalidInput(f"{source.name} has no click on a document that was shown: there is nothing to judge by")
    return counts


def _cells(table: pa.Table, pages: Mapping[str, int], cleaning: Mapping[str, int]) -> CellCounts:
    """Turn rows of query, document and slot, in this order, into arrays."""
    names = table["placement"] if "placement" in table.column_names else pa.array([ONE_QUERY] * len(table))
    query = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    query, document = query.dictionary_encode(), table["item"].combine_chunks().dictionary_encode()
    numbers, items = (each.indices.to_numpy().astype(np.int64) for each in (query, document))
    begins = np.append(True, (np.diff(numbers) != 0) | (np.diff(items) != 0))
    cell, slot = np.cumsum(begins) - 1, table["slot"].to_numpy().astype(np.int64) - 1
    shown, clicks = np.zeros((2, int(slot.max()) + 1, int(cell[-1]) + 1))
    shown[slot, cell], clicks[slot, cell] = table["shown"].to_numpy(), table["clicks"].to_numpy()
    values = None
    if "value" in table.column_names:
        values = np.array([np.bincount(cell, table[name].to_numpy()) for name in ("value", "square")])
    queries, ids = tuple(query.dictionary.to_pylist()), document.dictionary.to_pylist()
    return CellCounts(
        queries,
        np.array([pages[name] for name in queries], np.float64),
        numbers[begins],
        tuple(ids[item] for item in items[begins]),
        shown,
        clicks,
        cleaning,
        values,
    )
