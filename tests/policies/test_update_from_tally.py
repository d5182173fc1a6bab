"""Every registered policy that can start from a tally: updating from it gives the counts of learning its rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import MNL, NO_CLICK, PolicyTask, Tally, get_policy, simulate
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.environments import paper_problems
from slotwise.jit import is_record
from slotwise.policies import PolicySpec, choose, learn, update_from_tally
from slotwise.posterior import HierarchicalPosterior
from slotwise.simulation.data_collection import at_random
from tests.registered_components import only_first, policies, variants

STARTING = [one for one in variants() if "tally" not in one.limits]
starting = pytest.mark.parametrize("chosen", STARTING, ids=str)
refusing = pytest.mark.parametrize("chosen", [one for one in variants() if "tally" in one.limits], ids=str)

USERS = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.8, 0.3, 0.5, 0.2, 0.6])
TASK = PolicyTask(3, 5, 1_000, USERS.position_bias)
#: what a policy has counted, by field; the rest is room, or found anew at each decision
COUNTS = {
    "clicks", "passes", "slot_passes", "item_passes", "slot_clicks", "trials", "item_trials", "all_trials", "per_item",
    "exposure", "variation", "shape", "bias_shape", "mean", "epochs", "rounds", "shows",
}  # fmt: skip


#: of these a tally only gives an estimate: it does not tell the shows without a click, nor parts of passes
ESTIMATED_FROM_TALLY = {"thompson-sampling": {"passes", "rounds"}, "pbm-ucb": {"shows", "exposure", "mean"}}


def _history(epochs: int, seed: int) -> list[tuple[Any, list[int]]]:
    """Lists, and the clicks on each before it was passed."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(epochs):
        ranking, clicks = rng.permutation(USERS.items)[: USERS.slots], []
        while (clicked := draw(USERS, ranking, rng)) != NO_CLICK:
            clicks.append(clicked)
        found.append((ranking, clicks))
    return found


def _learned(chosen: PolicySpec, history: list[tuple[Any, list[int]]]) -> Any:
    started, rng = chosen.start(TASK), np.random.default_rng(1)
    for ranking, clicks in history:
        choose(started, rng)
        for clicked in [*clicks, NO_CLICK]:
            learn(started, ranking, clicked)
    return started


def _tally(history: list[tuple[Any, list[int]]]) -> Tally:
    tally = Tally.empty(USERS.slots, USERS.items)
    for ranking, clicks in history:
        for clicked in [*clicks, NO_CLICK]:
            tally.count(ranking, clicked)
    return tally


