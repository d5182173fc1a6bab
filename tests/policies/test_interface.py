"""What a policy may be asked, of policies that write all of it and of those that write none of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.jit import interpreted
from slotwise.optimize.dynamic_constraints import pins
from slotwise.policies import (
    PolicySpec,
    choose,
    choose_several,
    end_epoch,
    holds_lists,
    impose_rules,
    learn,
    learns_from,
    update_from_tally,
)

SOURCE = Path(__file__).parents[2] / "src" / "slotwise"
TASK = PolicyTask(2, 5, 1_000, np.array([1.0, 0.5]), rules_per_decision=True)
NOTHING, ALL_ALIKE = np.zeros(0, np.int64), np.ones(5)

#: by items and by pairs, in rounds and in epochs
EVERY_KIND = [get_policy(id) for id in ("thompson-sampling", "mnl-ts-pairs", "epoch-ucb", "mnl-bandit")]
with interpreted():
    IN_EPOCHS = [kind for kind in EVERY_KIND if holds_lists(kind.start(TASK))]
IN_ROUNDS = [kind for kind in EVERY_KIND if kind not in IN_EPOCHS]
every_kind = pytest.mark.parametrize("chosen", EVERY_KIND, ids=str)
in_epochs = pytest.mark.parametrize("chosen", IN_EPOCHS, ids=str)
in_rounds = pytest.mark.parametrize("chosen", IN_ROUNDS, ids=str)


def _pinned(item: int, slot: int) -> Any:
    return pins(2, 5, {item: slot})


@pytest.mark.usefixtures("interpreting")
@every_kind
def test_rules_are_obeyed(chosen: PolicySpec) -> None:
    started, rng = chosen.start(TASK), np.random.default_rng(1)
    impose_rules(started, ALL_ALIKE, np.array([0, 1]), _pinned(3, 1))
    for _ in range(10):
        end_epoch(started)
        shown = choose(started, rng)
        assert shown[1] == 3
        assert shown[0] in (2, 4)


@pytest.mark.usefixtures("interpreting")
@in_rounds
def test_who_decides_in_every_round_holds_nothing(chosen: PolicySpec) -> None:
    one, other = (chosen.start(TASK) for _ in range(2))
    assert not holds_lists(one)
    assert learns_from(one, np.array([4, 2]))
    for seed in range(5):
        shown, again = (choose(started, np.random.default_rng(seed)) for started in (one, other))
        assert shown.tolist() == again.tolist()
        end_epoch(one)
        learn(one, shown.copy(), NO_CLICK)
        learn(other, again.copy(), NO_CLICK)


@pytest.mark.usefixtures("interpreting")
@in_epochs
def test_a_list_is_held_until_its_epoch_ends(chosen: PolicySpec) -> None:
    started, rng = chosen.start(TASK), np.random.default_rng(2)
    held = choose(started, rng).copy()
    assert choose(started, rng).tolist() == held.tolist()
    assert learns_from(started, held)
    assert not learns_from(started, held[::-1].copy())
    end_epoch(started)
    assert not learns_from(started, held)


@pytest.mark.usefixtures("interpreting")
@every_kind
def test_several_lists_equal_the_lists_of_several_calls(chosen: PolicySpec) -> None:
    one, several = (chosen.start(TASK) for _ in range(2))
    lists = np.zeros((6, 2), np.int64)
    choose_several(several, np.random.default_rng(3), lists)
    rng = np.random.default_rng(3)
    assert lists.tolist() == [choose(one, rng).tolist() for _ in range(6)]


class Own:
    """A policy of one's own, in plain Python: it shows the items in turn."""

    def __init__(self) -> None:
        self.next = 0

    def choose(self, rng: np.random.Generator) -> Any:
        self.next += 1
        return np.array([self.next % 5, (self.next + 1) % 5])

    def learn(self, ranking: Any, clicked: int) -> None:
        pass

    def impose_rules(self, values: Any, excluded: Any, pin: Any) -> None:
        self.excluded = excluded.tolist()


def test_an_object_with_methods_answers_with_them_and_else_by_default() -> None:
    own, rng, lists = Own(), np.random.default_rng(5), np.zeros((2, 2), np.int64)
    choose_several(own, rng, lists)
    assert lists.tolist() == [[1, 2], [2, 3]]
    assert not holds_lists(own)
    assert learns_from(own, lists[0])
    impose_rules(own, ALL_ALIKE, np.array([4]), pins(2, 4))
    assert own.excluded == [4]
    with pytest.raises(InvalidInput, match="cannot be updated from a tally"):
        update_from_tally(own, np.zeros((2, 5)), np.zeros((2, 5)))


def test_policies_without_rules_or_tallies_give_the_reason() -> None:
    with pytest.raises(
        InvalidInput, match="toprank cannot take pins and exclusions per decision: it supports neither values"
    ):
        get_policy("toprank").start(TASK)


def test_only_the_registry_knows_how_a_policy_is_made() -> None:
    """Outside `policies`, no file imports a policy's class, or the wrapper that makes epochs of it."""
    public = {"interface", "policy_registry"}
    for file in SOURCE.rglob("*.py"):
        if file.is_relative_to(SOURCE / "policies"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("slotwise.policies."):
                assert node.module is not None
                assert node.module.split(".")[2] in public, f"{file.name} imports {node.module}"
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith("slotwise.policies.") for name in node.names), file.name
