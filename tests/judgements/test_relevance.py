"""The model of relevance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from slotwise.core.types import FloatArray
from slotwise.judgements import CellCounts, Judgements, judge_counts
from slotwise.judgements.relevance import largest_of_query
from tests.judgements.simulated_search import search_log


def _agreement(counts: CellCounts, scores: FloatArray, relevance: FloatArray) -> float:
    """Return the mean rank correlation within queries."""
    queries = [counts.query == query for query in range(len(counts.queries))]
    return float(np.mean([spearmanr(scores[mine], relevance[mine]).statistic for mine in queries]))


def test_judgements_order_documents_better_than_clicks_and_than_the_page() -> None:
    counts, relevance, _ = search_log(np.random.default_rng(1), queries=200, pages=30, noise=0.8)
    judged = judge_counts(counts)
    by_rank = -(np.arange(1, len(counts.shown) + 1) @ counts.shown) / judged.pages
    assert (
        _agreement(counts, judged.relevance, relevance)
        > _agreement(counts, judged.clicks / judged.pages, relevance) + 0.05
    )
    assert _agreement(counts, judged.relevance, relevance) > _agreement(counts, by_rank, relevance) + 0.02


def test_place_does_not_count_in_a_randomised_log() -> None:
    """The prominence that chance gave is shrunk away, and clicks determine the order."""
    counts, _, _ = search_log(np.random.default_rng(2), queries=100, pages=60, noise=100.0)
    judged = judge_counts(counts)
    prominence = judged.slot_curve @ counts.shown
    chance = prominence / largest_of_query(counts, prominence)
    assert judged.place.std() < 0.5 * chance.std()
    assert _agreement(counts, judged.relevance, judged.ratio) > 0.95


def test_place_counts_in_full_if_the_page_never_changes() -> None:
    counts, _, _ = search_log(np.random.default_rng(3), queries=100, pages=20, noise=0.0)
    judged = judge_counts(counts)
    first = counts.shown[0] > 0
    assert judged.place[first] == pytest.approx(1.0)
    second = counts.shown[1] > 0
    assert judged.place[second] == pytest.approx(judged.slot_curve[1] / judged.slot_curve[0], rel=0.02)


def test_similar_documents_have_a_large_shape() -> None:
    counts, _, _ = search_log(np.random.default_rng(4), queries=200, pages=30, noise=0.5)
    rng = np.random.default_rng(5)
    rates = np.array([0.3, 0.2, 0.1, 0.05, 0.02])[:, None] * counts.shown
    alike = replace(counts, clicks=rng.poisson(rates).astype(np.float64))
    assert judge_counts(alike).shape > 10.0 * judge_counts(counts).shape


def test_intervals_cover() -> None:
    """u is drawn from its prior; the share of intervals that contain it is 0.95 up to chance (false alarm 1e-4)."""
    counts, _, _ = search_log(np.random.default_rng(6), queries=400, pages=30, noise=0.5)
    rng = np.random.default_rng(7)
    curve, ratio = np.array([0.3, 0.2, 0.1, 0.05, 0.02]), rng.gamma(2.0, 0.5, counts.shown.shape[1])
    drawn = replace(counts, clicks=rng.poisson(curve[:, None] * counts.shown * ratio).astype(float))
    judged = judge_counts(drawn)
    unit = judged._scale / judged.query_level[counts.query]
    low, high = (limit / unit for limit in judged.interval())
    covered = float(((low <= ratio) & (ratio <= high)).mean())
    assert abs(covered - 0.95) < 0.02


@pytest.mark.parametrize("max_grade", [3, 4])
def test_grades_halve(max_grade: int) -> None:
    counts, _, _ = search_log(np.random.default_rng(8), queries=50, pages=30, noise=0.5)
    judged = judge_counts(counts, max_grade)
    part = judged.relevance / judged.best
    expected = max_grade - np.array(
        [next((n for n in range(max_grade) if share > 0.5 ** (n + 1)), max_grade) for share in part]
    )
    assert (judged.grades == expected).all()
    assert ((judged.confidence > 0.0) & (judged.confidence <= 1.0)).all()


def test_ndcg_is_the_mean_over_pages() -> None:
    counts = CellCounts(
        ("tea",),
        np.array([4.0]),
        np.zeros(2, np.int64),
        ("a", "b"),
        np.array([[3.0, 1.0], [1.0, 3.0]]),
        np.array([[2.0, 0.0], [0.0, 1.0]]),
        {},
    )
    judged: Judgements = judge_counts(counts)
    gains = np.array([3.0, 1.0])
    swapped = (1.0 + 3.0 / np.log2(3.0)) / (3.0 + 1.0 / np.log2(3.0))
    assert judged._ndcg(gains) == pytest.approx([(3.0 + swapped) / 4.0])
    assert judged.ndcg_draws().max() <= 1.0
