"""Simulated queries with known relevance of their documents."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from slotwise.core.types import FloatArray
from slotwise.judgements import CellCounts

SLOTS, DOCUMENTS = 5, 8
#: the chance that a slot is looked at
LOOKED_AT = np.array([1.0, 0.6, 0.4, 0.25, 0.15])


def search_log(
    rng: np.random.Generator, queries: int, pages: int, noise: float
) -> tuple[CellCounts, FloatArray, pa.Table]:
    """Return counts, relevance by cell, and the log: pages sort by relevance with a new error each, or at random."""
    relevance = np.exp(rng.normal(-2.0, 0.8, (queries, DOCUMENTS))).clip(max=0.9)
    shown, clicks = np.zeros((2, SLOTS, queries * DOCUMENTS))
    lists, clicked, names = [], [], []
    for query in range(queries):
        for _ in range(pages):
            judged = np.log(relevance[query]) + noise * rng.normal(size=DOCUMENTS)
            page = np.argsort(-judged)[:SLOTS]
            hits = rng.random(SLOTS) < LOOKED_AT * relevance[query, page]
            shown[np.arange(SLOTS), query * DOCUMENTS + page] += 1
            clicks[np.arange(SLOTS), query * DOCUMENTS + page] += hits
            lists.append([f"d{number}" for number in page])
            clicked.append([f"d{number}" for number in page[hits]])
            names.append(f"q{query:03d}")
    seen = np.flatnonzero(shown.any(axis=0))
    counts = CellCounts(
        tuple(f"q{query:03d}" for query in range(queries)),
        np.full(queries, float(pages)),
        seen // DOCUMENTS,
        tuple(f"d{number}" for number in seen % DOCUMENTS),
        shown[:, seen],
        clicks[:, seen],
        {},
    )
    log = pa.table({"query": names, "items": lists, "clicked": pa.array(clicked, pa.list_(pa.string()))})
    return counts, relevance.ravel()[seen], log
