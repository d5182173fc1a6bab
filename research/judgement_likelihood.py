"""How likely held-out clicks are under `slotwise judge`, the user browsing model and multinomial logit, by page.

The outcome of a page is its topmost click, or none: the only one that all of them give a probability. Every other page
of a query is held out. `judge` and the user browsing model read a page from the top to that click; `judge` is fitted to
the slots down to it. The plain multinomial logit pools queries by normal priors (`log_truths/real_lists.py`); `slotwise
fit` has a learned prior by place as well.

`click_worth` asks what a first, middle, last or repeated click tells of later clicks, compared with a single one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from research.judgement_study import browsing_places, half_of, read_log, ubm_parameters
from research.log_truths.real_lists import LOGS, Page, fit_truth, query_lists
from slotwise.core.types import FloatArray
from slotwise.judgements import CellCounts, judge_counts
from slotwise.logs import fit_placements

#: the largest probability of a click
MAX_CHANCE = 0.999
#: kinds of clicks on a document of a page
KINDS = ("only", "first", "middle", "last", "again")

#: from a query and its documents to the probability of each outcome: the slots from 1 on, and none
Predict = Callable[[str, list[str]], FloatArray]


def halves(pages: list[Page]) -> tuple[list[Page], list[Page]]:
    """Return every other page of each query; pages that show a document twice are left out."""
    seen: Counter[str] = Counter()
    parts: tuple[list[Page], list[Page]] = ([], [])
    for page in pages:
        if len(set(page[1])) == len(page[1]):
            parts[seen[page[0]] % 2].append(page)
            seen[page[0]] += 1
    return parts


def topmost(page: Page) -> int:
    """Return the index of the topmost click; the number of documents if there is none."""
    return min((page[1].index(click) for click in page[2] if click in page[1]), default=len(page[1]))


def log_likelihoods(held_out: list[Page], predict: Predict) -> FloatArray:
    """Return the logarithm of the probability of the outcome of each page that is held out."""
    return np.array([np.log(predict(page[0], page[1])[topmost(page)]) for page in held_out])


def downward(chances: FloatArray) -> FloatArray:
    """Return the probabilities of the topmost click from those of a click after none above, and of none."""
    below = np.cumprod(np.append(1.0, 1.0 - chances))
    return np.append(below[:-1] * chances, below[-1])


def judge_model(pages: list[Page]) -> Predict:
    """Fit `slotwise judge` to the slots down to the topmost click."""
    counts = _truncated(pages)
    judged = judge_counts(counts)
    numbers = {name: number for number, name in enumerate(counts.queries)}
    pairs = zip(counts.query.tolist(), counts.documents, strict=True)
    ratio = dict(zip(pairs, judged.ratio.tolist(), strict=True))
    by_query = judged.slot_curve[:, None] * judged.slot_effects * judged.query_level

    def predict(query: str, documents: list[str]) -> FloatArray:
        number = numbers.get(query, -1)
        curve = by_query[:, number] if number >= 0 else judged.slot_curve
        curve = np.append(curve, np.full(100, curve[-1]))
        worth = np.array([ratio.get((number, document), 1.0) for document in documents])
        return downward(np.minimum(MAX_CHANCE, curve[: len(documents)] * worth))

    return predict


def _truncated(pages: list[Page]) -> CellCounts:
    slots = max(len(documents) for _, documents, _ in pages)
    times = Counter(query for query, _, _ in pages)
    queries = sorted(times)
    shown: dict[tuple[str, str], FloatArray] = {}
    for page in pages:
        top = topmost(page)
        for slot, document in enumerate(page[1][: top + 1]):
            cell = shown.setdefault((page[0], document), np.zeros((2, slots)))
            cell[0, slot] += 1
            cell[1, slot] += slot == top
    cells = sorted(shown)
    number = {name: place for place, name in enumerate(queries)}
    both = np.array([shown[cell] for cell in cells])
    return CellCounts(
        tuple(queries),
        np.array([float(times[name]) for name in queries]),
        np.array([number[query] for query, _ in cells]),
        tuple(document for _, document in cells),
        both[:, 0].T,
        both[:, 1].T,
        {},
    )


def ubm_model(pages: list[Page]) -> Predict:
    """Fit the user browsing model to all clicks."""
    attraction, examined = ubm_parameters(pages)
    usual = float(np.mean(list(attraction.values())))

    def predict(query: str, documents: list[str]) -> FloatArray:
        places = browsing_places(documents, [])
        chances = [
            attraction.get((query, document), usual) * examined.get(place, 0.5)
            for document, place in zip(documents, places, strict=True)
        ]
        return downward(np.minimum(MAX_CHANCE, chances))

    return predict


def _logit(attractiveness: Mapping[tuple[str, str], float], bias: Mapping[str, FloatArray]) -> Predict:
    usual = float(np.median(list(attractiveness.values())))
    shared = np.median([each for each in bias.values() if len(each) == max(map(len, bias.values()))], axis=0)

    def predict(query: str, documents: list[str]) -> FloatArray:
        alpha = np.array([attractiveness.get((query, document), usual) for document in documents])
        slots = bias.get(query, shared)
        odds = np.append(alpha * (slots if len(slots) >= len(documents) else shared)[: len(documents)], 1.0)
        return np.asarray(odds / odds.sum())

    return predict


def fit_model(pages: list[Page]) -> Predict:
    """Fit `slotwise fit` to the topmost clicks."""
    found = fit_placements(read_log([(page[0], page[1], page[1][topmost(page) :][:1]) for page in pages]))
    alpha = {
        (str(fit.placement), item): value
        for fit in found
        for item, value in zip(fit.item_ids, fit.estimate.attractiveness.tolist(), strict=True)
    }
    return _logit(alpha, {str(fit.placement): fit.estimate.position_bias for fit in found})


def logit_model(pages: list[Page]) -> Predict:
    """Fit a multinomial logit with normal priors to the topmost clicks of queries with enough pages."""
    outcomes = [(page[0], page[1], page[1][topmost(page) :][:1]) for page in pages]
    by_query: dict[str, list[Page]] = {}
    for page in outcomes:
        by_query.setdefault(page[0], []).append(page)
    # `query_lists` numbers the documents of a query in alphabetic order, and leaves small queries out
    lists = {query: query_lists(mine) for query, mine in by_query.items()}
    known = {query: mine[0] for query, mine in lists.items() if mine}
    truths = fit_truth(list(known.values()), 0.0)
    alpha, bias = {}, {}
    for query, truth in zip(known, truths, strict=True):
        names = sorted({document for _, documents, _ in by_query[query] for document in documents})
        alpha.update({(query, name): float(value) for name, value in zip(names, truth.attractiveness, strict=True)})
        bias[query] = truth.position_bias
    return _logit(alpha, bias)


MODELS: Mapping[str, Callable[[list[Page]], Predict]] = {
    "`slotwise judge`": judge_model,
    "`slotwise fit`": fit_model,
    "pooled multinomial logit": logit_model,
    "UBM": ubm_model,
}


def likelihood_table(data: Path) -> str:
    """Return the mean log-likelihood of a page under each model, with what `judge` has more, as Markdown."""
    lines = ["| log | model | log-likelihood a page | `judge` has more by |", "| --- | --- | ---: | ---: |"]
    for name, read in LOGS.items():
        if (data / name).is_file():
            training, held_out = halves(list(read(data / name)))
            scores = {model: log_likelihoods(held_out, fit(training)) for model, fit in MODELS.items()}
            best = scores["`slotwise judge`"]
            for model, values in scores.items():
                apart = best - values
                error = apart.std() / np.sqrt(len(apart))
                lines.append(f"| {name} | {model} | {values.mean():.4f} | {apart.mean():+.4f} ± {error:.4f} |")
    return "\n".join(lines) + "\n"


def _kinds(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the documents that were clicked, and the kind of their click."""
    clicks = [click for click in page[2] if click in page[1]]
    distinct = list(dict.fromkeys(clicks))
    for place, document in enumerate(distinct):
        if clicks.count(document) > 1:
            yield document, "again"
        elif len(distinct) == 1:
            yield document, "only"
        else:
            last = clicks[-1] == document
            yield document, "last" if last else "first" if place == 0 else "middle"


