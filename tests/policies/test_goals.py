"""Every registered policy that takes a goal, through the same checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from slotwise import EMPTY, MNL, NO_CLICK, Goal, PolicyTask, get_policy, simulate
from slotwise import available_policies as registered
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput
from slotwise.jit import interpreted
from slotwise.optimize import best_list, expected_value
from slotwise.optimize.goal_value import valued
from slotwise.policies import PolicySpec, choose, learn
from tests.optimize.problems import allowed_lists
from tests.registered_components import compiled_first, policies, variants

CAPABLE = [chosen for chosen in variants() if chosen.takes_goal]
every_policy = pytest.mark.parametrize("chosen", compiled_first(CAPABLE), ids=str)
#: the policy that `make test` compiles with a goal
FIRST = "epoch-ucb"


def without_limits(*limits: str) -> pytest.MarkDecorator:
    """Every policy that takes a goal, without options, and without those that declare one of these limits.

    Each is compiled with its goal, which takes up to half a minute: all but one are for `make test-all`.
    """
    able = [entry for entry in policies() if entry.takes_goal and entry.limits.keys().isdisjoint(limits)]
    chosen = [entry if entry.id == FIRST else pytest.param(entry, marks=pytest.mark.long) for entry in able]
    return pytest.mark.parametrize("chosen", chosen, ids=str)


#: values, a pin, an exclusion, a group and empty slots; small enough to list what is allowed
USERS = MNL(position_bias=[1.0, 0.5, 0.25], attractiveness=[0.9, 0.1, 0.5, 0.1, 0.1, 0.7])
EVERYTHING = Goal(
    [1.0, 1.1, 1.1, 1.0, 1.1, 1.1],
    pin={4: 2},
    exclude=[1],
    groups=["a", None, None, None, None, "a"],
    max_per_group={"a": 1},
    may_be_empty=True,
)


def test_policies_without_goals_give_the_reason() -> None:
    assert "toprank" in [entry.id for entry in registered() if not entry.takes_goal]
    with pytest.raises(InvalidInput, match="toprank cannot work towards a goal"):
        simulate(USERS, ["epoch-ucb", "toprank"], goal=EVERYTHING, rounds=10)
    with pytest.raises(InvalidInput, match="toprank cannot work towards a goal"):
        get_policy("toprank").start(PolicyTask(3, 6, 10, goal=EVERYTHING))


@pytest.mark.usefixtures("interpreting")
@every_policy
@pytest.mark.parametrize("outcome", ["by chance", "never a click", "always the first that can be"])
@pytest.mark.parametrize("values", [None, [5.0, 9.0, 0.0, 0.1, 3.0, 0.2]], ids=["no values", "values far apart"])
def test_lists_are_always_allowed(chosen: PolicySpec, outcome: str, values: Any) -> None:
    goal = Goal(
        values,
        pin={4: 2},
        exclude=[1],
        groups=EVERYTHING.groups,
        max_per_group={"a": 1},
        may_be_empty=values is not None,
    )
    users, rng = valued(USERS, goal), np.random.default_rng(1)
    started = chosen.start(PolicyTask(3, 6, 120, USERS.position_bias, goal))
    for now in range(120):
        ranking = goal.ranking_of(choose(started, rng), slots=3, items=6).copy()
        clicked = draw(users, ranking, rng) if outcome == "by chance" else NO_CLICK
        if outcome.startswith("always") and now % 7 < 6:
            clicked = int(np.flatnonzero(ranking != EMPTY)[0])
        learn(started, ranking, clicked)


@pytest.mark.usefixtures("interpreting")
@every_policy
def test_an_empty_slot_teaches_nothing(chosen: PolicySpec) -> None:
    """EMPTY is -2, which as an index is the last item but one: it is excluded here and must have no counts."""
    goal = Goal([9.0, 1.0, 0.5, 0.5], exclude=[2], may_be_empty=True)
    rng = np.random.default_rng(3)
    started = chosen.start(PolicyTask(3, 4, 60, np.array([1.0, 0.5, 0.4]), goal))
    empty = 0
    for now in range(60):
        ranking = choose(started, rng).copy()
        empty += int((ranking == EMPTY).sum())
        learn(started, ranking, NO_CLICK if now % 2 else int(np.flatnonzero(ranking != EMPTY)[0]))
    assert empty > 0
    inner = getattr(started, "policy", started)
    parts = [inner, *(getattr(inner, name) for name in ("posterior", "model") if hasattr(inner, name))]
    parts += [getattr(part, name) for part in parts for name in ("gibbs", "counts") if hasattr(part, name)]
    names = ("clicks", "passes", "shows", "exposure", "item_trials", "trials")
    counted = [getattr(part, name) for part in parts for name in names if hasattr(part, name)]
    assert counted
    for counts in counted:
        # three slots and four items: the axis of the items is the one of length 4
        assert not np.take(counts, 2, axis=counts.shape.index(4)).any()


@pytest.mark.usefixtures("interpreting")
@every_policy
@pytest.mark.parametrize(
    ("goal", "slots", "items"),
    [
        (Goal(exclude=[0, 1, 2], may_be_empty=True), 2, 3),
        (Goal([0.0, 0.0, 0.0], may_be_empty=True), 2, 3),
        (Goal([0.0, 0.0, 0.0]), 2, 3),
        (Goal(pin={1: 0, 0: 1}), 2, 2),
        (Goal(groups=["a", "a", "b"], max_per_group={"a": 0}, may_be_empty=True), 2, 3),
        (Goal([2.0]), 1, 1),
    ],
    ids=["nothing to show", "nothing of value", "all alike", "nothing to choose", "no group", "one item"],
)
def test_goals_with_little_choice_are_accepted(chosen: PolicySpec, goal: Goal, slots: int, items: int) -> None:
    users = MNL(position_bias=np.linspace(1.0, 0.5, slots), attractiveness=np.linspace(0.5, 0.9, items))
    run = simulate(users, chosen, goal=goal, rounds=60, replications=2)[str(chosen)]
    assert run.regret == pytest.approx(0.0, abs=1e-9) or goal.groups is not None


@without_limits("chance")
def test_better_than_allowed_lists_at_random(chosen: PolicySpec) -> None:
    """Ten replications, each better than the mean over all lists that are allowed."""
    rounds = 3_000
    best = expected_value(USERS, EVERYTHING, best_list(USERS, EVERYTHING))
    values = [expected_value(USERS, EVERYTHING, shown) for shown in allowed_lists(EVERYTHING, 3, 6)]
    run = simulate(USERS, chosen, goal=EVERYTHING, rounds=rounds, replications=10, seed=5)[str(chosen)]
    assert run.regret.min() >= -1e-9
    assert run.final_regret.max() < rounds * (best - np.mean(values))
    for tally in run.tallies:
        shown = tally.clicks + tally.passes
        assert shown[:, 1].sum() == 0  # excluded
        assert shown[2].sum() == shown[:, 4].sum() == shown[2, 4]  # pinned


AGAINST = MNL(position_bias=[1.0, 0.6], attractiveness=[0.2, 0.5, 0.9, 0.05, 0.8])
DEAR_FIRST = Goal([3.0, 1.2, 0.6, 2.5, 0.5])
CROWDED = MNL(position_bias=[1.0, 0.4, 0.7, 0.2], attractiveness=[0.3, 1.0, 0.9, 0.6, 0.8])
DEAR_ONLY = Goal([0.95, 1.0, 0.4, 0.9, 0.3], may_be_empty=True)


def _most_shown(users: MNL, chosen: PolicySpec, goal: Goal) -> tuple[list[int], float, float]:
    """What each slot held most often in rounds without a click, and the regret of the two halves."""
    run = simulate(users, chosen, goal=goal, rounds=100_000, replications=8, seed=2, record_at=2)[str(chosen)]
    passes = np.sum([tally.passes for tally in run.tallies], axis=0)
    left_empty = passes[0].sum() - passes.sum(axis=1)  # the first slot is never
    shown = np.where(left_empty > passes.max(axis=1), EMPTY, passes.argmax(axis=1))
    before, after = np.diff(run.trajectory, prepend=0.0)
    return shown.tolist(), float(before), float(after)


@without_limits("values")
def test_a_list_against_attractiveness_is_found(chosen: PolicySpec) -> None:
    assert best_list(AGAINST, DEAR_FIRST).tolist() == [0, 1]
    shown, before, after = _most_shown(AGAINST, chosen, DEAR_FIRST)
    assert shown == [0, 1]
    assert after < 0.5 * before


@without_limits("values", "empty slots")
def test_a_slot_is_left_empty(chosen: PolicySpec) -> None:
    assert best_list(CROWDED, DEAR_ONLY).tolist() == [1, 0, 3, EMPTY]
    shown, before, after = _most_shown(CROWDED, chosen, DEAR_ONLY)
    assert shown == [1, 0, 3, EMPTY]
    assert after < 0.5 * before


def _regret_and_tallies() -> dict[str, Any]:
    return _regret_and_tallies_of([entry.id for entry in policies() if entry.takes_goal])


def _regret_and_tallies_of_one() -> dict[str, Any]:
    return _regret_and_tallies_of([entry.id for entry in policies() if entry.id == FIRST])


def _regret_and_tallies_of(ids: list[str]) -> dict[str, Any]:
    found = {}
    for label in ids:
        run = simulate(USERS, label, goal=EVERYTHING, rounds=100, replications=2, seed=6, jobs=1)[label]
        found[label] = [run.regret.tolist(), [[t.clicks.tolist(), t.passes.tolist()] for t in run.tallies]]
    # by items and by pairs
    for label in {"epoch-ucb", "mnl-bandit"} & set(ids):
        run = simulate(CROWDED, label, goal=DEAR_ONLY, rounds=200, replications=2, seed=6, jobs=1)[label]
        found[f"{label}, crowded"] = run.regret.tolist()
    return found


@pytest.mark.parametrize(
    "regrets",
    [_regret_and_tallies_of_one, pytest.param(_regret_and_tallies, marks=pytest.mark.long)],
    ids=["one", "all"],
)
def test_compiled_equals_plain(regrets: Callable[[], dict[str, Any]]) -> None:
    """To the last bit, for every policy with its default options; the test of conformance has the other options."""
    with interpreted():
        plain = regrets()
    assert plain == regrets()
