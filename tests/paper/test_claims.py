"""The claims are answered by the numbers: by those of sound policies as recorded, and otherwise if one is broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask, Results, get_policy, simulate
from slotwise.environments import Problem, paper_problems
from slotwise.paper.claims import CLAIMS
from slotwise.paper.reproduction import POLICIES
from slotwise.simulation.policy_run import Run

REPLICATIONS = 16


def _run(problem: Problem, chosen: Any) -> Run:
    return next(
        iter(simulate(problem.users, chosen, rounds=problem.rounds, replications=REPLICATIONS, seed=0).values())
    )


def _gathered(problem: Problem, runs: dict[str, Run]) -> Results:
    return Results(runs, rounds=problem.rounds, replications=REPLICATIONS, seed=0)


@pytest.fixture(scope="module")
def results() -> dict[str, Results]:
    """The paper's policies at its horizons, the two slow ones by formula."""
    chosen = {id: get_policy(id, sensitivity="analytic") if "upb" in id else get_policy(id) for id in POLICIES}
    return {
        name: _gathered(problem, {id: _run(problem, one) for id, one in chosen.items()})
        for name, problem in paper_problems().items()
    }


def _with(results: dict[str, Results], id: str, instead: Any) -> dict[str, Results]:
    """The same with another policy in the place of one."""
    return {
        name: _gathered(problem, {**results[name], id: _run(problem, instead)})
        for name, problem in paper_problems().items()
    }


def _verdicts(results: dict[str, Results]) -> dict[tuple[str, str], bool]:
    return {(claim.id, verdict.problem): verdict.reproduced for claim in CLAIMS for verdict in claim.check(results)}


@pytest.fixture(scope="module")
def sound(results: dict[str, Results]) -> dict[tuple[str, str], bool]:
    return _verdicts(results)


def test_verdict_of_each_claim(sound: dict[tuple[str, str], bool]) -> None:
    """All but those that hang on how many runs lock into a wrong order, which 16 replications do not settle."""
    unsettled = {("known-bias-best", "b"), ("star-keeps-up", "b"), ("upb-conservative", "c"), ("star-keeps-up", "c")}
    assert {key: held for key, held in sound.items() if key not in unsettled} == {
        ("known-bias-best", "a"): True,
        ("known-bias-best", "c"): False,
        ("w-conservative", "a"): True,
        ("w-conservative", "b"): True,
        ("w-conservative", "c"): True,
        ("w-worse-than-toprank", "a"): True,
        ("upb-conservative", "a"): True,
        ("upb-conservative", "b"): True,
        ("star-keeps-up", "a"): True,
        ("toprank-linear", "b"): True,
        ("toprank-linear", "c"): True,
        ("mnl-bandit-explores", "c"): True,
    }


def test_a_policy_that_fills_the_slots_in_the_wrong_order_fails_its_claims(
    sound: dict[tuple[str, str], bool], results: dict[str, Results]
) -> None:
    def backwards(task: PolicyTask) -> Any:
        started = get_policy("epoch-ucb").start(task)
        started.policy.lists.slots.order[:] = started.policy.lists.slots.order[::-1].copy()
        return started

    broken = _verdicts(_with(results, "epoch-ucb", backwards))
    for problem in "ab":
        assert sound["w-conservative", problem]
        assert not broken["w-conservative", problem]


def test_claims_for_toprank_fail_if_it_learns_nothing(
    sound: dict[tuple[str, str], bool], results: dict[str, Results]
) -> None:
    def deaf(task: PolicyTask) -> Any:
        started = get_policy("toprank").start(task)
        started.lead[:] = -np.inf
        return started

    broken = _verdicts(_with(results, "toprank", deaf))
    assert sound["w-worse-than-toprank", "a"]
    assert not broken["w-worse-than-toprank", "a"]


def test_only_problems_that_were_run_are_judged(results: dict[str, Results]) -> None:
    some = {"a": results["a"]}
    assert {problem for _, problem in _verdicts(some)} == {"a"}
