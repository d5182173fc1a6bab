"""The counts of a log by query and document: impressions in each slot, and clicks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

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
    """

    queries: tuple[str, ...]
    pages: FloatArray
    query: IntArray
    documents: tuple[str, ...]
    shown: FloatArray
    clicks: FloatArray
    cleaning: Mapping[str, int]


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
        table = (
            rows.group_by(keys)
            .aggregate(shown=impressions_in(rows), clicks=impressions_in(rows, rows.clicked))
            .order_by(keys)
            .to_pyarrow()
        )
        pages = {name or ONE_QUERY: page.counted for name, page in log.pages.items() if page.counted}
        cleaning = dict(log.counts)
    if not len(table):
        raise InvalidInput(f"{source.name} has no impression to count: see what was left out by slotwise fit")
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
    queries, ids = tuple(query.dictionary.to_pylist()), document.dictionary.to_pylist()
    return CellCounts(
        queries,
        np.array([pages[name] for name in queries], np.float64),
        numbers[begins],
        tuple(ids[item] for item in items[begins]),
        shown,
        clicks,
        cleaning,
    )
