from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, Tally
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.core.types import NO_CLICK
from slotwise.jit.background_compile import compiling
from slotwise.optimize.dynamic_constraints import impose
from slotwise.policies import PolicySpec, choose, default_policy, learn, update_from_tally
from slotwise.policies.policy_registry import parse
from slotwise.posterior.best_list_draws import _count_best
from slotwise.ranker import Learner
from slotwise.ranker.compile_all import warm_up_rankers
from slotwise.ranker.policy_options import check_served
from tests.registered_components import policies

ROOT = Path(__file__).parents[2]
IDS = ["a", "b", "c", "d", "e"]
USERS = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.8, 0.3, 0.5, 0.2, 0.6])
#: the bias unknown and known
KINDS = [str(default_policy()), str(default_policy(known_bias=True)), "pbm-ucb"]


def _is_served(entry: PolicySpec) -> bool:
    try:
        check_served(entry, PolicyTask(3, 5, 1, USERS.position_bias, rules_per_decision=True))
    except InvalidInput:
        return False
    return True


SERVED = [entry for entry in policies() if _is_served(entry)]


def _learner(id: str | None = None, **more: Any) -> Learner:
    bias = None
    if id is not None and parse(id).knows_bias:
        bias = USERS.position_bias
    # the default is compiled ahead; for a few lists of another policy that is not worth it
    with compiling("never") if id == "pbm-ucb" else nullcontext():
        return Learner(IDS, 3, policy=id, position_bias=bias, rng=np.random.default_rng(1), **more)


def _click(shown: tuple[str, ...], rng: np.random.Generator) -> str | None:
    numbers = [IDS.index(item) for item in shown]
    weights = np.array([1.0, *(USERS.position_bias[: len(numbers)] * USERS.attractiveness[numbers])])
    picked = int(rng.choice(len(weights), p=weights / weights.sum()))
    return None if picked == 0 else shown[picked - 1]


def _play(learner: Learner, rounds: int, seed: int) -> None:
    """Constraints at random, outcomes late and out of order; every list must obey the rules of its decision."""
    rng = np.random.default_rng(seed)
    waiting = []
    for _ in range(rounds):
        exclude = rng.permutation(IDS)[: rng.integers(0, 4)].tolist() if rng.random() < 0.5 else []
        left = [item for item in IDS if item not in exclude and item not in learner.retired]
        if not left:
            continue
        length = min(3, len(left))
        pin = {str(rng.choice(left)): int(rng.integers(1, length + 1))} if rng.random() < 0.5 else {}
        shown = learner.choose(exclude, pin)
        assert len(shown) == len(set(shown)) == length
        assert set(shown) <= set(left)
        assert all(shown[slot - 1] == item for item, slot in pin.items())
        waiting.append(shown)
        if len(waiting) > 5:
            told = waiting.pop(int(rng.integers(6)))
            learner.learn(told, _click(told, rng))


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("id", KINDS)
def test_lists_obey_the_rules_of_each_decision(id: str) -> None:
    learner = _learner(id)
    _play(learner, 120, seed=2)
    learner.retire("b")
    learner.set_value("c", 3.0)
    _play(learner, 60, seed=3)
    learner.add("b")
    _play(learner, 60, seed=4)


def _play_with_everyone() -> None:
    """Uncompiled, where compiling all of them would take minutes."""
    for chosen in SERVED:
        learner = _learner(chosen.id)
        _play(learner, 60, seed=5)
        learner.retire("b")
        _play(learner, 30, seed=6)


def test_every_policy_obeys_the_rules_of_each_decision() -> None:
    script = "import tests.ranker.test_learner as t; t._play_with_everyone()"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2_000:]


@pytest.mark.parametrize("id", KINDS)
def test_the_tally_counts_every_learned_round(id: str) -> None:
    learner, rng = _learner(id), np.random.default_rng(7)
    expected, shows = Tally.empty(3, 5), np.zeros(5, int)
    for _ in range(80):
        shown = learner.choose()
        clicked = _click(shown, rng)
        learner.learn(shown, clicked)
        numbers = [IDS.index(item) for item in shown]
        expected.count(numbers, NO_CLICK if clicked is None else shown.index(clicked))
        shows[numbers] += 1
    assert learner.tally() == expected
    assert learner.shown.tolist() == shows.tolist()


