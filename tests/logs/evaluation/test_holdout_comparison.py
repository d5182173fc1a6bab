"""Models on impressions that they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, Rankings
from slotwise.estimators import GammaPrior, maximum_a_posteriori
from slotwise.estimators.likelihoods.list_likelihood import expected
from slotwise.logs.evaluation.holdout_comparison import (
    MODELS,
    HoldoutComparison,
    common_odds,
    compare_on_holdout,
    slot_odds,
)
from slotwise.logs.fitting.holdout_split import split
from tests.logs.synthetic_impressions import rankings

BIAS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.2])
ITEMS = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.4, 3.2])
CHANCES = np.outer([1.0, 0.9, 0.7, 0.5, 0.3, 0.2], [0.95, 0.7, 0.5, 0.3, 0.15, 0.08, 0.04, 0.02])
#: the truth, how many impressions a log has, and how many logs
TRUTHS: dict[str, tuple[Any, int, int]] = {
    "slots and items (multinomial logit)": (np.outer(BIAS, ITEMS), 2_000, 15),
    "slots and items (position-based model)": (CHANCES / (1 - CHANCES), 2_000, 15),
    "items only": (np.outer(np.ones(6), ITEMS / 4), 300, 50),
    "slots only": (np.outer(BIAS / 2, np.ones(8)), 300, 50),
    "all alike": (np.full((6, 8), 0.2), 300, 50),
}


@pytest.mark.parametrize("truth", TRUTHS)
def test_the_true_model_predicts_best(truth: str) -> None:
    """On average over logs, by three standard errors to each other model: by chance once in some seven hundred."""
    odds, impressions, logs = TRUTHS[truth]
    rng = np.random.default_rng(1)
    found = [compare_on_holdout(rankings(odds, impressions, rng), seed=seed) for seed in range(logs)]
    place = list(MODELS).index(truth)
    scores = np.array([[score.log_likelihood for score in one.scores] for one in found])
    ahead = scores[:, [place]] - np.delete(scores, place, axis=1)
    error = ahead.std(axis=0, ddof=1) / np.sqrt(logs)
    assert (ahead.mean(axis=0) > 3 * error).all(), ahead.mean(axis=0) / error


def test_differences_are_paired_by_impression() -> None:
    """The standard error is how much the difference varies from one held-out part to another of the same size."""
    rng = np.random.default_rng(2)
    odds = np.outer(BIAS, ITEMS)
    differences, errors = [], []
    for seed in range(60):
        found = compare_on_holdout(rankings(odds, 1_500, rng), seed=seed)
        slots_only = found.scores[3]
        assert slots_only.model == "slots only"
        differences.append(slots_only.difference)
        errors.append(slots_only.standard_error)
    # 60 logs: the ratio of the two has a standard error of about a tenth
    assert np.std(differences, ddof=1) / np.mean(errors) == pytest.approx(1.0, abs=0.4)


def test_a_split_loses_nothing() -> None:
    seen = rankings(np.outer(BIAS, ITEMS), 500, np.random.default_rng(3))
    first, second = split(seen, 0.2, np.random.default_rng(4))
    assert first + second == seen
    assert 60 < first.rounds < 140


def test_no_impression_is_impossible() -> None:
    """An item that the models have not seen is taken to be like the others."""
    seen = Rankings([[0, 1], [2, 3]], [[3, 0], [0, 0]], [4, 1], items=4)
    for fit in MODELS.values():
        odds = fit(Rankings(seen.shown[:1], seen.clicks[:1], seen.passes[:1], items=4))
        assert np.isfinite(odds).all()
        assert (odds > 0).all()
        assert np.isfinite(expected(seen, odds).log_likelihood)


def test_slots_alone_are_slots_with_one_item() -> None:
    """Items all alike: the odds of the slots maximise the likelihood, given the same prior."""
    seen = rankings(np.outer(BIAS, np.ones(8)), 4_000, np.random.default_rng(5))
    by_slot = slot_odds(seen)
    means = expected(seen, np.outer(by_slot, np.ones(8))).clicks.sum(axis=1)
    shape, rate = 1.0, 1.0 / common_odds(seen)
    assert seen.clicks.sum(axis=0) + shape == pytest.approx(means + rate * by_slot, rel=1e-6)


def test_odds_alike_give_as_many_clicks_as_there_were() -> None:
    lists = [[0, 1, 2], [1, 2, EMPTY], [2, EMPTY, EMPTY]]
    seen = Rankings(lists, [[300, 200, 100], [150, 100, 0], [50, 0, 0]], [400, 500, 600], items=3)
    clicks = expected(seen, np.full((3, 3), common_odds(seen))).clicks.sum()
    assert clicks == pytest.approx(seen.clicks.sum(), rel=1e-3)


def test_words() -> None:
    few = Rankings([[0]], [[1]], [1], items=1)
    assert "too few" in HoldoutComparison(1, 0, ()).in_words()
    assert compare_on_holdout(few).in_words()
    clear = compare_on_holdout(rankings(np.outer(BIAS, ITEMS) * 3, 6_000, np.random.default_rng(6)))
    assert clear.in_words().startswith("“slots and items (multinomial logit)” predicts")


def test_the_first_model_is_the_estimators_own() -> None:
    seen = rankings(np.outer(BIAS, ITEMS), 800, np.random.default_rng(7))
    of_slots = slot_odds(seen)
    estimate = maximum_a_posteriori(
        seen,
        attractiveness_prior=GammaPrior(1.0, 1.0 / of_slots[0]),
        position_bias_prior=GammaPrior(1.0, of_slots[0] / of_slots),
    )
    odds = MODELS["slots and items (multinomial logit)"](seen)
    assert odds == pytest.approx(np.outer(estimate.position_bias, estimate.attractiveness))
