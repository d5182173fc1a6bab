"""Counts by query and document."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.judgements import count_cells
from slotwise.logs import LogSource
from tests.judgements.simulated_search import search_log


def test_counts_are_those_of_the_pages() -> None:
    """All clicks of a page count."""
    wanted, _, log = search_log(np.random.default_rng(1), queries=6, pages=10, noise=0.5)
    counts = count_cells(LogSource.of(log, item="items", placement="query"))
    assert counts.queries == wanted.queries
    assert counts.documents == wanted.documents
    assert (counts.query == wanted.query).all()
    assert (counts.pages == wanted.pages).all()
    assert (counts.shown == wanted.shown).all()
    assert (counts.clicks == wanted.clicks).all()


def test_a_log_without_queries_is_one_query() -> None:
    log = pa.table({"impression": [1, 1], "slot": [1, 2], "item": ["a", "b"], "clicked": [1, 0]})
    assert count_cells(LogSource.of(log)).queries == ("all",)


def test_a_log_without_clicks_is_refused() -> None:
    log = pa.table({"impression": [1, 1], "slot": [1, 2], "item": ["a", "b"], "clicked": [0, 0]})
    with pytest.raises(InvalidInput, match="no click"):
        count_cells(LogSource.of(log))
