"""How well judgements from clicks order documents, against labels by people.

NDCG@10 with gains 2^label - 1 over the labelled documents that the log shows. Documents with the same score share the
mean of their gains. The folder of data holds `pages.tsv` (page, session, query, documents, clicks) and `labels.tsv`
(query, document, relevance), as in CLARA 2 (https://github.com/naver/naver-pyclick); no data are part of slotwise.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from research.log_truths.real_lists import Page, clara
from slotwise.core.errors import UnreadableFile
from slotwise.core.types import FloatArray, IntArray
from slotwise.judgements import CellCounts, count_cells, judge_counts
from slotwise.logs import Columns, LogSource, fit_placements

DEPTH = 10
#: a query with fewer pages has few clicks of its own
MIN_PAGES = 20
#: steps of expectation maximisation of click models
STEPS = 50

#: by query and document
Labels = Mapping[tuple[str, str], int]


def read_log(pages: list[Page]) -> LogSource:
    """Return pages as a log."""
    query, documents, clicks = zip(*pages, strict=True)
    lists = pa.list_(pa.string())
    table = pa.table({"query": query, "items": pa.array(documents, lists), "clicked": pa.array(clicks, lists)})
    return LogSource.of(table, Columns(item="items", placement="query"))


def read_labels(path: Path) -> dict[tuple[str, str], int]:
    """Read lines `query, document, relevance`, separated by tabs, after a header."""
    rows = (line.split("\t") for line in path.read_text().splitlines()[1:])
    return {(query, document): int(relevance) for query, document, relevance in rows}


def ndcg(scores: FloatArray, counts: CellCounts, labels: Labels) -> FloatArray:
    """Return NDCG@10 of each query by these scores of cells; NaN if no document has a label above 0."""
    values = np.full(len(counts.queries), np.nan)
    pairs = zip((counts.queries[number] for number in counts.query), counts.documents, strict=True)
    label = np.array([labels.get(pair, -1) for pair in pairs])
    weights = 1.0 / np.log2(np.arange(2, DEPTH + 2))
    for number in range(len(counts.queries)):
        mine = np.flatnonzero((counts.query == number) & (label >= 0))
        gains = 2.0 ** label[mine] - 1.0
        if not gains.any():
            continue
        _, group = np.unique(-scores[mine], return_inverse=True)
        shared = (np.bincount(group, gains) / np.bincount(group))[np.sort(group)]
        depth = min(DEPTH, len(mine))
        values[number] = (shared[:depth] @ weights[:depth]) / (np.sort(gains)[::-1][:depth] @ weights[:depth])
    return values


def scores_of(source: LogSource, pages: list[Page]) -> Iterator[tuple[str, FloatArray, CellCounts]]:
    """Yield the scores of each method, and the cells that they are of."""
    counts = count_cells(source)
    shown, clicks = counts.shown.sum(axis=0), counts.clicks.sum(axis=0)
    slots = np.arange(1, len(counts.shown) + 1)
    rates = counts.clicks.sum(axis=1) / np.maximum(1.0, counts.shown.sum(axis=1))
    yield "arbitrary order", np.zeros(len(shown)), counts
    yield "COEC", clicks / np.maximum(1e-9, rates @ counts.shown), counts
    yield "click-through rate (DCTR)", clicks / shown, counts
    yield "PBM", _pbm(counts), counts
    yield "UBM", _ubm(counts, pages), counts
    yield "number of first clicks", _first_clicks(counts, pages), counts
    yield "number of clicks", clicks, counts
    yield "impressions", shown, counts
    yield "mean rank of the page", -(slots @ counts.shown) / shown, counts
    yield "`slotwise fit`", _attractiveness(source, counts), counts
    judged = judge_counts(counts)
    yield "`slotwise judge`, place alone", judged.place, counts
    yield "`slotwise judge`, clicks alone", judged.ratio, counts
    yield "`slotwise judge`", judged.relevance, counts


def _attractiveness(source: LogSource, counts: CellCounts) -> FloatArray:
    found = {
        (fit.placement, item): value
        for fit in fit_placements(source)
        for item, value in zip(fit.item_ids, fit.estimate.attractiveness.tolist(), strict=True)
    }
    pairs = zip((counts.queries[number] for number in counts.query), counts.documents, strict=True)
    return np.array([found.get(pair, 0.0) for pair in pairs])


def _first_clicks(counts: CellCounts, pages: list[Page]) -> FloatArray:
    first = Counter(
        (query, next(click for click in clicks if click in shown))
        for query, shown, clicks in pages
        if set(clicks) & set(shown)
    )
    pairs = zip((counts.queries[number] for number in counts.query), counts.documents, strict=True)
    return np.array([float(first[pair]) for pair in pairs])


def _pbm(counts: CellCounts) -> FloatArray:
    """Return the attraction of the position-based model, with one more impression of mean attraction each."""
    attraction, examined = np.full(counts.shown.shape[1], 0.5), np.full(len(counts.shown), 0.5)
    for _ in range(STEPS):
        joint = np.outer(examined, attraction)
        skipped = counts.shown - counts.clicks
        attracted = counts.clicks + skipped * (1.0 - examined)[:, None] * attraction / (1.0 - joint)
        looked = counts.clicks + skipped * examined[:, None] * (1.0 - attraction) / (1.0 - joint)
        attraction = (attracted.sum(axis=0) + attraction.mean()) / (counts.shown.sum(axis=0) + 1.0)
        examined = (looked.sum(axis=1) + 1.0) / (counts.shown.sum(axis=1) + 2.0)
    return attraction


def _ubm(counts: CellCounts, pages: list[Page]) -> FloatArray:
    attraction, _ = ubm_parameters(pages)
    pairs = zip((counts.queries[number] for number in counts.query), counts.documents, strict=True)
    return np.array([attraction[pair] for pair in pairs])


def ubm_parameters(pages: list[Page]) -> tuple[dict[tuple[str, str], float], dict[int, float]]:
    """Return the attraction and the examination of the user browsing model.

    Examination depends on the slot and on the last click above, by the number of `browsing_places`.
    """
    usable = [page for page in pages if len(set(page[1])) == len(page[1])]
    cells: dict[tuple[str, str], int] = {}
    cell = np.array([cells.setdefault((query, each), len(cells)) for query, shown, _ in usable for each in shown])
    clicked = np.array([document in clicks for _, shown, clicks in usable for document in shown])
    place = np.array([each for _, shown, clicks in usable for each in browsing_places(shown, clicks)])
    attraction, examined = np.full(len(cells), 0.5), np.full(int(place.max()) + 1, 0.5)
    of_cell, of_place = np.bincount(cell, minlength=len(cells)), np.bincount(place)
    for _ in range(STEPS):
        joint = attraction[cell] * examined[place]
        attracted = np.where(clicked, 1.0, attraction[cell] * (1.0 - examined[place]) / (1.0 - joint))
        looked = np.where(clicked, 1.0, examined[place] * (1.0 - attraction[cell]) / (1.0 - joint))
        attraction = (np.bincount(cell, attracted, len(cells)) + attraction.mean()) / (of_cell + 1.0)
        examined = (np.bincount(place, looked) + 1.0) / (of_place + 2.0)
    return dict(zip(cells, attraction.tolist(), strict=True)), dict(enumerate(examined.tolist()))


def browsing_places(shown: list[str], clicks: list[str]) -> Iterator[int]:
    """Yield a number for each slot and the slot of the last click above it."""
    last = 0
    for slot, document in enumerate(shown, start=1):
        yield slot * (len(shown) + 1) + last
        last = slot if document in clicks else last


def half_of(query: str) -> int:
    """Return the half that a query belongs to, 0 or 1."""
    return hashlib.sha256(query.encode()).digest()[0] % 2


def _halves(queries: tuple[str, ...]) -> IntArray:
    return np.array([half_of(name) for name in queries])


def table(data: Path) -> str:
    """Return the NDCG of each method as Markdown, on all queries and on the half that no choice was made on."""
    for name in ("pages.tsv", "labels.tsv"):
        if not (data / name).is_file():
            raise UnreadableFile(f"there is no file {data / name}: the study of judgements needs labelled data")
    pages, labels = list(clara(data / "pages.tsv")), read_labels(data / "labels.tsv")
    heads = [f"queries with {MIN_PAGES} pages or more", "of these, reported half", "all queries", "reported half"]
    lines = ["| NDCG@10 by | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for method, scores, counts in scores_of(read_log(pages), pages):
        values, half, large = ndcg(scores, counts, labels), _halves(counts.queries) == 1, counts.pages >= MIN_PAGES
        groups = (large, large & half, np.ones_like(half), half)
        lines.append(f"| {method} | " + " | ".join(f"{np.nanmean(values[group]):.3f}" for group in groups) + " |")
    return "\n".join(lines) + "\n"
