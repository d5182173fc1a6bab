"""The position-based model given at most one click, and the odds that every model comes down to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from slotwise import EMPTY, Rankings
from slotwise.estimators import GammaPrior
from slotwise.estimators.likelihoods.list_likelihood import expected, log_likelihoods
from slotwise.estimators.position_based_em import odds_of, position_based
from tests.logs.synthetic_impressions import rankings
from tests.statistical_assertions import assert_mean_is

EXAMINED, ATTRACTION = np.array([1.0, 0.7, 0.3]), np.array([0.8, 0.5, 0.3, 0.1])
ODDS = odds_of(np.outer(EXAMINED, ATTRACTION))
WEAK = GammaPrior(0.1, 0.1)


def test_clicks_that_are_independent_have_these_odds_given_at_most_one() -> None:
    chances = np.array([0.8, 0.35, 0.09])
    one = [chances[k] * np.prod(np.delete(1 - chances, k)) for k in range(3)]
    none = np.prod(1 - chances)
    assert np.array(one) / none == pytest.approx(odds_of(chances))


def test_it_is_the_maximum() -> None:
    seen = rankings(ODDS, 800, np.random.default_rng(1))
    found = position_based(seen, attraction_prior=WEAK, examination_prior=WEAK)

    def loss(at: np.ndarray) -> float:
        attraction, examination = np.exp(at[:4]), np.exp(np.append(0.0, at[4:]))
        if np.outer(examination, attraction).max() >= 1:
            return np.inf
        prior = 0.1 * (at.sum() - attraction.sum() - examination[1:].sum())
        return float(-expected(seen, odds_of(np.outer(examination, attraction))).log_likelihood - prior)

    start = np.log(np.concatenate([found.attraction, found.examination[1:]]))
    best = minimize(loss, np.full(6, -1.0), method="Nelder-Mead", options={"maxiter": 5_000, "xatol": 1e-7})
    assert found.converged
    assert loss(start) <= best.fun + 1e-6
    assert start == pytest.approx(best.x, abs=1e-3)


def test_it_recovers_the_truth() -> None:
    """Means over logs, up to the bias that 4,000 impressions leave."""
    rng = np.random.default_rng(2)
    errors = []
    for _ in range(40):
        found = position_based(rankings(ODDS, 4_000, rng), attraction_prior=WEAK, examination_prior=WEAK)
        errors.append(np.concatenate([found.attraction / ATTRACTION, found.examination[1:] / EXAMINED[1:]]) - 1)
    assert_mean_is(np.clip(np.mean(errors, axis=0), -0.01, 0.01), errors)


def test_items_never_shown_or_never_clicked_or_always() -> None:
    seen = Rankings([[0, 1], [1, 0], [2, 1]], [[3, 0], [0, 4], [5, 0]], [4, 5, 0], items=4)
    found = position_based(seen, attraction_prior=WEAK, examination_prior=WEAK)
    assert np.isfinite(found.odds).all()
    assert (found.odds > 0).all()
    assert found.attraction[2] > 0.9


def test_expected_clicks_list_by_list() -> None:
    seen = Rankings([[0, 1], [1, EMPTY], [2, 0]], [[3, 1], [2, 0], [0, 4]], [5, 6, 7], items=3)
    odds = np.array([[0.5, 0.2, 0.9], [0.3, 0.4, 0.6]])
    found = expected(seen, odds)
    by_hand = np.zeros((2, 3))
    by_hand[0, 0], by_hand[1, 1] = 9 * 0.5 / 1.9, 9 * 0.4 / 1.9
    by_hand[0, 1] = 8 * 0.2 / 1.2
    by_hand[0, 2], by_hand[1, 0] = 11 * 0.9 / 2.2, 11 * 0.3 / 2.2
    assert found.clicks == pytest.approx(by_hand)
    times = seen.showings
    assert found.variance == pytest.approx(by_hand * (1 - by_hand / np.maximum(times, 1)))
    on_slots, silence = log_likelihoods(seen, odds)
    assert np.exp(on_slots).sum(axis=1) + np.exp(silence) == pytest.approx(1.0)
    used = seen.clicks > 0
    total = seen.clicks[used] @ on_slots[used] + seen.passes @ silence
    assert found.log_likelihood == pytest.approx(total)