@pytest.mark.parametrize("id", KINDS)
def test_increments_of_a_shared_tally_add_up_to_all_learned_rounds(id: str) -> None:
    """One worker learns, another absorbs what was added to the tally since it last looked."""
    worker, other, rng = _learner(id), _learner(id), np.random.default_rng(8)
    before = worker.tally()
    for now in range(60):
        shown = worker.choose()
        worker.learn(shown, _click(shown, rng))
        if now % 7 == 0:
            after = worker.tally()
            other.update_from_tally(after.clicks - before.clicks, after.passes - before.passes)
            before = after
            other.choose()
    assert other.tally() == before


@pytest.mark.usefixtures("interpreting")
@pytest.mark.parametrize("id", [entry.id for entry in SERVED])
def test_two_halves_of_counts_equal_all_counts(id: str) -> None:
    """Every policy takes in counts that are no whole numbers, and loses nothing of them."""
    clicks, passes = np.random.default_rng(3).integers(0, 20, (2, 3, len(IDS)))
    whole, halves = _learner(id), _learner(id, weighed=True)
    whole.update_from_tally(clicks, passes)
    for _ in range(2):
        halves.update_from_tally(clicks / 2, passes / 2)
    assert halves.tally() == whole.tally()
    for learner in (whole, halves):
        learner.choose()
    compared = 0
    for of, same in zip(_records(whole), _records(halves), strict=True):
        for name in ("clicks", "passes", "exposure", "shape", "trials", "rounds"):
            if hasattr(of, name):
                # some follow from a position bias that is learned step by step
                np.testing.assert_allclose(getattr(same, name), getattr(of, name), rtol=1e-3)
                compared += 1
    assert compared


def _records(learner: Learner) -> list[Any]:
    """The policy at work, and what it holds that counts."""
    at_work = learner._runner.record
    return [at_work, *(getattr(at_work, name, None) for name in ("posterior", "model", "policy"))]


def test_counts_stay_when_items_come_and_go() -> None:
    learner = Learner(["a", "b"], 2, rng=np.random.default_rng(9))
    for _ in range(30):
        learner.learn(("a", "b"), "a")
        learner.learn(("a", "b"), None)
    learner.retire("a")
    assert {learner.choose() for _ in range(5)} == {("b",)}
    for number in range(50):
        learner.add(f"new {number}")
    assert len(learner.choose()) == 2
    assert learner.items[:3] == ("a", "b", "new 0")
    assert learner.tally().clicks[0, 0] == 30
    assert learner.shown[:3].tolist() == [60, 60, 0]
    assert not {"a"} & {item for _ in range(20) for item in learner.choose()}
    learner.add("a", value=2.0)
    assert learner.retired == ()
    assert learner.values["a"] == 2.0
    assert learner.tally().clicks[0, 0] == 30
    assert learner.choose(pin={"a": 1})[0] == "a"


def test_values_decide_which_items_are_shown() -> None:
    learner = Learner(["a", "b"], 1, position_bias=[1.0], rng=np.random.default_rng(10))
    learner.update_from_tally(np.array([[500, 400]]), np.array([[1_000, 1_000]]))
    assert {learner.choose() for _ in range(10)} == {("a",)}
    learner.set_value("b", 2.0)
    assert {learner.choose() for _ in range(10)} == {("b",)}
    dear = Learner(["a", "b"], 1, position_bias=[1.0], values={"b": 2.0}, rng=np.random.default_rng(10))
    dear.update_from_tally(np.array([[500, 400]]), np.array([[1_000, 1_000]]))
    assert {dear.choose() for _ in range(10)} == {("b",)}


