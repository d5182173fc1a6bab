"""Pair effects: noticed where there are any and hardly ever where there are none, and the wider posterior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import gammaln

from slotwise import PolicyTask, Tally
from slotwise.core.types import FloatArray
from slotwise.jit import interpreted
from slotwise.posterior import HierarchicalPosterior, Posterior, draw_pair_odds, fit_posterior, posterior_after
from slotwise.posterior.pair_effects import SIMILARITIES, check_pairs
from slotwise.posterior.state import IN_USE
from slotwise.posterior.updates import learn_tally

BIAS, ALPHA = np.array([1.0, 0.6, 0.3]), np.array([0.3, 0.2, 0.15, 0.1, 0.05])
PASSES = 2_000
#: the standard deviation of the log of an effect
SPREAD = 0.5


def counted(gamma: FloatArray, seed: int, passes: int = PASSES) -> Tally:
    """Clicks by the odds of each pair, given its passes."""
    clicks = np.random.default_rng(seed).negative_binomial(passes, 1.0 / (1.0 + gamma))
    return Tally(clicks.astype(np.int64), np.full(gamma.shape, passes))


def effects(seed: int) -> FloatArray:
    return np.exp(SPREAD * np.random.default_rng(seed).standard_normal((len(BIAS), len(ALPHA))) - SPREAD**2 / 2.0)


def fitted(tally: Tally) -> Posterior:
    with interpreted():
        return fit_posterior(tally)


def after(*tallies: Tally) -> HierarchicalPosterior:
    with interpreted():
        return posterior_after(PolicyTask(3, 5), [{0: tally} for tally in tallies])


def test_a_page_of_the_model_is_not_found_wrong() -> None:
    # each with a probability of at most 0.01: more than 3 of 40 with one of 1e-3
    assert sum(fitted(counted(np.outer(BIAS, ALPHA), seed)).model_check.is_wrong for seed in range(40)) <= 3


def test_slots_that_favour_some_items_are_noticed_with_their_spread() -> None:
    checks = [fitted(counted(np.outer(BIAS, ALPHA) * effects(seed), seed)).model_check for seed in range(5)]
    assert all(check.is_wrong for check in checks)
    # the means of the slots and items take up a part of the effects
    assert 0.5 * SPREAD < np.mean([check.spread for check in checks]) < 1.2 * SPREAD
    assert "do not act alike" in checks[0].sentence


def test_items_in_one_slot_only_say_nothing() -> None:
    tally = Tally(np.diag([90, 60, 30]), np.diag([100, 100, 900]))
    assert fitted(tally).model_check.evidence == pytest.approx(1.0, abs=0.05)


def test_the_evidence_is_the_bayes_factor_of_the_clicks() -> None:
    # one item in two slots of known bias; attractiveness is integrated out under a flat prior of its log
    clicks, passes, bias = np.array([30, 5]), np.array([100, 50]), np.array([1.0, 0.5])
    with interpreted():
        posterior = posterior_after(PolicyTask(2, 2, position_bias=bias), [])
        posterior.counts.pair_clicks[IN_USE, 0, 0] = clicks
        posterior.counts.passes[0, 0] = passes
        posterior.counts.rounds = posterior.counts.no_clicks = 150.0
        check_pairs(posterior.counts, posterior.segments)

    def marginal(similarity: float) -> float:
        def density(log_alpha: float) -> float:
            mean = math.exp(log_alpha) * bias * passes
            if math.isinf(similarity):
                terms = clicks * np.log(mean) - mean
            else:
                terms = gammaln(similarity + clicks) - gammaln(similarity) + similarity * math.log(similarity)
                terms = terms + clicks * np.log(mean) - (similarity + clicks) * np.log(similarity + mean)
            return math.exp(float(terms.sum()) - 60.0)

        return integrate.quad(density, -4.0, 2.0, epsrel=1e-8)[0]

    factors = [marginal(similarity) / marginal(math.inf) for similarity in SIMILARITIES]
    # Laplace's method at the fit of the model, which is a little less than the integral
    assert 0.8 < math.exp(posterior.counts.pairs.evidence) / np.mean(factors) < 1.02


def test_the_same_counts_give_the_same_posterior_however_they_come() -> None:
    tallies = [counted(np.outer(BIAS, ALPHA) * effects(1), seed) for seed in (1, 2)]
    at_once, one_by_one = after(sum(tallies, start=Tally.empty(3, 5))), after(*tallies)
    assert at_once.counts.pairs.is_used
    assert one_by_one.counts.pairs.evidence == pytest.approx(at_once.counts.pairs.evidence, rel=0.01)
    assert one_by_one.shape / one_by_one.rate == pytest.approx(at_once.shape / at_once.rate, rel=0.01)


def test_the_posterior_narrows_again_when_the_evidence_is_gone() -> None:
    wrong, right = counted(np.outer(BIAS, ALPHA) * effects(1), 1, 1_000), counted(np.outer(BIAS, ALPHA), 2, 50_000)
    posterior = after(wrong)
    assert posterior.counts.pairs.is_used
    with interpreted():
        learn_tally(posterior, right.clicks.astype(float), right.passes.astype(float))
    counts = posterior.counts
    assert not counts.pairs.is_used
    assert counts.clicks[IN_USE, 0] == pytest.approx((wrong.clicks + right.clicks).sum(axis=0))
    assert pytest.approx(counts.passes[0]) == (wrong.passes + right.passes).T


def test_intervals_are_wider_and_cover_if_the_model_is_wrong() -> None:
    covered: list[bool] = []
    for seed in range(40):
        gamma = np.outer(BIAS, ALPHA) * effects(seed)
        found = fitted(counted(gamma, seed))
        interval = found.estimate.intervals().attractiveness
        # attractiveness in the first slot, without the effect of the pair
        covered.extend((interval.low <= ALPHA) & (interval.high >= ALPHA))
    # 200 items, 95 % each, five of a page together
    assert np.mean(covered) > 0.85


def test_draws_of_odds_are_around_the_clicks_of_each_pair() -> None:
    gamma = np.outer(BIAS, ALPHA) * effects(3)
    posterior = after(counted(gamma, 3, 100_000))
    rng, odds = np.random.default_rng(1), np.zeros((3, 5))
    drawn = []
    with interpreted():
        for _ in range(200):
            assert draw_pair_odds(posterior, posterior.shape / posterior.rate, odds, rng)
            drawn.append(odds.copy())
    # the standard error of a mean is at most 0.5 %
    assert np.mean(drawn, axis=0) == pytest.approx(gamma, rel=0.05)


def test_the_best_list_is_an_assignment_if_slots_favour_items() -> None:
    gamma = np.array([[0.3, 0.1], [0.05, 0.15]])
    assert fitted(counted(gamma, 1, 20_000)).best_list().tolist() == [0, 1]
    assert fitted(counted(gamma[:, ::-1], 1, 20_000)).best_list().tolist() == [1, 0]
    # by the sums of items it would be the other way round
    crossed = np.array([[0.30, 0.40], [0.05, 0.35]])
    assert fitted(counted(crossed, 1, 20_000)).best_list().tolist() == [0, 1]
