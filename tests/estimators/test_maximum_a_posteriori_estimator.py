from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from slotwise import MNL, NO_CLICK, Tally
from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators import GammaPrior, maximum_a_posteriori, maximum_likelihood, scaling
from slotwise.estimators.uncertainty.standard_errors import Counts
from slotwise.simulation.data_collection import at_random
from tests.statistical_assertions import assert_mean_is

WORTH = GammaPrior(shape=0.7, rate=2.0)
BIAS = GammaPrior(shape=[9.0, 1.5, 3.0], rate=[9.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def seen(small: MNL) -> Rankings:
    return at_random(small, 150, np.random.default_rng(1))


def test_its_equations_hold(seen: Rankings) -> None:
    tally = seen.tally
    found = maximum_a_posteriori(tally, attractiveness_prior=WORTH, position_bias_prior=BIAS)
    bias, alpha = found.position_bias, found.attractiveness
    assert found.converged
    assert alpha == pytest.approx((0.7 + tally.clicks.sum(axis=0)) / (2.0 + bias @ tally.passes))
    by_slot = (np.array(BIAS.shape) + tally.clicks.sum(axis=1)) / (np.array(BIAS.rate) + tally.passes @ alpha)
    assert bias == pytest.approx([1.0, *by_slot[1:]])


def test_from_rankings_it_equals_the_brute_force_maximum(seen: Rankings) -> None:
    def lost(logs: FloatArray) -> float:
        bias, alpha = np.exp(np.append(0.0, logs[:2])), np.exp(logs[2:])
        gamma = bias * alpha[seen.shown]
        likelihood = (seen.clicks * np.log(gamma)).sum() - seen.times @ np.log1p(gamma.sum(axis=1))
        prior = 0.7 * logs[2:].sum() - 2.0 * alpha.sum() + 1.5 * logs[0] - 2.0 * bias[1] + 3.0 * logs[1] - 3.0 * bias[2]
        return -float(likelihood + prior)

    start: FloatArray = np.zeros(6)
    best = minimize(lost, start, method="BFGS", tol=1e-10).x
    found = maximum_a_posteriori(seen, attractiveness_prior=WORTH, position_bias_prior=BIAS)
    assert found.converged
    assert np.log(found.position_bias[1:]) == pytest.approx(best[:2], abs=1e-5)
    assert np.log(found.attractiveness) == pytest.approx(best[2:], abs=1e-5)


def test_with_known_bias_it_is_the_posterior_mean_and_its_spread(small: MNL, seen: Rankings) -> None:
    """Gamma(0.7 + N, 2 + Λ) has its mean there, if clicks were Poisson; standard errors hold for what clicks are."""
    tally = seen.tally
    found = maximum_a_posteriori(tally, attractiveness_prior=WORTH, position_bias=small.position_bias)
    shape = 0.7 + tally.clicks.sum(axis=0)
    rate = 2.0 + small.position_bias @ tally.passes
    assert found.attractiveness == pytest.approx(shape / rate)
    assert found.position_bias.tolist() == small.position_bias.tolist()
    gamma = np.outer(small.position_bias, found.attractiveness)
    # the counts vary by Ñ(γ + γ²), the prior by its rate times α
    variance = (tally.passes * (gamma + gamma**2)).sum(axis=0) + 2.0 * found.attractiveness
    assert found.attractiveness_error == pytest.approx(np.sqrt(variance) / rate)
    assert found.position_bias_error.tolist() == [0.0, 0.0, 0.0]


def test_a_vanishing_prior_leaves_the_likelihood(seen: Rankings) -> None:
    none = GammaPrior(shape=1e-9, rate=1e-9)
    of_rankings = maximum_a_posteriori(seen, attractiveness_prior=none, position_bias_prior=none)
    of_tally = maximum_a_posteriori(seen.tally, attractiveness_prior=none, position_bias_prior=none)
    for found, other in ((of_rankings, maximum_likelihood(seen)), (of_tally, scaling(seen.tally))):
        assert found.attractiveness == pytest.approx(other.attractiveness, rel=1e-6)
        assert found.position_bias == pytest.approx(other.position_bias, rel=1e-6)
        assert found.attractiveness_error == pytest.approx(other.attractiveness_error, rel=1e-6)
        assert found.position_bias_error == pytest.approx(other.position_bias_error, rel=1e-6)


@pytest.mark.parametrize("counts", [Rankings.empty(2, 3), Tally.empty(2, 3)], ids=["rankings", "tally"])
def test_without_data_it_is_the_prior(counts: Counts) -> None:
    found = maximum_a_posteriori(
        counts, attractiveness_prior=GammaPrior([1.0, 2.0, 3.0], 2.0), position_bias_prior=GammaPrior(4.0, 8.0)
    )
    assert found.converged
    assert not found.identifiable
    assert found.attractiveness == pytest.approx([0.5, 1.0, 1.5])
    assert found.position_bias == pytest.approx([1.0, 0.5])
    # the curvature of a Gamma density in the logarithm is its shape
    assert found.attractiveness_error == pytest.approx(np.array([0.5, 1.0, 1.5]) / np.sqrt([1.0, 2.0, 3.0]))
    assert found.position_bias_error == pytest.approx([0.0, 0.25])


def test_there_is_an_answer_where_the_likelihood_has_none() -> None:
    """Separable, untied and silent data: all finite."""
    for seen in (
        Rankings([[0, 1], [1, 0], [2, 3]], [[2, 1], [1, 2], [2, 1]], [0, 0, 5], items=4),
        Rankings([[0, 1], [2, 3]], [[2, 1], [2, 0]], [4, 5], items=5),
        Rankings.of_rounds([[0, 1], [1, 2], [2, 0]], [NO_CLICK] * 3, items=3),
    ):
        for counts in (seen, seen.tally):
            found = maximum_a_posteriori(counts, attractiveness_prior=WORTH, position_bias_prior=GammaPrior(1, 1))
            assert found.converged
            assert not found.identifiable
            for intervals in found.intervals():
                assert (intervals.low > 0).all()
                assert np.isfinite(intervals.high).all()


@pytest.mark.parametrize("exact", [True, False], ids=["rankings", "tally"])
def test_intervals_cover_parameters_drawn_from_the_prior(exact: bool) -> None:
    """On average over parameters from the prior, 90 % intervals hold nine in ten, give or take two in a hundred."""
    rng = np.random.default_rng(5)
    worth, bias = GammaPrior(4.0, 10.0), GammaPrior(6.0, 10.0)
    items: list[Any] = []
    slots: list[Any] = []
    for _ in range(400):
        position_bias = np.append(1.0, rng.gamma(6.0, 0.1, 2))
        users = MNL(position_bias=position_bias, attractiveness=rng.gamma(4.0, 0.1, 5))
        seen = at_random(users, 120, rng)
        found = maximum_a_posteriori(
            seen if exact else seen.tally, attractiveness_prior=worth, position_bias_prior=bias
        ).intervals(0.9)
        items.append(found.attractiveness.covers(users.attractiveness).mean())
        slots.append(found.position_bias.covers(position_bias)[1:].mean())
    for covered in (items, slots):
        # the approximation may be off by 0.02, chance by what the false alarm allows
        assert_mean_is(np.clip(np.mean(covered), 0.88, 0.92), covered)


GOOD = GammaPrior(1.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"attractiveness_prior": None, "position_bias_prior": GOOD},
            "attractiveness_prior must be a GammaPrior, got None",
        ),
        (
            {"attractiveness_prior": GammaPrior(None, 1.0), "position_bias_prior": GOOD},
            "attractiveness_prior.shape must be given, got None",
        ),
        (
            {"attractiveness_prior": GammaPrior(1.0, float("nan")), "position_bias_prior": GOOD},
            "attractiveness_prior.rate must be positive and finite, got nan",
        ),
        (
            {"attractiveness_prior": GammaPrior([1.0, float("nan"), 1.0], 1.0), "position_bias_prior": GOOD},
            "attractiveness_prior.shape must be positive and finite, got nan for item 2",
        ),
        (
            {"attractiveness_prior": GammaPrior([1.0, 2.0], 1.0), "position_bias_prior": GOOD},
            "attractiveness_prior.shape must have one entry per item, 3, got 2",
        ),
        (
            {"attractiveness_prior": GOOD, "position_bias_prior": GammaPrior(1.0, [[1.0, 2.0]])},
            "position_bias_prior.rate must be a list of at least one number",
        ),
        (
            {"attractiveness_prior": GOOD, "position_bias_prior": GammaPrior(-1.0, 1.0)},
            "position_bias_prior.shape must be positive and finite, got -1.0",
        ),
        (
            {"attractiveness_prior": GOOD, "position_bias_prior": GammaPrior(1.0, [1.0, -2.0])},
            "position_bias_prior.rate must be positive and finite, got -2.0 for slot 2",
        ),
        (
            {"attractiveness_prior": GammaPrior("1", 1.0), "position_bias_prior": GOOD},
            "attractiveness_prior.shape must be a list of numbers, got '1'",
        ),
        ({"attractiveness_prior": GOOD}, "position_bias_prior or position_bias must be given, and not both, got None"),
        (
            {"attractiveness_prior": GOOD, "position_bias_prior": GOOD, "position_bias": [1.0, 0.5]},
            "position_bias_prior or position_bias must be given, and not both",
        ),
        (
            {"attractiveness_prior": GOOD, "position_bias": [1.0]},
            "position_bias must have one entry per slot, 2, got 1",
        ),
        (
            {"attractiveness_prior": GOOD, "position_bias": [1.0, 0.0]},
            "position_bias must be positive and finite, got 0.0",
        ),
    ],
)
def test_wrong_priors_are_named(arguments: Any, message: str) -> None:
    for counts in (Tally.empty(2, 3), Rankings.empty(2, 3)):
        with pytest.raises(InvalidInput, match=re.escape(message)):
            maximum_a_posteriori(counts, **arguments)
