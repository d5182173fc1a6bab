"""The lists of real logs, and multinomial logits that are fitted to them without slotwise.

The parameters of a fit serve as a truth: clicks are drawn anew on the same lists, and slotwise's fit to these clicks is
compared with it. The independent fit maximises the likelihood with normal priors of log α and log λ by L-BFGS. It knows
nothing of where or how often an item was shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from research.log_study.simulated_logs import Placement
from slotwise.core.rankings import Rankings
from slotwise.core.types import EMPTY, FloatArray, IntArray

#: the standard deviation of the normal prior of log α
ITEM_SPREAD = 1.0
#: a query with fewer pages is left out
MIN_PAGES = 20
#: a page of a log: its query, the documents from the first slot on, and the documents clicked in order
Page = tuple[str, list[str], list[str]]


class QueryLists(NamedTuple):
    """The distinct lists of one query, with items from 0 or EMPTY; the first clicks on each, and its pages."""

    shown: IntArray
    clicks: IntArray
    times: IntArray
    items: int


def yandex(path: Path) -> Iterator[Page]:
    """Read records `query TAB documents : clicks`, separated by semicolons."""
    for record in path.read_text().split(";"):
        if record.strip():
            page, _, clicks = record.strip().partition(" :")
            query, _, documents = page.partition("\t")
            yield query, documents.split(","), [click.strip() for click in clicks.split(",") if click.strip()]


def clara(path: Path) -> Iterator[Page]:
    """Read lines `page, session, query, documents, clicks`, separated by tabs, after a header."""
    for line in path.read_text().splitlines()[1:]:
        _, _, query, documents, clicks = line.split("\t")
        yield query, documents.split(), clicks.split()


#: the real logs, by their path in the folder of data
LOGS = {"yandex/sessions.txt": yandex, "clara2/pages.tsv": clara}


def query_lists(pages: Iterable[Page]) -> list[QueryLists]:
    """Count the lists of each query; of several clicks on documents that were shown, the first counts."""
    by_query: dict[str, Counter[tuple[tuple[str, ...], int]]] = {}
    for query, documents, clicks in pages:
        if len(set(documents)) == len(documents):
            slot = next((documents.index(click) for click in clicks if click in documents), -1)
            by_query.setdefault(query, Counter())[tuple(documents), slot] += 1
    return [_counted(pages) for pages in by_query.values() if pages.total() >= MIN_PAGES]


def _counted(pages: Counter[tuple[tuple[str, ...], int]]) -> QueryLists:
    lists = list(dict.fromkeys(documents for documents, _ in pages))
    numbers = {item: number for number, item in enumerate(sorted({item for row in lists for item in row}))}
    shown = np.full((len(lists), max(map(len, lists))), EMPTY)
    for row, documents in enumerate(lists):
        shown[row, : len(documents)] = [numbers[item] for item in documents]
    places = {documents: row for row, documents in enumerate(lists)}
    clicks, times = np.zeros(shown.shape, np.int64), np.zeros(len(lists), np.int64)
    for (documents, slot), count in pages.items():
        times[places[documents]] += count
        if slot >= 0:
            clicks[places[documents], slot] += count
    return QueryLists(shown, clicks, times, len(numbers))


class Truth(NamedTuple):
    """α of the items of a query and λ of its slots."""

    attractiveness: FloatArray
    position_bias: FloatArray


def click_anew(queries: list[QueryLists], truths: list[Truth], rng: np.random.Generator) -> list[Placement]:
    """Return the same lists, shown as often, with clicks of users who choose by these parameters."""
    made = []
    for number, (query, truth) in enumerate(zip(queries, truths, strict=True)):
        odds = np.append(truth.attractiveness, 0.0)[query.shown] * truth.position_bias
        chances = np.column_stack([odds, np.ones(len(odds))])
        counts = rng.multinomial(query.times, chances / chances.sum(axis=1, keepdims=True))
        seen = Rankings(query.shown, counts[:, :-1], counts[:, -1], items=query.items)
        made.append(Placement(seen, tuple(f"{number}/{item}" for item in range(query.items)), *truth))
    return made


def fit_truth(queries: list[QueryLists], slot_spread: float) -> list[Truth]:
    """Fit all queries, with log λ of each normal around that of all with this standard deviation; 0 if all share λ."""
    slots = max(query.shown.shape[1] for query in queries)
    ends = np.concatenate([[0], np.cumsum([query.items for query in queries])])
    items = int(ends[-1])
    shown = np.concatenate(
        [
            np.pad(
                np.where(query.shown == EMPTY, items, query.shown + first), _wider(query, slots), constant_values=items
            )
            for query, first in zip(queries, ends, strict=False)
        ]
    )
    clicks = np.concatenate([np.pad(query.clicks, _wider(query, slots)) for query in queries]).astype(np.float64)
    times = np.concatenate([query.times for query in queries]).astype(np.float64)
    group = np.repeat(np.arange(len(queries)), [len(query.shown) for query in queries])

    def split(parameters: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return the level, log λ of all, log λ of each query less that, and log α less the level."""
        shared = np.append(0.0, parameters[1:slots])
        own = np.column_stack([np.zeros(len(queries)), parameters[slots + items :].reshape(len(queries), slots - 1)])
        return float(parameters[0]), shared, own, parameters[slots : slots + items]

    def loss(slot_spread: float, parameters: FloatArray) -> tuple[float, FloatArray]:
        level, shared, own, of_items = split(parameters)
        log_odds = np.append(level + of_items, -np.inf)[shown] + (shared + own)[group]
        odds = np.exp(log_odds)
        total = 1.0 + odds.sum(axis=1)
        clicked = clicks > 0
        expected = times[:, None] * odds / total[:, None]
        by_query = np.zeros((len(queries), slots))
        np.add.at(by_query, group, expected - clicks)
        by_cell = np.bincount(shown.ravel(), (expected - clicks).ravel(), items + 1)[:items]
        value = times @ np.log(total) - clicks[clicked] @ log_odds[clicked]
        value += (of_items**2).sum() / 2.0 / ITEM_SPREAD**2
        of_own, of_shared = np.zeros_like(own), np.append(by_query.sum(), by_query.sum(axis=0)[1:])
        if slot_spread > 0.0:
            value += (own**2).sum() / 2.0 / slot_spread**2
            of_own = by_query + own / slot_spread**2
            # λ of all is held: the maximum in both has slots without clicks at 0
            of_shared[1:] = 0.0
        slope = np.concatenate([of_shared, by_cell + of_items / ITEM_SPREAD**2, of_own[:, 1:].ravel()])
        return float(value), slope

    start = np.zeros(slots + items + len(queries) * (slots - 1))
    start[0] = np.log((clicks.sum() + 0.5) / (times.sum() - clicks.sum() + 0.5) / slots)
    best = start
    for spread in dict.fromkeys((0.0, slot_spread)):
        best = minimize(partial(loss, spread), best, jac=True, method="L-BFGS-B", options={"maxiter": 5_000}).x
    level, shared, own, of_items = split(best)
    return [
        Truth(np.exp(level + of_items[first:last]), np.exp(shared + own[number])[: queries[number].shown.shape[1]])
        for number, (first, last) in enumerate(pairwise(ends))
    ]


def _wider(query: QueryLists, slots: int) -> list[tuple[int, int]]:
    return [(0, 0), (0, slots - query.shown.shape[1])]
