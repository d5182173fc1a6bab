from __future__ import annotations

import numpy as np
import pytest

from slotwise import Tally
from slotwise.core.types import FloatArray
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


def by_differences(tally: Tally, step: float = 1.0) -> FloatArray:
    """β as the paper writes it: estimate again with more clicks on each pair that was shown."""
    clicks, passes = tally.clicks.astype(float), tally.passes.astype(float)
    base, beta_squared = solve_from_scratch(clicks, passes)[1], np.zeros(tally.items)
    for slot, item in np.argwhere(passes >= 1):
        raised = clicks.copy()
        raised[slot, item] += step
        beta_squared += passes[slot, item] * ((solve_from_scratch(raised, passes)[1] - base) / step) ** 2
    return np.asarray(np.sqrt(beta_squared))


def test_the_formula_is_the_limit_of_small_steps() -> None:
    """Small steps want the estimate to more digits than Algorithm 1's tolerance leaves: its counts are scaled up."""
    tally = Tally(
        np.array([[300, 120, 80], [80, 210, 60], [40, 30, 90]]) * 1_000,
        np.array([[500, 450, 650], [500, 600, 500], [600, 550, 450]]) * 1_000,
    )
    assert by_differences(tally, step=100.0) == pytest.approx(sensitivity(tally), rel=5e-3)


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


def test_the_formula_is_within_a_tenth_of_the_papers_unit_steps(tally: Tally) -> None:
    assert np.log(sensitivity(tally) / by_differences(tally)) == pytest.approx(0.0, abs=np.log(1.1))


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
    assert np.sqrt(beta_squared) == pytest.approx(by_differences(tally), rel=0.02)


def test_items_without_clicks_have_a_finite_sensitivity() -> None:
    tally = Tally(np.array([[30, 0, 12], [14, 0, 9]]), np.array([[50, 2, 50], [50, 2, 50]]))
    exact, unit = sensitivity(tally), by_differences(tally)
    assert np.isfinite(exact).all()
    assert exact[1] == pytest.approx(unit[1], rel=0.1)


def test_items_never_shown_are_infinitely_sensitive() -> None:
    tally = Tally(np.array([[30, 0, 12], [14, 0, 9]]), np.array([[50, 0, 50], [40, 0, 50]]))
    assert sensitivity(tally)[1] == np.inf
