"""How strongly the place of a document should count, by held-out clicks and by labels of people.

`judge` multiplies the clicks of a document over those expected by its place to the power 1. Here the power s varies,
and with it the slots: a place that counts explains a part of the slot curve, θ_k = clicks of slot k / Σ place^s n_k.
The clicks of a document in slot k are Poisson with the mean t u θ_k place^s n_k, u ~ Gamma(κ, κ), and each slot is
predicted from the document's clicks in its other slots. `QUESTIONS` says which slots are predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import gammaln

from research.judgement_study import MIN_PAGES, Labels, ndcg, read_labels, read_log
from research.log_truths.real_lists import LOGS
from slotwise.core.types import BoolArray, FloatArray
from slotwise.judgements import CellCounts, count_cells, judge_counts
from slotwise.judgements.click_levels import query_levels

STRENGTHS = tuple(round(0.1 * step, 1) for step in range(-4, 13))
SHAPES = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 100.0, 400.0)
#: the level of slot 1, where it is free
LEVELS = np.exp(np.linspace(-1.5, 1.5, 61))


class Prediction(NamedTuple):
    """Slots × cells: clicks and the mean expected; by cell the posterior of u without the slot, and relevance."""

    clicks: FloatArray
    expected: FloatArray
    shape: FloatArray
    rate: FloatArray
    relevance: FloatArray


def predict(counts: CellCounts, place: FloatArray, strength: float, shape: float, query_shape: float) -> Prediction:
    """Predict the clicks of each slot from the clicks on the same document in the other slots."""
    weight, clicks = place**strength, counts.clicks.sum(axis=0)
    credited = counts.shown @ weight + weight.mean()
    slots = isotonic_regression((counts.clicks.sum(axis=1) + 0.5) / credited, weights=credited, increasing=False).x
    total = slots @ counts.shown * weight
    level, uncertainty = (each[counts.query] for each in query_levels(counts.query, clicks, total, query_shape, shape))
    prior = 1.0 / (1.0 / shape + uncertainty)
    expected = slots[:, None] * counts.shown * (weight * level)
    total = total * level
    relevance = weight * (prior + clicks) / (prior + total)
    return Prediction(counts.clicks, expected, prior + clicks - counts.clicks, prior + total - expected, relevance)


def log_likelihood(prediction: Prediction, use: BoolArray, factor: float = 1.0) -> float:
    """Return the log-likelihood of the clicks of some slots, with a factor on what is expected there."""
    clicks, expected, shape, rate, _ = prediction
    n, e, k, r = clicks[use], factor * expected[use], shape[use], rate[use]
    return float((gammaln(k + n) - gammaln(k) + k * np.log(r) + n * np.log(e) - (k + n) * np.log(r + e)).sum())


def _freely(prediction: Prediction, use: BoolArray) -> float:
    return max(log_likelihood(prediction, use, factor) for factor in LEVELS)


def _every(counts: CellCounts) -> BoolArray:
    return np.asarray(counts.shown > 0.0)


def _unusual(counts: CellCounts) -> BoolArray:
    """The slots of a document but the one in which it is shown most."""
    slots = np.arange(len(counts.shown))[:, None]
    return np.asarray((counts.shown > 0.0) & (slots != counts.shown.argmax(axis=0)))


def _raised(counts: CellCounts) -> BoolArray:
    slots = np.arange(len(counts.shown))[:, None]
    return np.asarray(_unusual(counts) & (slots < counts.shown.argmax(axis=0)))


def _first(counts: CellCounts) -> BoolArray:
    return np.asarray(_unusual(counts) & (np.arange(len(counts.shown))[:, None] == 0))


#: by question, which slots are predicted, and how likely their clicks are
QUESTIONS: Mapping[str, tuple[Callable[[CellCounts], BoolArray], Callable[[Prediction, BoolArray], float]]] = {
    "all slots": (_every, log_likelihood),
    "slots other than the usual one": (_unusual, log_likelihood),
    "slots above the usual one": (_raised, log_likelihood),
    "slot 1, if it is not the usual one": (_first, log_likelihood),
    "the same, at a level of its own": (_first, _freely),
}


def strength_table(data: Path) -> str:
    """Return the strength that each question asks for, on each log, with its NDCG, as Markdown."""
    heads = ["log", "held-out clicks", "clicks", "s", "κ", "loss at s = 1", "NDCG@10", "all queries"]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * (len(heads) - 2)]
    for name, read in LOGS.items():
        if (data / name).is_file():
            counts = count_cells(read_log(list(read(data / name))))
            labels = (data / name).with_name("labels.tsv")
            rows = compare(counts, read_labels(labels) if labels.is_file() else {})
            lines.extend(f"| {name} | {row} |" for row in rows)
    return "\n".join(lines) + "\n"


def compare(counts: CellCounts, labels: Labels) -> list[str]:
    """Return a row of the table for each question."""
    judged = judge_counts(counts)
    used = {question: which(counts) for question, (which, _) in QUESTIONS.items()}
    scores: dict[str, dict[tuple[float, float], float]] = {question: {} for question in QUESTIONS}
    relevance = {}
    for strength in STRENGTHS:
        for shape in SHAPES:
            prediction = predict(counts, judged.place, strength, shape, judged.query_shape)
            relevance[strength, shape] = prediction.relevance
            for question, (_, likelihood) in QUESTIONS.items():
                scores[question][strength, shape] = likelihood(prediction, used[question])
    rows = []
    for question, by_choice in scores.items():
        best = max(by_choice, key=lambda choice: by_choice[choice])
        loss = by_choice[best] - max(value for (strength, _), value in by_choice.items() if strength == 1.0)
        found = ndcg(relevance[best], counts, labels) if labels else np.full(len(counts.queries), np.nan)
        means = [f"{np.nanmean(found[group]):.3f}" if labels else "" for group in (counts.pages >= MIN_PAGES, ...)]
        clicks = int(counts.clicks[used[question]].sum())
        rows.append(" | ".join([question, f"{clicks:,}", f"{best[0]}", f"{best[1]:g}", f"{loss:.1f}", *means]))
    return rows
