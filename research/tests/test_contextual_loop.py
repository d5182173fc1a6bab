"""Visitors and items with features: what is told is what attracts, and regret is against the best for that visitor."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from research.contextual.contextual_mnl import ContextualMNL, ContextualTask, see_features
from slotwise import NO_CLICK, simulate
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import interpreted, record
from slotwise.optimize import Goal
from slotwise.policies.interface import choose, learn
from tests.statistical_assertions import assert_frequencies, assert_mean_is

WEIGHTS = np.array([3.0, -2.0, 1.0])
USERS = ContextualMNL(position_bias=[0.4, 0.8], weights=WEIGHTS, items=4, fixed=1)


class Seeing:
    """Shows lists at random, and writes down what it saw and what was clicked."""

    def __init__(self, task: PolicyTask) -> None:
        self.task = task
        SEEN.clear()

    def see_features(self, features: FloatArray) -> None:
        self.features = features

    def choose(self, rng: np.random.Generator) -> Ranking:
        return rng.permutation(self.task.items)[: self.task.slots]

    def learn(self, ranking: Ranking, clicked: int) -> None:
        SEEN.append((self.task, self.features, ranking, clicked))


SEEN: list[tuple[PolicyTask, FloatArray, Ranking, int]] = []


def _seen(rounds: int, seed: int = 1) -> tuple[Any, FloatArray, FloatArray, FloatArray]:
    run = simulate(USERS, Seeing, rounds=rounds, seed=seed, record_at=rounds)["Seeing"]
    _, features, rankings, clicked = zip(*SEEN, strict=True)
    return run, np.array(features), np.array(rankings), np.array(clicked)


def test_features_are_bounded_and_drawn_afresh_except_those_of_items() -> None:
    _, features, _, _ = _seen(2_000)
    assert np.abs(features).max() <= 1 / np.sqrt(3)
    assert (features[:, :, 0] == features[0, :, 0]).all()
    task = SEEN[0][0]
    assert isinstance(task, ContextualTask)
    assert task.context == 3
    assert task.features is not None
    assert np.array_equal(task.features[:, 0], features[0, :, 0])
    fresh = features[:, :, 1:].reshape(len(features), -1)
    assert_mean_is(np.zeros(8), fresh)
    assert_mean_is(np.full(8, 1 / 9), fresh**2)
    # nothing of a visitor is left for the next
    assert_mean_is(np.zeros(8), fresh[1:] * fresh[:-1])


def test_clicks_and_regret_follow_from_the_features_passed_to_the_policy() -> None:
    run, features, rankings, clicked = _seen(4_000)
    attractiveness = np.exp(features @ WEIGHTS)
    rows = np.arange(len(rankings))[:, None]
    weights = np.array([0.4, 0.8]) * attractiveness[rows, rankings]
    law = np.column_stack([weights, np.ones(len(weights))]) / (1 + weights.sum(axis=1, keepdims=True))
    # of rounds in which a click on slot 1 is about as likely, it is about as frequent
    for slot in (0, 1, NO_CLICK):
        likely = np.argsort(law[:, slot]).reshape(4, -1)
        counts = np.array([(clicked[part] == slot).sum() for part in likely])
        assert_mean_is(0.0, (clicked == slot) - law[:, slot])
        assert_frequencies(law[:, slot][likely].sum(axis=1) / law[:, slot].sum(), counts)
    top = -np.sort(-attractiveness, axis=1)
    best = top[:, 1] * 0.4 + top[:, 0] * 0.8
    regret = (best / (1 + best) - 1 + law[:, NO_CLICK]).sum()
    assert run.regret[0, -1] == pytest.approx(regret)


def test_all_policies_have_the_same_visitors() -> None:
    first = _seen(50)[1]

    class Other(Seeing):
        def choose(self, rng: np.random.Generator) -> Ranking:
            rng.random(7)
            return super().choose(rng)

    simulate(USERS, Other, rounds=50, seed=1)
    assert np.array_equal(first, np.array([features for _, features, _, _ in SEEN]))


@record
class Knowing:
    """Knows θ: shows what attracts most."""

    weights: FloatArray
    index: FloatArray
    ranking: Ranking


@see_features.register(Knowing)
def _see_features(policy: Knowing, features: FloatArray) -> None:
    for item in range(len(policy.index)):
        policy.index[item] = 0.0
        for feature in range(len(policy.weights)):
            policy.index[item] += features[item, feature] * policy.weights[feature]


@choose.register(Knowing)
def _choose(policy: Knowing, rng: np.random.Generator) -> Ranking:
    order = np.argsort(-policy.index)
    policy.ranking[1], policy.ranking[0] = order[0], order[1]
    return policy.ranking


@learn.register(Knowing)
def _learn(policy: Knowing, ranking: Ranking, clicked: int) -> None:
    pass


def knowing(task: PolicyTask) -> Knowing:
    return Knowing(weights=WEIGHTS, index=np.zeros(task.items), ranking=np.zeros(task.slots, np.int64))


def test_the_oracle_has_no_regret_compiled_and_plain() -> None:
    run = simulate(USERS, [knowing, "toprank"], rounds=300, replications=2, seed=3)
    assert run["knowing"].regret == pytest.approx(0.0, abs=1e-9)
    assert run["toprank"].mean > 1.0
    with interpreted():
        plain = simulate(USERS, "toprank", rounds=300, replications=2, seed=3, jobs=1)
    assert np.array_equal(plain["toprank"].regret, run["toprank"].regret)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [1.0, float("nan")]}, "weights must be finite, got nan for feature 2"),
        ({"weights": []}, "weights must be a list of at least one number, got []"),
        ({"weights": [[1.0]]}, "weights must be a list of at least one number, got [[1.0]]"),
        ({"items": 1}, "position_bias has 2 slots but there are only 1 items to fill them"),
        ({"fixed": 3}, "fixed must be at most 2, got 3"),
        ({"position_bias": [1.0, 0.0]}, "position_bias must be positive and finite, got 0.0 for slot 2"),
    ],
)
def test_parameters_are_checked(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"position_bias": [1.0, 0.5], "weights": [1.0, 2.0], "items": 5} | change
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ContextualMNL(**given)


def test_a_goal_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a goal needs users who choose by multinomial logit"):
        simulate(USERS, "thompson-sampling", rounds=10, goal=Goal(values=[1.0, 2.0, 3.0, 4.0]))