def _counts(started: Any, path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in type(started).__annotations__:
        value = getattr(started, name)
        if is_record(value):
            found |= _counts(value, f"{path}{name}.")
        elif name in COUNTS:
            found[path + name] = np.array(value)
    if isinstance(started, HierarchicalPosterior):
        # the clicks alone: a fitted prior, and the means that it makes, depend on when it was fitted
        found[path + "shape"] -= started.items.shape
        fitted = (f"{path}items.", f"{path}segments.")
        found = {name: value for name, value in found.items() if not name.startswith(fitted)}
    return found


def _exactly(chosen: PolicySpec, counts: dict[str, Any]) -> dict[str, Any]:
    """Without what a tally does not tell."""
    left_out = ESTIMATED_FROM_TALLY.get(chosen.id, set())
    # of an epoch policy the clicks of the epoch that runs; the room of a solver
    return {
        path: value
        for path, value in counts.items()
        if path.split(".")[-1] not in left_out and not (path == "clicks" and "policy.clicks" in counts)
    }


@pytest.mark.usefixtures("interpreting")
@starting
def test_updating_equals_learning(chosen: PolicySpec) -> None:
    history = _history(60, seed=2)
    learned, updated = _learned(chosen, history), chosen.start(TASK, _tally(history))
    for started in (learned, updated):
        choose(started, np.random.default_rng(3))
    expected, found = _exactly(chosen, _counts(learned)), _exactly(chosen, _counts(updated))
    assert len(expected) >= 2, f"fields that count should have one of these names: {', '.join(sorted(COUNTS))}"
    for path in expected:
        # means are found by Newton's method, from another start
        assert found[path] == pytest.approx(expected[path], rel=1e-2 if path.endswith("mean") else 1e-12), path


@pytest.mark.usefixtures("interpreting")
@starting
def test_updating_in_parts_equals_updating_once(chosen: PolicySpec) -> None:
    history = _history(60, seed=4)
    whole, parts = chosen.start(TASK, _tally(history)), chosen.start(TASK)
    for part in (history[:5], history[5:35], history[35:]):
        update_from_tally(parts, _tally(part).clicks, _tally(part).passes)
    for path, value in _counts(whole).items():
        assert _counts(parts)[path] == pytest.approx(value, rel=1e-4 if path.endswith("mean") else 1e-12), path


@pytest.mark.usefixtures("interpreting")
@starting
def test_updating_between_decisions(chosen: PolicySpec) -> None:
    """Nothing that was learned before is lost, and the policy goes on."""
    first, second = _history(20, seed=5), _history(20, seed=6)
    started = _learned(chosen, first)
    update_from_tally(started, _tally(second).clicks, _tally(second).passes)
    expected = _counts(chosen.start(TASK, _tally(first + second)))
    for path, value in _exactly(chosen, _counts(started)).items():
        if not path.endswith("mean"):
            assert value == pytest.approx(expected[path], rel=1e-12), path
    rng = np.random.default_rng(7)
    for _ in range(50):
        ranking = choose(started, rng).copy()
        learn(started, ranking, draw(USERS, ranking, rng))


# that of the default, which takes long to compile, is tested as a ranker starts it: test_a_log_starts_it_warm
@pytest.mark.parametrize("chosen", only_first("epoch-ucb", STARTING), ids=str)
def test_a_warm_start_saves_regret(chosen: PolicySpec) -> None:
    """On problem (b), from 20,000 rounds of lists at random; eight replications each, fixed seeds.

    For a policy that takes the slots to be in decreasing order, they are.
    """
    users = paper_problems()["b"].users
    if chosen.position_bias == "ordered":
        users = MNL(position_bias=np.sort(users.position_bias)[::-1], attractiveness=users.attractiveness)
    start = at_random(users, 20_000, np.random.default_rng(8)).tally
    cold, warm = (
        simulate(users, chosen, rounds=2_000, replications=8, seed=9, start=given)[str(chosen)].final_regret
        for given in (None, start)
    )
    error = np.sqrt((cold.var(ddof=1) + warm.var(ddof=1)) / 8)
    assert cold.mean() - warm.mean() > 2.0 * error


@pytest.mark.usefixtures("interpreting")
def test_pbm_ucb_guesses_right_where_one_list_was_shown() -> None:
    """Then every item was shown in every round."""
    rng, ranking = np.random.default_rng(11), np.array([4, 0, 2])
    history = [(ranking, [draw(USERS, ranking, rng)]) for _ in range(80)]
    history = [(shown, [slot for slot in clicks if slot != NO_CLICK]) for shown, clicks in history]
    learned, updated = _learned(get_policy("pbm-ucb"), history), get_policy("pbm-ucb").start(TASK)
    for part in (history[:30], history[30:]):
        update_from_tally(updated, _tally(part).clicks, _tally(part).passes)
    for field in ("shows", "exposure", "clicks"):
        assert getattr(updated, field) == pytest.approx(getattr(learned, field)), field


@pytest.mark.usefixtures("interpreting")
def test_a_pass_of_the_list_that_is_shown_ends_its_epoch_and_keeps_its_clicks() -> None:
    started, rng = get_policy("epoch-ucb").start(TASK), np.random.default_rng(12)
    ranking = choose(started, rng).copy()
    learn(started, ranking, 1)
    other = Tally.empty(3, 5)
    other.count(np.roll(ranking, 1), NO_CLICK)
    update_from_tally(started, other.clicks, other.passes)
    assert started.running
    assert np.array_equal(choose(started, rng), ranking)
    same = Tally.empty(3, 5)
    same.count(ranking, NO_CLICK)
    update_from_tally(started, same.clicks, same.passes)
    assert not started.running
    assert started.policy.clicks.sum() == 1.0
    assert started.policy.epochs == 2.0


@pytest.mark.usefixtures("interpreting")
@refusing
def test_who_remembers_more_than_a_tally_refuses_by_name(chosen: PolicySpec) -> None:
    start = _tally(_history(3, seed=13))
    with pytest.raises(InvalidInput, match=f"{chosen} cannot start from a tally: {chosen.limits['tally']}"):
        simulate(USERS, chosen, rounds=10, start=start)


def test_a_tally_of_another_shape_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="the tally has 2 slots and 5 items, but the task has 3 and 5"):
        simulate(USERS, "epoch-ucb", rounds=10, start=Tally.empty(2, 5))
    with pytest.raises(InvalidInput, match="starts from a Tally, got 3"):
        simulate(USERS, "epoch-ucb", rounds=10, start=3)  # type: ignore[arg-type]


class Own:
    """A user's own policy that can update_from_tally."""

    updated = 0

    def __init__(self, task: PolicyTask) -> None:
        self.task = task

    def choose(self, rng: np.random.Generator) -> Any:
        return rng.permutation(self.task.items)[: self.task.slots]

    def learn(self, ranking: Any, clicked: int) -> None:
        pass

    def update_from_tally(self, clicks: Any, passes: Any) -> None:
        type(self).updated = int(clicks.sum())


def test_an_own_policy_updates_by_its_own_method() -> None:
    start = _tally(_history(10, seed=14))
    simulate(USERS, Own, rounds=5, start=start)
    assert Own.updated == start.clicks.sum() > 0

    class Forgetful:
        choose, learn, __init__ = Own.choose, Own.learn, Own.__init__

    with pytest.raises(InvalidInput, match="Forgetful cannot start from a tally"):
        simulate(USERS, Forgetful, rounds=5, start=start)


@pytest.mark.usefixtures("interpreting")
def test_empty_slots_are_no_obstacle() -> None:
    tally = Tally.empty(3, 5)
    for ranking, clicked in [([0, 1, EMPTY], NO_CLICK), ([2, EMPTY, 3], NO_CLICK), ([4, 1, EMPTY], 0)]:
        tally.count(ranking, clicked)
    for chosen in policies():
        if "tally" not in chosen.limits:
            choose(chosen.start(TASK, tally), np.random.default_rng(15))