class ClickKinds(NamedTuple):
    """Counts by cell: clicks of each kind and expected clicks, and both of the pages that are held out."""

    queries: list[str]
    counts: FloatArray
    expected: FloatArray
    later: FloatArray
    later_expected: FloatArray


def count_kinds(training: list[Page], held_out: list[Page]) -> ClickKinds:
    """Count the clicks of each kind in training, and all clicks that are held out, on documents of training."""
    cells = {pair: cell for cell, pair in enumerate(dict.fromkeys((q, d) for q, shown, _ in training for d in shown))}
    slots = max(len(shown) for _, shown, _ in [*training, *held_out])
    shown, clicked = np.ones(slots), np.full(slots, 0.5)
    for page in training:
        hits = dict(_kinds(page))
        shown[: len(page[1])] += 1.0
        clicked[: len(page[1])] += [document in hits for document in page[1]]
    rate = clicked / shown
    counts, expected = np.zeros((2, len(KINDS), len(cells))), np.zeros((2, len(cells)))
    for part, pages in enumerate((training, held_out)):
        for page in pages:
            hits = dict(_kinds(page))
            for slot, document in enumerate(page[1]):
                cell = cells.get((page[0], document))
                if cell is not None:
                    expected[part, cell] += rate[slot]
                    if document in hits:
                        counts[part, KINDS.index(hits[document]), cell] += 1.0
    return ClickKinds([query for query, _ in cells], counts[0], expected[0], counts[1].sum(axis=0), expected[1])