def test_a_closed_loop_ends_at_the_best_list() -> None:
    learner, rng = _learner(), np.random.default_rng(11)
    users = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.8, 0.1, 0.4, 0.1, 1.6])
    last = []
    for now in range(4_000):
        shown = learner.choose()
        slot = draw(users, [IDS.index(item) for item in shown], rng)
        learner.learn(shown, None if slot == NO_CLICK else shown[slot])
        if now >= 3_500:
            last.append(shown)
    assert np.mean([shown == ("e", "c", "a") for shown in last]) > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items": "abc"}, "items must be a list of items, got 'abc'"),
        ({"items": 3}, "items must be a list of items, got 3"),
        ({"items": ["a", "a", "b"]}, "items must differ, got 'a' twice"),
        ({"items": ["a", "", "b"]}, "an item must be text and not empty, got ''"),
        ({"items": ["a", 7, "b"]}, "an item must be text and not empty, got 7"),
        ({"items": ["a", "x\ny", "b"]}, r"an item must not have control characters, got 'x\\ny'"),
        ({"items": ["a", "\ud800", "b"]}, "an item must not have control characters"),
        ({"items": ["a", "b"]}, "slots must be at most the number of items, 2, got 3"),
        ({"slots": 0}, "slots must be at least 1, got 0"),
        ({"slots": 2.5}, "slots must be a whole number, got 2.5"),
        ({"policy": "toprank"}, "toprank cannot take pins and exclusions per decision: it supports neither values"),
        ({"policy": "pbm-ucb"}, "pbm-ucb needs a known position_bias, got None"),
        ({"policy": "epoch-ucb", "position_bias": [1.0, 0.5, 0.2]}, "policy is epoch-ucb, which shows one list until"),
        ({"policy": 3}, "policy must be the id of a registered policy, got 3"),
        ({"position_bias": [1.0, 0.5]}, "position_bias must have one entry per slot, 3, got 2"),
        ({"position_bias": [1.0, 0.5, -1.0]}, "position_bias must be positive and finite, got -1.0 for slot 3"),
        ({"values": {"x": 1.0}}, "values names 'x', which is not one of the 5 items"),
        ({"values": {"a": 0.0}}, "the value of 'a' must be positive and finite, got 0.0"),
        ({"values": {"a": float("nan")}}, "the value of 'a' must be positive and finite, got nan"),
        ({"values": [1.0]}, "values must map items to numbers"),
        ({"retired": IDS}, "retired must leave an item to show, got all 5"),
    ],
)
def test_impossible_arguments_are_rejected_by_name(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"items": IDS, "slots": 3, **arguments}
    with pytest.raises(InvalidInput, match=message):
        Learner(**given)


def test_an_unknown_policy_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="randombound"):
        Learner(IDS, 3, policy="randombound")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"exclude": ["x"]}, "exclude names 'x', which is not one of the 5 items"),
        ({"exclude": "a"}, "exclude must be a list of items, got 'a'"),
        ({"exclude": IDS}, "exclude leaves nothing to show"),
        ({"exclude": [["a"]]}, "exclude names"),
        ({"pin": {"x": 1}}, "pin names 'x', which is not one of the 5 items"),
        ({"pin": ["a"]}, "pin must map items to slots"),
        ({"pin": {"a": 0}}, "the slot of 'a' in pin must be at least 1, got 0"),
        ({"pin": {"a": 4}}, "the slot of 'a' in pin must be at most 3, got 4"),
        ({"pin": {"a": "1"}}, "the slot of 'a' in pin must be a whole number, got '1'"),
        ({"pin": {"a": 1, "b": 1}}, "pin puts both 'a' and 'b' into slot 1"),
        ({"pin": {"a": 1}, "exclude": ["a"]}, "'a' is both in pin and in exclude"),
        ({"pin": {"e": 1}}, "pin names 'e', which is retired"),
        ({"pin": {"d": 3}, "exclude": ["a", "b"]}, "pin puts 'd' into slot 3, but only 2 of the items are left"),
    ],
)
def test_rules_that_cannot_be_met_are_refused_and_nothing_changes(arguments: dict[str, Any], message: str) -> None:
    learner = _learner(retired=["e"])
    with pytest.raises(InvalidInput, match=message):
        learner.choose(**arguments)
    assert len(learner.choose()) == 3


@pytest.mark.parametrize(
    ("shown", "clicked", "message"),
    [
        (["a", "x"], None, "shown names 'x'"),
        (["a", "a"], None, "shown must be 1 to 3 different items"),
        ([], None, "shown must be 1 to 3 different items"),
        (["a", "b", "c", "d"], None, "shown must be 1 to 3 different items"),
        (["a", "b"], "c", "clicked is 'c', which was not shown"),
        (["a", "b"], "x", "clicked names 'x'"),
        (["a", "b"], 1, "clicked names 1"),
    ],
)
def test_an_outcome_that_cannot_be_is_refused_and_not_counted(shown: Any, clicked: Any, message: str) -> None:
    learner = _learner()
    with pytest.raises(InvalidInput, match=message):
        learner.learn(shown, clicked)
    assert learner.tally() == Tally.empty(3, 5)
    assert learner.shown.sum() == 0


