"""Every estimator through the same checks, and each one's own equations."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from slotwise import MNL, NO_CLICK, Tally, simulate
from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.result_tables import TABLES
from slotwise.estimators import ESTIMATORS, algorithm_1, groups, is_identifiable, known_bias, scaling
from slotwise.estimators.algorithm_1_newton import settle, solver
from slotwise.estimators.algorithm_1_sweeps import START_ATTRACTIVENESS, EpochCounts, solve_from_scratch
from slotwise.simulation.data_collection import at_random

#: Algorithm 1 multiplies λ of the second slot by 1.3 in every sweep
DIVERGING = Tally(np.array([[3, 0, 0], [0, 2, 1]]), np.array([[6, 2, 2], [1, 5, 4]]))


class AtRandom:
    """A uniformly random ranking in every round."""

    def __init__(self, setting: object) -> None:
        self.items, self.slots = setting.items, setting.slots  # type: ignore[attr-defined]

    def choose(self, rng: np.random.Generator) -> object:
        return rng.permutation(self.items)[: self.slots]

    def learn(self, ranking: object, clicked: int) -> None:
        pass


@pytest.fixture(scope="module")
def seen(small: MNL) -> Rankings:
    return at_random(small, 30_000, np.random.default_rng(1))


@pytest.fixture(scope="module")
def tally(seen: Rankings) -> Tally:
    return seen.tally


@pytest.mark.parametrize("name", ESTIMATORS)
def test_consistent(small: MNL, seen: Rankings, tally: Tally, name: str) -> None:
    """Within five standard errors of the truth: about 1/√clicks relatively; false alarm below 1e-5 per parameter."""
    estimate = ESTIMATORS[name](seen)
    assert estimate.converged
    assert estimate.identifiable
    allowed = 5 * np.sqrt(2 / tally.clicks.sum(axis=0).min() + 2 / tally.clicks.sum(axis=1).min())
    assert np.log(estimate.attractiveness / small.attractiveness) == pytest.approx(0, abs=allowed)
    assert np.log(estimate.position_bias / small.position_bias) == pytest.approx(0, abs=allowed)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_shrink_like_one_over_the_square_root(small: MNL, name: str) -> None:
    """A hundredth of the data, ten times the error, give or take a factor of 2.5: false alarm about 1e-4."""
    rng = np.random.default_rng(2)
    runs = [at_random(small, 300, rng) for _ in range(60)]
    large = sum(runs, start=Rankings.empty(small.slots, small.items))

    def error(one: Rankings) -> float:
        return float(np.abs(np.log(ESTIMATORS[name](one).attractiveness / small.attractiveness)).mean())

    little = np.mean([error(one) for one in runs if ESTIMATORS[name](one).identifiable])
    assert 60**0.5 / 2.5 < little / error(large) < 60**0.5 * 2.5


@pytest.mark.parametrize("name", ESTIMATORS)
def test_exact_data_give_the_exact_answer(small: MNL, name: str) -> None:
    """Counts in exact proportion, clicks = γ·passes, leave no room for error."""
    users = MNL(position_bias=[1.0, 0.5, 0.25], attractiveness=[0.5, 1.0, 2.0, 4.0])
    shown = np.array(list(itertools.permutations(range(4), 3)))
    clicks = 8 * users.position_bias * users.attractiveness[shown]
    estimate = ESTIMATORS[name](Rankings(shown, clicks.astype(int), np.full(len(shown), 8), items=4))
    assert estimate.attractiveness == pytest.approx(users.attractiveness, rel=1e-5)
    assert estimate.position_bias == pytest.approx(users.position_bias, rel=1e-5)


def test_the_equations_of_algorithm_1_hold(tally: Tally) -> None:
    found = algorithm_1(tally)
    epochs = tally.passes.sum(axis=1)
    by_slot = (tally.clicks / found.attractiveness).sum(axis=1) / epochs
    by_item = (tally.clicks / found.position_bias[:, None]).sum(axis=0) / tally.passes.sum(axis=0)
    assert found.position_bias[0] == 1.0
    assert found.position_bias[1:] == pytest.approx(by_slot[1:], abs=2e-6)
    assert found.attractiveness == pytest.approx(by_item, abs=2e-6)


def test_scaling_reproduces_the_margins(tally: Tally) -> None:
    found = scaling(tally)
    expected = np.outer(found.position_bias, found.attractiveness) * tally.passes
    assert expected.sum(axis=0) == pytest.approx(tally.clicks.sum(axis=0))
    assert expected.sum(axis=1) == pytest.approx(tally.clicks.sum(axis=1))


def test_scaling_agrees_with_the_known_bias_estimator(tally: Tally) -> None:
    found = scaling(tally)
    assert known_bias(tally, found.position_bias).attractiveness == pytest.approx(found.attractiveness)


def test_scaling_takes_far_fewer_sweeps(tally: Tally) -> None:
    assert scaling(tally).sweeps <= 8 < 30 < algorithm_1(tally).sweeps


def test_algorithm_1_diverges_where_scaling_does_not() -> None:
    runaway = algorithm_1(DIVERGING)
    assert not runaway.converged
    assert runaway.position_bias[1] > 1e6
    solved = scaling(DIVERGING)
    assert solved.converged
    assert solved.identifiable
    assert solved.position_bias == pytest.approx([1.0, 1.6105], abs=1e-4)


def test_known_bias_is_unbiased_over_complete_epochs(small: MNL) -> None:
    """Epochs of a fixed ranking: the mean of α over replications is α."""
    from tests.statistical_assertions import assert_mean_is

    rng = np.random.default_rng(3)
    ranking = np.array([2, 0, 3])
    gamma = small.position_bias * small.attractiveness[ranking]
    samples = []
    for _ in range(3_000):
        passes, clicks = np.zeros((3, 4), int), np.zeros((3, 4), int)
        passes[range(3), ranking] = 10
        # an epoch's counts: negative multinomial, a Poisson number with a gamma-distributed mean
        clicks[range(3), ranking] = rng.poisson(gamma[:, None] * rng.exponential(size=10)).sum(axis=1)
        samples.append(known_bias(Tally(clicks, passes), small.position_bias).attractiveness[ranking])
    assert_mean_is(small.attractiveness[ranking], samples)


def test_items_never_shown_are_unknown() -> None:
    tally = Tally(np.array([[5, 2, 0], [2, 4, 0]]), np.array([[9, 9, 0], [9, 9, 0]]))
    for estimate in (algorithm_1(tally), scaling(tally), known_bias(tally, [1.0, 0.5])):
        assert math.isnan(estimate.attractiveness[2])
        assert np.isfinite(estimate.attractiveness[:2]).all()
        assert not estimate.identifiable


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_data_at_all(name: str) -> None:
    estimate = ESTIMATORS[name](Rankings.empty(2, 3))
    assert np.isnan(estimate.attractiveness).all()
    assert not estimate.identifiable
    assert not estimate.converged
    silent = ESTIMATORS[name](Rankings.of_rounds([[0, 1], [1, 2], [2, 0]], [NO_CLICK] * 3, items=3))
    assert not silent.converged
    assert not silent.identifiable


@pytest.mark.parametrize("name", ESTIMATORS)
def test_clicks_without_a_single_pass_have_no_finite_answer(name: str) -> None:
    estimate = ESTIMATORS[name](Rankings([[0], [1]], [[4], [1]], [0, 3], items=2))
    assert not estimate.converged
    assert estimate.attractiveness[0] == math.inf


def test_bias_of_the_wrong_length_is_refused(tally: Tally) -> None:
    with pytest.raises(InvalidInput, match="position_bias must have one entry per slot, 3, got 2"):
        known_bias(tally, [1.0, 0.5])


def test_identifiability_against_the_definition() -> None:
    """A bounded direction search on every small table: a finite maximum exists iff no direction is free.

    Moving (log α, log λ) along a direction with d_kj = a_j + l_k changes nothing where d = 0, lowers the likelihood for
    good where d > 0 on a shown pair or d < 0 on a clicked one. The estimate is finite and unique iff the only direction
    with d ≥ 0 on clicked pairs and d ≤ 0 on shown ones is d = 0 up to the anchor: checked as a linear program.
    """
    from scipy.optimize import linprog

    rng = np.random.default_rng(4)
    verdicts = set()
    for _ in range(300):
        clicks = rng.integers(0, 2, (2, 3)) * rng.integers(0, 2, (2, 3))
        passes = rng.integers(0, 2, (2, 3))
        shown = (clicks + passes) > 0
        # variables: log α (3), log λ of the second slot (1); the first slot is the anchor
        rows = np.array([[*(np.arange(3) == j), k == 1] for k, j in itertools.product(range(2), range(3))], float)
        up = rows[(clicks > 0).ravel()]
        down = rows[shown.ravel()]
        finite = True
        for variable, sign in itertools.product(range(4), (-1, 1)):
            target = np.zeros(4)
            target[variable] = -sign
            bounds = [(-1, 1)] * 4
            constraint = np.concatenate([-up, down])
            found = linprog(target, A_ub=constraint, b_ub=np.zeros(len(constraint)), bounds=bounds)
            assert found.fun is not None
            finite = found.fun > -1e-9
            if not finite:
                break
        verdict = is_identifiable(Tally(clicks, np.where(shown, np.maximum(passes, 1), 0)))
        assert verdict == finite
        verdicts.add(verdict)
    assert verdicts == {True, False}


def test_an_item_that_was_never_passed_is_not_identifiable() -> None:
    assert not is_identifiable(Tally(np.array([[3, 1, 2], [1, 2, 0]]), np.array([[5, 2, 0], [2, 5, 0]])))


def test_groups_name_the_parts() -> None:
    slots, items = groups(Tally(np.array([[3, 0], [0, 2]]), np.array([[5, 0], [0, 5]])))
    assert slots[0] == items[0] != slots[1] == items[1]


def test_the_accelerated_solver_finds_the_same_fixed_point(small: MNL) -> None:
    """Newton steps and plain sweeps end within what the sweeps' own stopping rule leaves open."""
    runs = simulate(small, AtRandom, rounds=400, replications=30, seed=5)["AtRandom"]
    taken: list[int] = []
    for one in runs.tallies:
        clicks, passes = one.clicks.astype(float), one.passes.astype(float)
        bias, attractiveness, _, converged = solve_from_scratch(clicks, passes)
        if not converged:
            continue
        fast_bias, fast = np.ones(small.slots), np.full(small.items, START_ATTRACTIVENESS)
        steps = settle(solver(small.slots, small.items), EpochCounts.of(clicks, passes), fast_bias, fast)
        taken.append(steps)
        assert fast == pytest.approx(attractiveness, abs=1e-5)
        assert fast_bias == pytest.approx(bias, abs=1e-5)
    assert np.median(taken) < 20


