from __future__ import annotations

import numpy as np
import pytest

from slotwise import Tally
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.environments import paper_problems
from slotwise.estimators import sensitivity
from slotwise.estimators.algorithm_1_newton import solver
from slotwise.estimators.algorithm_1_sweeps import EpochCounts, solve_from_scratch
from slotwise.estimators.uncertainty.implicit_derivatives import at_algorithm_1
from slotwise.estimators.uncertainty.sensitivity import finite_differences, trial
from slotwise.simulation.data_collection import at_random

ROUNDS = {"a": 200_000, "b": 100_000, "c": 40_000}


@pytest.fixture(scope="module", params=["a", "b", "c"])
def tally(request: pytest.FixtureRequest) -> Tally:
    users = paper_problems()[request.param].users
    return at_random(users, ROUNDS[request.param], np.random.default_rng(1)).tally


@pytest.mark.parametrize("estimator", ["scaling", "algorithm-1"])
def test_the_formula_is_the_limit_of_small_steps(estimator: str) -> None:
    """Small steps want the estimate to more digits than Algorithm 1's tolerance leaves: its counts are scaled up."""
    tally = Tally(
        np.array([[300, 120, 80], [80, 210, 60], [40, 30, 90]]) * 1_000,
        np.array([[500, 450, 650], [500, 600, 500], [600, 550, 450]]) * 1_000,
    )
    exact = sensitivity(tally, estimator)
    small = sensitivity(tally, estimator, method="finite-difference", step=100.0)
    smaller = sensitivity(tally, estimator, method="finite-difference", step=10.0)
    if estimator == "scaling":
        assert smaller == pytest.approx(exact, rel=1e-4)
    else:
        assert small == pytest.approx(exact, rel=5e-3)


def test_the_formula_of_algorithm_1_is_the_limit_to_four_digits() -> None:
    """The same with the fixed point solved by the accelerated solver, whose error is far below the step's effect."""
    clicks = np.array([[300.0, 120.0, 80.0], [80.0, 210.0, 60.0], [40.0, 30.0, 90.0]])
    passes = np.array([[500.0, 450.0, 650.0], [500.0, 600.0, 500.0], [600.0, 550.0, 450.0]])
    tally = Tally(clicks.astype(int), passes.astype(int))
    base = _settled(clicks, passes)
    step, beta_squared = 0.01, np.zeros(3)
    for slot, item in np.ndindex(3, 3):
        more, less = clicks.copy(), clicks.copy()
        more[slot, item] += step
        less[slot, item] -= step
        slope = (_settled(more, passes) - _settled(less, passes)) / (2 * step)
        beta_squared += passes[slot, item] * slope**2
    assert np.isfinite(base).all()
    assert np.sqrt(beta_squared) == pytest.approx(sensitivity(tally), rel=1e-4)


def _settled(clicks: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """Algorithm 1's fixed point to machine precision: sweeps until nothing moves any more."""
    bias, attractiveness, _, _ = solve_from_scratch(clicks, passes)
    for _ in range(5_000):
        before = attractiveness.copy()
        bias[1:] = (clicks / attractiveness).sum(axis=1)[1:] / passes.sum(axis=1)[1:]
        attractiveness = (clicks / bias[:, None]).sum(axis=0) / passes.sum(axis=0)
        if np.array_equal(before, attractiveness):
            break
    return attractiveness


@pytest.mark.parametrize("estimator", ["algorithm-1", "scaling"])
def test_the_formula_is_within_a_tenth_of_the_papers_unit_steps(tally: Tally, estimator: str) -> None:
    exact = sensitivity(tally, estimator)
    unit = sensitivity(tally, estimator, method="finite-difference")
    assert np.log(exact / unit) == pytest.approx(0.0, abs=np.log(1.1))


def test_known_bias_is_linear_so_both_are_equal(tally: Tally) -> None:
    bias = np.linspace(1.0, 0.5, tally.slots)
    exact = sensitivity(tally, "known-bias", position_bias=bias)
    unit = sensitivity(tally, "known-bias", position_bias=bias, method="finite-difference")
    assert exact == pytest.approx(unit, rel=1e-6)


def test_the_policies_differences_are_those_of_the_plain_definition(tally: Tally) -> None:
    """The compiled differences start from a first-order guess and take Newton steps; the plain ones start over."""
    clicks, passes = tally.clicks.astype(float), tally.passes.astype(float)
    bias, attractiveness, _, _ = solve_from_scratch(clicks, passes)
    solving = solver(tally.slots, tally.items)
    at_algorithm_1(solving.nearby, clicks, passes.sum(axis=0), bias, attractiveness)
    beta_squared = np.zeros(tally.items)
    counts, room = EpochCounts.of(clicks, passes), trial(tally.slots, tally.items)
    finite_differences(solving, room, counts, passes, bias, attractiveness, beta_squared)
    assert np.array_equal(clicks, tally.clicks), "the counts must be put back"
    plain = sensitivity(tally, method="finite-difference")
    assert np.sqrt(beta_squared) == pytest.approx(plain, rel=0.02)


def test_items_without_clicks_have_a_finite_sensitivity() -> None:
    tally = Tally(np.array([[30, 0, 12], [14, 0, 9]]), np.array([[50, 2, 50], [50, 2, 50]]))
    for estimator in ("algorithm-1", "scaling"):
        exact = sensitivity(tally, estimator)
        unit = sensitivity(tally, estimator, method="finite-difference")
        assert np.isfinite(exact).all()
        assert exact[1] == pytest.approx(unit[1], rel=0.1)


def test_items_never_shown_are_infinitely_sensitive() -> None:
    tally = Tally(np.array([[30, 0, 12], [14, 0, 9]]), np.array([[50, 0, 50], [40, 0, 50]]))
    assert sensitivity(tally)[1] == np.inf
    assert sensitivity(tally, "scaling", method="finite-difference")[1] == np.inf


def test_wrong_names_are_refused(tally: Tally) -> None:
    with pytest.raises(UnknownName, match="unknown estimator 'scalin': did you mean scaling"):
        sensitivity(tally, "scalin")
    with pytest.raises(InvalidInput, match="method must be analytic or finite-difference, got 'exact'"):
        sensitivity(tally, method="exact")
