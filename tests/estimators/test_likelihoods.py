"""The joint likelihood and its maximum, against brute force, closed forms and each other."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from slotwise import EMPTY, MNL, NO_CLICK, Tally
from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators import ESTIMATORS, maximum_likelihood, scaling
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.list_kernels import information
from slotwise.simulation.data_collection import at_random, by_policy
from tests.registered_components import from_data_alone


@pytest.fixture(scope="module")
def seen(small: MNL) -> Rankings:
    return at_random(small, 800, np.random.default_rng(1))


def joint_log_likelihood(seen: Rankings, position_bias: FloatArray, attractiveness: FloatArray) -> float:
    """As it is defined, ranking by ranking."""
    gamma = position_bias * attractiveness[seen.shown]
    return float((seen.clicks * np.log(gamma)).sum() - seen.times @ np.log1p(gamma.sum(axis=1)))


def by_brute_force(value: Callable[[FloatArray, FloatArray], float], slots: int, items: int) -> tuple[Any, Any]:
    def split(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.exp(np.append(0.0, logs[: slots - 1])), np.exp(logs[slots - 1 :])

    def lost(logs: FloatArray) -> float:
        return -value(*split(logs))

    start: FloatArray = np.full(slots - 1 + items, -1.0)
    found = minimize(lost, start, method="BFGS", tol=1e-10)
    return split(found.x)


def test_maximum_likelihood_equals_the_brute_force_maximum(seen: Rankings) -> None:
    found = maximum_likelihood(seen)
    bias, alpha = by_brute_force(lambda bias, alpha: joint_log_likelihood(seen, bias, alpha), 3, 4)
    assert found.converged
    assert found.attractiveness == pytest.approx(alpha, rel=1e-4)
    assert found.position_bias == pytest.approx(bias, rel=1e-4)


def test_the_scores_vanish(seen: Rankings) -> None:
    best = maximum_likelihood(seen)
    weights = best.position_bias * best.attractiveness[seen.shown]
    chances = weights / (1 + weights.sum(axis=1, keepdims=True))
    residual = np.zeros((3, 4))
    np.add.at(residual, (np.broadcast_to(np.arange(3), seen.shown.shape), seen.shown), seen.times[:, None] * chances)
    residual -= seen.tally.clicks
    assert residual.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert residual.sum(axis=1)[1:] == pytest.approx(0, abs=1e-6)


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=25)
def test_no_other_estimate_is_more_likely(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots = int(rng.integers(1, 4))
    users = MNL(position_bias=rng.uniform(0.2, 1.0, slots), attractiveness=rng.uniform(0.1, 1.0, slots + 1))
    seen = at_random(users, 400, rng)
    best = maximum_likelihood(seen)
    if not (best.converged and best.identifiable):
        return
    most = joint_log_likelihood(seen, best.position_bias, best.attractiveness)
    for estimator in from_data_alone().values():
        other = estimator(seen)
        assert joint_log_likelihood(seen, other.position_bias, other.attractiveness) <= most + 1e-9 * abs(most)
    for _ in range(5):
        bias = best.position_bias * np.append(1.0, np.exp(0.01 * rng.standard_normal(slots - 1)))
        alpha = best.attractiveness * np.exp(0.01 * rng.standard_normal(slots + 1))
        assert joint_log_likelihood(seen, bias, alpha) <= most + 1e-9 * abs(most)


def test_value_score_and_information_are_each_others_derivatives(small: MNL, seen: Rankings) -> None:
    """Central differences of the log-likelihood give the score, and those of the score the information."""
    joint = Joint.of(seen, (np.full(4, 0.5), np.full(4, 2.0)), (np.full(3, 1.5), np.full(3, 3.0)))
    bias, alpha = small.position_bias.copy(), small.attractiveness.copy()
    here = joint.at(bias, alpha)

    def moved(i: int, by: float) -> Any:
        steps = np.zeros(6)
        steps[i] = by
        return joint.at(bias * np.exp(np.append(0.0, steps[4:])), alpha * np.exp(steps[:4]))

    score = np.append(here.items, here.slots[1:])
    step = 1e-5
    assert score == pytest.approx(
        [(moved(i, step).value - moved(i, -step).value) / (2 * step) for i in range(6)], rel=1e-4, abs=1e-3
    )
    differences = np.zeros((6, 6))
    for i in range(6):
        up, down = moved(i, step), moved(i, -step)
        differences[i] = (np.append(down.items, down.slots[1:]) - np.append(up.items, up.slots[1:])) / (2 * step)
    weights = bias * alpha[seen.shown]
    chances = weights / (1 + weights.sum(axis=1, keepdims=True))
    matrix = np.diag(np.append(2.0 * alpha, 3.0 * bias[1:]))
    information(seen.shown, joint.times, chances, np.array([0, 1, 2, 3, -1, 4, 5]), matrix)
    assert matrix == pytest.approx(differences, rel=1e-5, abs=1e-4)
    # the Newton step by conjugate gradients, to the accuracy that it is solved to
    items, slots = here.solve(here.items, here.slots)
    exact = np.linalg.solve(matrix, score)
    error = np.append(items, slots[1:]) - exact
    assert error @ matrix @ error < 1e-3 * exact @ matrix @ exact


@pytest.mark.parametrize("name", from_data_alone())
def test_one_slot_has_a_closed_form(name: str) -> None:
    """With one slot nothing else can be clicked: every estimator is clicks over passes."""
    seen = Rankings([[0], [1], [2]], [[3], [4], [5]], [6, 10, 2], items=3)
    estimate = ESTIMATORS[name](seen)
    assert estimate.attractiveness == pytest.approx([0.5, 0.4, 2.5], rel=1e-6)
    assert estimate.converged


@pytest.mark.parametrize("name", from_data_alone())
def test_one_item(name: str) -> None:
    seen = Rankings.of_rounds([[0]] * 5, [0, NO_CLICK, NO_CLICK, 0, NO_CLICK], items=1)
    assert ESTIMATORS[name](seen).attractiveness == pytest.approx([2 / 3])


def test_an_item_without_clicks_is_worth_nothing_and_changes_nothing() -> None:
    seen = Rankings([[0, 1], [1, 0], [2, 0], [0, 2]], [[5, 3], [4, 2], [0, 3], [6, 0]], [9, 8, 7, 9], items=3)
    estimate = maximum_likelihood(seen)
    assert estimate.attractiveness[2] == 0.0
    assert estimate.converged
    # the same rounds with the slot of item 2 empty
    rest = Rankings([[0, 1], [1, 0], [EMPTY, 0], [0, EMPTY]], [[5, 3], [4, 2], [0, 3], [6, 0]], [9, 8, 7, 9], items=2)
    without = maximum_likelihood(rest)
    assert without.attractiveness == pytest.approx(estimate.attractiveness[:2])
    assert without.position_bias == pytest.approx(estimate.position_bias)
    assert without.identifiable


def test_a_slot_without_clicks_is_worth_nothing() -> None:
    seen = Rankings([[0, 1], [1, 0]], [[5, 0], [4, 0]], [9, 8], items=2)
    for estimator in (maximum_likelihood, scaling):
        estimate = estimator(seen)
        assert estimate.position_bias.tolist() == [1.0, 0.0]
        assert estimate.attractiveness == pytest.approx([5 / 9, 4 / 8])
        assert not estimate.identifiable


def test_an_item_clicked_whenever_shown_is_set_apart() -> None:
    """Its attractiveness is infinite; the others are estimated from the rankings without it."""
    shown = [[0, 1], [1, 0], [2, 0], [3, 1]]
    seen = Rankings(shown, [[5, 3], [4, 2], [6, 0], [1, 1]], [9, 8, 0, 2], items=4)
    estimate = maximum_likelihood(seen)
    assert estimate.attractiveness[2] == np.inf
    assert not estimate.converged
    assert not estimate.identifiable
    rest = maximum_likelihood(Rankings([[0, 1], [1, 0], [2, 1]], [[5, 3], [4, 2], [1, 1]], [9, 8, 2], items=3))
    assert estimate.attractiveness[[0, 1, 3]] == pytest.approx(rest.attractiveness)
    assert estimate.attractiveness_error[[0, 1, 3]] == pytest.approx(rest.attractiveness_error)
    assert estimate.intervals().attractiveness.high[2] == np.inf


def test_a_group_that_never_loses_is_set_aside() -> None:
    """Items 0 and 1 were never passed, only preferred to each other: both run away together, and the others stay."""
    seen = Rankings([[0, 1], [1, 0], [2, 3], [3, 2]], [[2, 1], [1, 2], [2, 1], [1, 2]], [0, 0, 5, 5], items=4)
    estimate = maximum_likelihood(seen)
    assert not estimate.converged
    assert np.isinf(estimate.attractiveness).tolist() == [True, True, False, False]
    alone = maximum_likelihood(Rankings([[0, 1], [1, 0]], [[2, 1], [1, 2]], [5, 5], items=2))
    assert estimate.attractiveness[2:] == pytest.approx(alone.attractiveness)
    intervals = estimate.intervals().attractiveness
    assert np.isinf(intervals.high).tolist() == [True, True, False, False]
    assert intervals.high[2:] == pytest.approx(alone.intervals().attractiveness.high)


def test_maximum_likelihood_needs_rankings(seen: Rankings) -> None:
    with pytest.raises(InvalidInput, match="maximum likelihood needs Rankings"):
        maximum_likelihood(seen.tally)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="counts must be a Tally or Rankings, got 3"):
        scaling(3)  # type: ignore[arg-type]


def test_data_of_a_policy_that_learns_are_as_good(small: MNL) -> None:
    """How the rankings were chosen does not enter the likelihood; within five standard errors, false alarm 1e-5."""
    estimate = maximum_likelihood(by_policy(small, "epoch-ucb", 5_000, np.random.default_rng(2)))
    assert estimate.converged
    distance = np.abs(np.log(estimate.attractiveness / small.attractiveness))
    assert (distance < 5 * estimate.attractiveness_error / estimate.attractiveness).all()


def test_clicks_on_items_never_passed_do_not_disturb_scaling() -> None:
    """They have no finite attractiveness and say nothing of the slots; the sweeps come to rest for the others."""
    clicks, passes = np.array([[30, 12, 4], [8, 21, 0]]), np.array([[50, 50, 0], [50, 50, 0]])
    with_it, without = scaling(Tally(clicks, passes)), scaling(Tally(clicks[:, :2], passes[:, :2]))
    assert with_it.attractiveness[:2] == pytest.approx(without.attractiveness)
    assert with_it.position_bias == pytest.approx(without.position_bias)
    assert with_it.attractiveness[2] == np.inf
    assert not with_it.converged


@pytest.mark.parametrize("name", from_data_alone(without="many items"))
def test_many_items_are_no_obstacle(name: str) -> None:
    """A hundred thousand items, each shown some ten times; how long it takes is measured by `make bench`."""
    items, slots, rounds = 100_000, 5, 200_000
    rng = np.random.default_rng(3)
    # distinct items in each ranking: a random start, then random strides
    shown = (rng.integers(0, items, (rounds, 1)) + np.cumsum(rng.integers(1, 100, (rounds, slots)), axis=1)) % items
    position_bias, attractiveness = 0.7 ** np.arange(slots), rng.uniform(0.1, 0.5, items)
    weights = np.cumsum(position_bias * attractiveness[shown], axis=1)
    left = rng.random(rounds) * (1 + weights[:, -1]) - 1
    clicked = np.where(left < 0, NO_CLICK, np.minimum((weights <= left[:, None]).sum(axis=1), slots - 1))
    seen = Rankings.of_rounds(shown, clicked, items=items)
    estimate = ESTIMATORS[name](seen)
    intervals = estimate.intervals()
    assert estimate.uncertainty.at_rest
    shown_at_all = seen.showings.sum(axis=0) > 0
    assert 0.92 < intervals.attractiveness.covers(attractiveness)[shown_at_all].mean() < 1.0


def test_all_rankings_of_three() -> None:
    """Every ranking shown as often as its weights say: the maximum is where the data come from, exactly."""
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[1.0, 2.0, 4.0])
    shown = np.array(list(itertools.permutations(range(3), 2)))
    clicks = (10 * users.position_bias * users.attractiveness[shown]).astype(int)
    estimate = maximum_likelihood(Rankings(shown, clicks, np.full(len(shown), 10), items=3))
    assert estimate.attractiveness == pytest.approx(users.attractiveness, rel=1e-7)
    assert estimate.position_bias == pytest.approx(users.position_bias, rel=1e-7)


def test_compiled_kernels_give_exactly_the_results_of_plain_python(small: MNL) -> None:
    script = (
        "import numpy as np; from slotwise import MNL; from slotwise.estimators import *;"
        "import tests.registered_components as all;"
        "from slotwise.simulation.data_collection import at_random;"
        f"users = MNL(position_bias={small.position_bias.tolist()}, attractiveness={small.attractiveness.tolist()});"
        "seen = at_random(users, 300, np.random.default_rng(1));"
        "found = [f(seen) for f in all.from_data_alone().values()] + [scaling(seen.tally)];"
        "print([(one.attractiveness.tolist(), one.attractiveness_error.tolist()) for one in found])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "NUMBA_DISABLE_JIT": setting},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        ).stdout
        for setting in ("0", "1")
    }
    assert len(printed) == 1


def test_two_impressions_do_not_erase_the_intervals_of_a_log(small: MNL) -> None:
    """Two new items, shown together twice, each clicked once."""
    log = at_random(small, 2_000, np.random.default_rng(12))
    wide = Rankings(log.shown, log.clicks, log.passes, items=small.items + 2)
    pair = [small.items, small.items + 1, EMPTY]
    both = wide + Rankings([pair], [[1, 1, 0]], [0], items=small.items + 2)
    before, after = (maximum_likelihood(one).intervals().attractiveness for one in (log, both))
    assert after.high[: small.items] == pytest.approx(before.high, rel=1e-6)
    assert np.isinf(after.high[small.items :]).all()


@pytest.mark.parametrize("estimator", [scaling, maximum_likelihood])
def test_slots_of_a_log_in_which_everything_is_clicked_are_unknown_and_not_worthless(estimator: Any) -> None:
    found = estimator(Rankings([[0, 1], [1, 0]], [[100, 80], [90, 70]], [0, 0], items=2))
    assert np.isnan(found.position_bias[1])
    assert np.isinf(found.intervals().position_bias.high[1])
