"""Features of documents in the prior."""

from __future__ import annotations

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.judgements import CellCounts, judge_counts
from slotwise.judgements.feature_prior import predicted_ratio

QUERIES, DOCUMENTS, SHAPE = 200, 10, 5.0


def _cells(rng: np.random.Generator, weight: float) -> tuple[FloatArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Features, queries, clicks, expected clicks, and the true ratio of each cell."""
    features = rng.normal(size=(QUERIES * DOCUMENTS, 2))
    ratio = np.exp(weight * features[:, 0])
    expected = np.full(len(features), 3.0)
    clicks = rng.poisson(expected * ratio * rng.gamma(SHAPE, 1.0 / SHAPE, len(features))).astype(np.float64)
    return features, np.repeat(np.arange(QUERIES), DOCUMENTS), clicks, expected, ratio


def test_a_feature_that_tells_is_used() -> None:
    features, query, clicks, expected, ratio = _cells(np.random.default_rng(1), 0.7)
    found = predicted_ratio(features, query, clicks, expected, SHAPE)
    # both weights have a standard error of about 0.014, so that the mean error is about 0.016: three times as much
    assert np.abs(np.log(found / ratio)).mean() < 0.05


def test_features_that_tell_nothing_hardly_matter() -> None:
    """On 20 logs, noise moves predictions by less than 0.03 in the mean: a standard error of β is 0.014."""
    moved = []
    for seed in range(20):
        features, query, clicks, expected, _ = _cells(np.random.default_rng(100 + seed), 0.0)
        moved.append(float(np.abs(np.log(predicted_ratio(features, query, clicks, expected, SHAPE))).mean()))
    assert np.mean(moved) < 0.03
    assert min(moved) == 0.0


def test_documents_with_few_clicks_are_judged_by_their_features() -> None:
    rng = np.random.default_rng(2)
    documents = tuple(f"d{number}" for number in range(QUERIES * 5))
    good = rng.random(len(documents)) < 0.5
    shown = np.full((1, len(documents)), 20.0)
    clicks = rng.binomial(20, np.where(good, 0.3, 0.1)).astype(np.float64)[None]
    counts = CellCounts(
        tuple(f"q{query:03d}" for query in range(QUERIES)),
        np.full(QUERIES, 20.0),
        np.repeat(np.arange(QUERIES), 5),
        documents,
        shown,
        clicks,
        {},
    )
    features = {name: ["good" if each else "bad"] for name, each in zip(documents, good, strict=True)}
    plain, better = judge_counts(counts), judge_counts(counts, features=features)
    truth = np.where(good, 0.3, 0.1)
    errors = [float(((judged.relevance - truth) ** 2).mean()) for judged in (plain, better)]
    assert errors[1] < 0.5 * errors[0]
    # what features explain is no difference between documents any more
    assert better.shape > 2.0 * plain.shape
    assert judge_counts(counts, features={name: [1.0] for name in documents}).relevance.tolist() == (
        plain.relevance.tolist()
    )