def test_the_accelerated_solver_runs_away_as_the_plain_one_does() -> None:
    clicks, passes = DIVERGING.clicks.astype(float), DIVERGING.passes.astype(float)
    plain_bias, plain, _, _ = solve_from_scratch(clicks, passes)
    bias, attractiveness = np.ones(2), np.full(3, START_ATTRACTIVENESS)
    settle(solver(2, 3), EpochCounts.of(clicks, passes), bias, attractiveness)
    assert bias == pytest.approx(plain_bias)
    assert attractiveness == pytest.approx(plain)


def test_leaps_take_the_sweeps_to_where_sweeping_takes_them() -> None:
    """Tables that tie slots and items weakly or not at all: sweeps at once end where the same sweeps one by one end."""
    from slotwise.estimators.algorithm_1_sweeps import FLOOR, MAX_SWEEPS, TOLERANCE, room_to_work, sweep

    rng = np.random.default_rng(6)
    crept = 0
    for _ in range(400):
        slots, items = int(rng.integers(2, 4)), int(rng.integers(2, 6))
        passes = rng.integers(1, 30, (slots, items)).astype(float)
        clicks = (rng.poisson(passes * 0.1) * (rng.random((slots, items)) < 0.35)).astype(float)
        bias, attractiveness = np.ones(slots), np.full(items, START_ATTRACTIVENESS)
        work = room_to_work(slots, items)
        change, sweeps = math.inf, 0
        while change >= TOLERANCE and sweeps < MAX_SWEEPS - 1:
            change = sweep(EpochCounts.of(clicks, passes), bias, attractiveness, work)
            sweeps += 1
        crept += change >= TOLERANCE
        fast_bias, fast, _, _ = solve_from_scratch(clicks, passes)
        # 2 % of a parameter that has moved by many orders of magnitude
        assert np.log(fast_bias / bias) == pytest.approx(0, abs=0.02)
        assert np.log(np.maximum(fast, FLOOR) / attractiveness) == pytest.approx(0, abs=0.02)
    assert crept > 0


def test_an_estimate_has_the_same_numbers_as_dictionary_frame_and_text() -> None:
    estimate = scaling(Tally(np.array([[30, 12, 0], [8, 21, 0]]), np.array([[50, 50, 0], [50, 50, 0]])))
    plain = estimate.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["items"][2] == {"item": 2, "attractiveness": None, "low": 0.0, "high": None}
    for table in TABLES:
        rows = estimate.to_frame(table)
        assert list(rows.columns) == list(plain[table][0])
        assert rows.iloc[0].tolist() == list(plain[table][0].values())
    assert "do not compare all slots and items" in estimate.summary()
    assert "not identifiable" in repr(estimate)
    with pytest.raises(InvalidInput, match="table must be items or slots, got 'rows'"):
        estimate.to_frame("rows")  # type: ignore[arg-type]