def click_worth(pages: list[Page]) -> tuple[FloatArray, FloatArray, float]:
    """Return how often each kind of click is there, its weight, and the gain of the weights a held-out page.

    Clicks that are held out are Poisson with the mean t e (κ + Σ w N / t) / (κ + e'). The weights w and κ are learned
    from half of the queries, and the gain over weights of 1 is measured on the other half.
    """
    training, held_out = halves(pages)
    kinds = count_kinds(training, held_out)
    _, group = np.unique(kinds.queries, return_inverse=True)
    ratio = (np.bincount(group, kinds.counts.sum(axis=0)) + 1.0) / (np.bincount(group, kinds.expected) + 1.0)
    level, half = ratio[group], np.array([half_of(query) for query in kinds.queries])

    def likelihood(parameters: FloatArray, mine: int) -> float:
        # no kind of click is worth more than 150 others
        weights, shape = np.split(np.exp(np.clip(parameters, -5.0, 5.0)), [len(KINDS)])
        mean = level * kinds.later_expected * (shape + weights @ kinds.counts / level) / (shape + kinds.expected)
        use = (half == mine) & (kinds.later_expected > 0.0)
        return float((kinds.later[use] * np.log(mean[use]) - mean[use]).sum())

    ones = np.zeros(len(KINDS))

    def loss_of_shape(shape: FloatArray) -> float:
        return -likelihood(np.append(ones, shape), 0)

    def loss(parameters: FloatArray) -> float:
        return -likelihood(parameters, 0)

    shape = minimize(loss_of_shape, np.ones(1), method="Nelder-Mead").x
    start = np.append(ones, shape)
    found = minimize(loss, start, method="Nelder-Mead", tol=1e-3).x
    number = sum(half_of(page[0]) == 1 for page in held_out)
    gain = (likelihood(found, 1) - likelihood(start, 1)) / max(1, number)
    return kinds.counts.sum(axis=1), np.exp(np.clip(found[:-1], -5.0, 5.0)), gain


def click_worth_table(data: Path) -> str:
    """Return the weight of each kind of click on both logs, as Markdown."""
    heads = ["log", *KINDS, "gain a page"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for name, read in LOGS.items():
        if (data / name).is_file():
            times, weights, gain = click_worth(list(read(data / name)))
            cells = [f"{weight:.2f} ({int(count):,})" for weight, count in zip(weights, times, strict=True)]
            lines.append(f"| {name} | {' | '.join(cells)} | {gain:+.5f} |")
    return "\n".join(lines) + "\n"
