"""Users who may click several times in a round, and users of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import simulate
from slotwise.click_models import MNL, PositionBased
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import interpreted, record
from slotwise.policies.interface import choose, learn, learn_clicks

USERS = PositionBased(position_bias=[0.9, 0.8], attraction=[0.5, 0.6, 0.7])
SINGLE = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.6, 0.7])


class Listening:
    """Shows one list, and writes down what it is told."""

    def __init__(self, task: PolicyTask) -> None:
        self.task, self.told = task, TOLD
        self.told.clear()

    def choose(self, rng: np.random.Generator) -> list[int]:
        return list(range(self.task.slots))

    def learn(self, ranking: Ranking, clicked: int) -> None:
        self.told.append(clicked)


class ListeningToAll(Listening):
    """The same for all clicks."""

    def learn_clicks(self, ranking: Ranking, clicks: BoolArray) -> None:
        self.told.append(clicks.tolist())


TOLD: list[Any] = []


def test_policies_get_all_clicks_or_else_the_first() -> None:
    runs = {}
    for policy in (Listening, ListeningToAll):
        run = simulate(USERS, policy, rounds=300, seed=4, jobs=1)[policy.__name__]
        runs[policy] = TOLD.copy()
        assert run.tallies[0].rounds == 300
    several = np.array(runs[ListeningToAll])
    first = np.where(several.any(axis=1), several.argmax(axis=1), -1)
    assert several.all(axis=1).any(), "somebody should have clicked twice"
    assert runs[Listening] == first.tolist()
    assert run.tallies[0].clicks.sum(axis=1).tolist() == [(first == 0).sum(), (first == 1).sum()]


def test_policies_get_the_single_click_of_users_who_click_once() -> None:
    simulate(SINGLE, ListeningToAll, rounds=50, seed=4, jobs=1)
    assert all(isinstance(one, int) for one in TOLD)


@record
class CountingClicks:
    """Shows one list and counts all clicks, by item."""

    clicks: FloatArray
    ranking: Ranking


@choose.register(CountingClicks)
def _choose(policy: CountingClicks, rng: np.random.Generator) -> Ranking:
    rng.shuffle(policy.ranking)
    return policy.ranking


@learn.register(CountingClicks)
def _learn(policy: CountingClicks, ranking: Ranking, clicked: int) -> None:
    if clicked >= 0:
        policy.clicks[ranking[clicked]] += 1.0


@learn_clicks.register(CountingClicks)
def _learn_clicks(policy: CountingClicks, ranking: Ranking, clicks: BoolArray) -> None:
    for slot in range(len(ranking)):
        if clicks[slot]:
            policy.clicks[ranking[slot]] += 1.0


def _counted() -> list[Any]:
    counts: list[FloatArray] = []

    def counting(task: PolicyTask) -> CountingClicks:
        counts.append(np.zeros(task.items))
        return CountingClicks(clicks=counts[-1], ranking=np.arange(task.slots))

    users = PositionBased(position_bias=[0.9, 0.8], attraction=[0.5, 0.6, 0.7])
    run = simulate(users, counting, rounds=500, seed=5, jobs=1)["counting"]
    return [counts[-1].tolist(), run.regret.tolist(), run.tallies[0].clicks.tolist()]


def test_a_record_learns_from_all_clicks_compiled_and_plain_alike() -> None:
    compiled = _counted()
    with interpreted():
        assert _counted() == compiled
    all_clicks, _, tally = compiled
    assert sum(all_clicks) > np.sum(tally), "the tally has the first clicks only"


class Fickle:
    """Users of one's own: of the two slots one is clicked, or none."""

    slots, items = 2, 3

    def click_probabilities(self, ranking: Ranking) -> FloatArray:
        return np.array(
            [0.1 * (1 + ranking[0]), 0.05 * (1 + ranking[1]), 0.9 - 0.1 * ranking[0] - 0.05 * (1 + ranking[1])]
        )


class Clicking:
    """And such who may click on both."""

    slots, items = 2, 3

    def draw_clicks(self, ranking: IntArray, clicks: BoolArray, rng: np.random.Generator) -> None:
        clicks[:] = rng.random(2) < 0.1 * (1 + ranking)

    def reward(self, ranking: IntArray) -> float:
        return float(0.1 * (1 + ranking).sum())


@pytest.mark.parametrize("users", [Fickle(), Clicking()], ids=lambda users: type(users).__name__)
def test_users_of_ones_own_are_simulated(users: Any) -> None:
    results = simulate(users, ["toprank", Listening], rounds=100, replications=2, jobs=1)
    for run in results.values():
        assert (np.diff(run.regret, prepend=0.0) >= -1e-12).all()
        assert all(tally.rounds == 100 for tally in run.tallies)
    # it shows 0, 1, where 2, 1 would be best
    assert results["Listening"].regret[:, -1] == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "users must have slots and items, whole numbers from 1 on"),
        ({"slots": 2, "items": 1.5}, "users must have slots and items, whole numbers from 1 on"),
        ({"slots": 3, "items": 2}, "users have 3 slots but only 2 items to fill them"),
        ({"slots": 1, "items": 2, "draw": len}, r"users must have click_probabilities\(ranking\), or reward"),
    ],
)
def test_users_who_answer_too_little_are_refused(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        simulate(type("Users", (), attributes)(), "toprank", rounds=10)