NONE = np.zeros((3, 5), int)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("add", ("a",), "items must differ, got 'a' twice"),
        ("add", ("f", -1.0), "the value of 'f' must be positive and finite, got -1.0"),
        ("add", ("x\x00",), "an item must not have control characters"),
        ("retire", ("x",), "retire names 'x'"),
        ("set_value", ("x", 1.0), "value names 'x'"),
        ("set_value", ("a", "much"), "the value of 'a' must be a number, got 'much'"),
        ("update_from_tally", (NONE[:2], NONE[:2]), "the tally has 2 slots and 5 items"),
        ("update_from_tally", (NONE - 1, NONE), "clicks must not be negative"),
        ("update_from_tally", (NONE, NONE, [1, 2]), "shown must have one entry per item, 5"),
    ],
)
def test_other_misuse_is_refused_by_name(method: str, arguments: tuple[Any, ...], message: str) -> None:
    learner = _learner()
    with pytest.raises(InvalidInput, match=message):
        getattr(learner, method)(*arguments)
    assert learner.items == tuple(IDS)
    assert len(learner.choose()) == 3


def test_the_last_item_stays() -> None:
    learner = _learner()
    for item in IDS[1:]:
        learner.retire(item)
    with pytest.raises(InvalidInput, match="'b' is retired already"):
        learner.retire("b")
    with pytest.raises(InvalidInput, match="'a' cannot be retired: it is the last item left"):
        learner.retire("a")
    assert learner.choose() == ("a",)


@pytest.mark.parametrize("bias", [None, [1.0, 0.5]], ids=["learned", "known"])
def test_nothing_is_left_to_compile_after_warming_up(bias: Any) -> None:
    def compiled() -> int:
        kernels: list[Any] = [_count_best]
        for one in (choose, learn, update_from_tally, impose):
            kernels += one._from_python.values()
        return sum(len(getattr(kernel, "signatures", ())) for kernel in kernels)

    warm_up_rankers()
    before = compiled()
    learner = Learner(["a", "b", "c"], 2, position_bias=bias)
    learner.learn(learner.choose(exclude=["c"], pin={"b": 1}), "b")
    learner.retire("a")
    learner.set_value("c", 2.0)
    learner.learn(learner.choose(), None)
    learner.update_from_tally(np.ones((2, 3), int), np.ones((2, 3), int))
    learner.add("d")
    learner.choose()
    learner.estimates()
    assert compiled() == before > 0


@pytest.mark.parametrize("policy", [None, "pbm-ucb"])
def test_several_lists_obey_the_same_constraints_as_one(policy: str | None) -> None:
    bias = None if policy is None else [1.0, 0.5]
    with nullcontext() if policy is None else compiling("never"):
        learner = Learner(["a", "b", "c", "d"], 2, policy=policy, position_bias=bias, rng=np.random.default_rng(3))
    lists = learner.choose_several(50, exclude=["a"], pin={"d": 2})
    assert {shown[1] for shown in lists} == {"d"}
    assert {shown[0] for shown in lists} <= {"b", "c"}
    assert len(lists) == 50


def test_a_copy_learns_while_the_learner_stays_as_it_is() -> None:
    learner = Learner(IDS, 2, segments=3, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    counts = {segment: (rng.poisson(5.0, (2, 5)), rng.poisson(40.0, (2, 5))) for segment in range(2)}
    learner.update_from_tallies(counts)
    learner.start(best_lists=True)
    before, best = learner.tally(), learner.choose_best(segment=2)
    copied = learner.copy()
    # the third segment has the tastes of nobody else
    copied.update_from_tallies({2: (np.array([[0, 0, 0, 0, 90]] * 2), np.full((2, 5), 100))})
    copied.start(best_lists=True)
    assert (learner.tally().clicks == before.clicks).all()
    assert copied.tally().clicks.sum() == before.clicks.sum() + 180
    assert learner.choose_best(segment=2) == best
    assert "e" in copied.choose_best(segment=2)
    assert learner._runner.record.posterior.counts.rounds == learner.rounds
    assert copied._runner.record.posterior.counts.rounds == copied.rounds > learner.rounds


def test_counts_of_many_segments_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not at all while they have hardly grown."""
    fits: list[bool] = []
    update = importlib.import_module("slotwise.ranker.policy_runner").update_from_tally

    def watched(record: Any, clicks: Any, passes: Any) -> None:
        is_due = record.posterior.refit_at <= record.posterior.counts.rounds
        update(record, clicks, passes)
        fits.append(is_due)

    learner = Learner(IDS, 2, segments=3, rng=np.random.default_rng(1))
    learner.choose()
    monkeypatch.setattr("slotwise.ranker.policy_runner.update_from_tally", watched)
    many = {segment: (np.full((2, 5), 5), np.full((2, 5), 40)) for segment in range(3)}
    learner.update_from_tallies(many)
    assert fits == [False, False, True]
    few = {segment: (np.eye(2, 5, dtype=int), np.zeros((2, 5), int)) for segment in range(3)}
    learner.update_from_tallies(few)
    assert fits[3:] == [False] * 3
