from __future__ import annotations

import _thread
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import slotwise
from slotwise import MNL, Goal, PolicyTask, simulate, sweep
from slotwise.core.errors import InvalidInput
from slotwise.environments import Problem

pytestmark = pytest.mark.usefixtures("interpreting")

USERS = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.3, 0.1])
VALUED = Problem("valued", USERS, 40, Goal([1.0, 2.0, 3.0]))
COLUMNS = ["environment", "policy", "options", "seed", "version", "replication", "round", "regret"]


def test_numbers_are_those_of_simulate_and_rows_name_all_that_they_depend_on(tmp_path: Path) -> None:
    policies = ["epoch-ucb", "thompson-sampling:bias=known"]
    found = sweep({"one": USERS, "goal": VALUED}, policies, rounds=30, replications=2, seed=3, record_at=3)
    assert list(found) == ["one", "goal"]
    assert not found.interrupted
    alone = simulate(USERS, policies, rounds=30, replications=2, seed=3, record_at=3)
    with_goal = simulate(USERS, policies, rounds=30, replications=2, seed=3, record_at=3, goal=VALUED.goal)
    rows = found.to_frame()
    assert rows.columns.tolist() == COLUMNS == alone.to_frame().columns.tolist()
    for name, results in (("one", alone), ("goal", with_goal)):
        for label in policies:
            here = rows[(rows.environment == name) & (rows.policy == label)]
            assert here.regret.tolist() == results[label].regret.ravel().tolist()
            assert here.replication.tolist() == [0, 0, 0, 1, 1, 1]
            assert here["round"].tolist() == [10, 20, 30] * 2
            assert set(here.options) == {label.partition(":")[2]}
    assert set(rows.seed) == {3}
    assert set(rows.version) == {slotwise.__version__}
    assert set(alone.to_frame().environment) == {"MNL"}
    found.to_parquet(tmp_path / "sweep.parquet")
    assert pq.read_table(tmp_path / "sweep.parquet").to_pandas().equals(rows)
    assert str(found).count("Regret after 30 rounds") == 2


def test_rounds_are_those_of_the_problem_by_default() -> None:
    assert sweep({"goal": VALUED}, "epoch-ucb")["goal"].rounds == 40
    with pytest.raises(InvalidInput, match="rounds must be given, as the environment one is no Problem"):
        sweep({"goal": VALUED, "one": USERS}, "epoch-ucb")


class Interrupting:
    """Ctrl-C in round 5 of the second environment."""

    def __init__(self, task: PolicyTask) -> None:
        self.slots, self.items, self.round = task.slots, task.items, 0

    def choose(self, rng: np.random.Generator) -> Any:
        self.round += 1
        if self.items > 3 and self.round == 5:
            _thread.interrupt_main()
        return rng.permutation(self.items)[: self.slots]

    def learn(self, ranking: Any, clicked: int) -> None:
        pass


def test_ctrl_c_keeps_the_policies_that_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    larger = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.3, 0.2, 0.1])
    found = sweep({"first": USERS, "second": larger, "third": USERS}, ["toprank", Interrupting], rounds=20_000)
    assert found.interrupted
    assert {name: list(results) for name, results in found.items()} == {
        "first": ["toprank", "Interrupting"],
        "second": ["toprank"],
    }
    assert len(found.to_frame()) == 3 * 200
    assert "Interrupted" in str(found)
    assert "kept" in capsys.readouterr().err


def test_everything_is_checked_before_anything_runs() -> None:
    started = []

    def counting(task: PolicyTask) -> Interrupting:
        started.append(task)
        return Interrupting(task)

    wrong = Problem("wrong", USERS, 40, Goal([1.0, 2.0]))
    with pytest.raises(InvalidInput, match=r"environment wrong: .*2"):
        sweep({"one": USERS, "wrong": wrong}, counting, rounds=10)
    assert not started
    with pytest.raises(InvalidInput, match="environments must be"):
        sweep({}, "toprank", rounds=10)
    with pytest.raises(InvalidInput, match="environments must be"):
        sweep([USERS], "toprank", rounds=10)  # type: ignore[arg-type]


def test_an_empty_sweep_has_no_rows() -> None:
    assert len(slotwise.simulation.SweepResults({}, interrupted=True).to_frame()) == 0
