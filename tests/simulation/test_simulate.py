from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import joblib
import numpy as np
import pytest

from slotwise import MNL, NO_CLICK, PolicyTask, get_policy, simulate
from slotwise.click_models import best_ranking, regret
from slotwise.core.errors import InvalidInput, InvalidRanking, UnknownName
from slotwise.core.types import Ranking
from tests.statistical_assertions import assert_mean_is
from tests.waiting import FOR_EVER


class Fixed:
    """Always the same ranking, as an ordinary Python class."""

    ranking: Any = (1, 0, 2)

    def __init__(self, task: PolicyTask) -> None:
        self.outcomes: list[int] = []

    def choose(self, rng: np.random.Generator) -> Any:
        return self.ranking

    def learn(self, ranking: Ranking, clicked: int) -> None:
        self.outcomes.append(clicked)


def test_regret_is_of_the_lists_shown(small: MNL) -> None:
    run = simulate(small, Fixed, rounds=500, record_at=[1, 10, 500])["Fixed"]
    assert run.rounds.tolist() == [1, 10, 500]
    assert run.regret[0] == pytest.approx(regret(small, [1, 0, 2]) * np.array([1, 10, 500]))
    assert run.tallies[0].rounds == 500
    assert set(zip(*np.nonzero(run.tallies[0].passes), strict=True)) == {(0, 1), (1, 0), (2, 2)}


def test_the_best_ranking_has_no_regret(paper_users: MNL) -> None:
    class Best(Fixed):
        ranking = best_ranking(paper_users)

    run = simulate(paper_users, Best, rounds=300)["Best"]
    assert np.array_equal(run.regret, np.zeros_like(run.regret))


def test_regret_never_falls(small: MNL) -> None:
    results = simulate(small, ["epoch-ucb", "toprank", "mnl-bandit"], rounds=2_000, replications=5)
    for run in results.values():
        assert (np.diff(run.regret, axis=1) >= -1e-9).all()


def test_a_plain_policy_meets_the_same_users_as_a_compiled_one(small: MNL) -> None:
    """The click rate of a fixed ranking, over replications, is its reward: for plain Python as for compiled code."""
    run = simulate(small, Fixed, rounds=400, replications=60, seed=1)["Fixed"]
    wanted = small.position_bias * small.attractiveness[[1, 0, 2]]
    clicks = np.array([[tally.clicks[k, j] for k, j in enumerate([1, 0, 2])] for tally in run.tallies])
    assert_mean_is(400 * wanted / (1 + wanted.sum()), clicks)


def test_a_policy_may_reuse_its_array_while_learning(small: MNL) -> None:
    """What was shown is what counts, not what the policy writes over it afterwards."""

    class Rewriting(Fixed):
        def __init__(self, task: PolicyTask) -> None:
            self.ranking = np.array([2, 0, 1])

        def choose(self, rng: np.random.Generator) -> Any:
            self.ranking[:] = [2, 0, 1]
            return self.ranking

        def learn(self, ranking: Ranking, clicked: int) -> None:
            self.ranking[:] = best_ranking(small)
            ranking[:] = best_ranking(small)

    run = simulate(small, Rewriting, rounds=100)["Rewriting"]
    assert run.mean == pytest.approx(100 * regret(small, [2, 0, 1]))
    assert set(zip(*np.nonzero(run.tallies[0].passes), strict=True)) == {(0, 2), (1, 0), (2, 1)}


def test_outcomes_are_slots_or_no_click(small: MNL) -> None:
    made: list[Fixed] = []

    def start(task: PolicyTask) -> Fixed:
        made.append(Fixed(task))
        return made[-1]

    simulate(small, start, rounds=200)
    assert set(made[-1].outcomes) == {NO_CLICK, 0, 1, 2}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_numbers_do_not_depend_on_the_backend(small: MNL, backend: str) -> None:
    alone = simulate(small, "epoch-ucb", rounds=500, replications=4, seed=3, jobs=1)["epoch-ucb"]
    with joblib.parallel_config(backend=backend):
        together = simulate(small, "epoch-ucb", rounds=500, replications=4, seed=3, jobs=2)["epoch-ucb"]
    assert np.array_equal(alone.regret, together.regret)
    assert alone.tallies == together.tallies


def test_numbers_do_not_depend_on_the_other_policies_or_on_later_replications(small: MNL) -> None:
    few = simulate(small, "pbm-ucb", rounds=200, replications=2, seed=4)
    many = simulate(small, ["toprank", "pbm-ucb"], rounds=200, replications=6, seed=4)
    assert np.array_equal(few["pbm-ucb"].regret, many["pbm-ucb"].regret[:2])


@pytest.mark.parametrize("ranking", [[0, 0, 1], [0, 1, 4], [0, 1, -1], [0, 1], [0, 1, 2, 3], "no", None, [0.5, 1, 2]])
def test_a_wrong_ranking_is_named(small: MNL, ranking: Any) -> None:
    class Wrong(Fixed):
        pass

    Wrong.ranking = ranking
    with pytest.raises(InvalidRanking, match=r"policy Wrong: a ranking .*, got"):
        simulate(small, Wrong, rounds=10)


@pytest.mark.parametrize("fault", ["duplicate", "out of range", "too short"])
def test_a_wrong_ranking_of_a_compiled_policy_is_caught(small: MNL, fault: str) -> None:
    def broken(task: PolicyTask) -> Any:
        started = get_policy("pbm-ucb").start(task)
        if fault == "duplicate":
            started.lists.slots.order[:] = 0  # only the first slot is ever filled
        elif fault == "out of range":
            started = get_policy("pbm-ucb").start(PolicyTask(3, 40, 10, task.position_bias))
        else:
            started = get_policy("pbm-ucb").start(PolicyTask(2, 4, 10, np.ones(2)))
        return started

    with pytest.raises(InvalidRanking, match="policy broken returned a ranking that is not 3 distinct items"):
        simulate(small, broken, rounds=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 0}, "rounds must be at least 1, got 0"),
        ({"rounds": 10**19}, "rounds must be at most"),
        ({"rounds": 2.5}, "rounds must be a whole number, got 2.5"),
        ({"rounds": 10, "replications": 0}, "replications must be at least 1, got 0"),
        ({"rounds": 10, "seed": -1}, "seed must be at least 0, got -1"),
        ({"rounds": 10, "jobs": 0}, "jobs must be at least 1, got 0"),
        ({"rounds": 10, "record_at": [11]}, "record_at must not be after the last round, 10, got 11"),
        ({"rounds": 10, "record_at": [0]}, "record_at must be at least 1, got 0"),
    ],
)
def test_arguments_are_checked(small: MNL, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        simulate(small, "epoch-ucb", **arguments)


def test_policies_are_checked(small: MNL) -> None:
    with pytest.raises(UnknownName, match="did you mean toprank"):
        simulate(small, "topranc", rounds=10)
    with pytest.raises(InvalidInput, match="policies must differ, got toprank twice"):
        simulate(small, ["toprank", "toprank"], rounds=10)
    with pytest.raises(InvalidInput, match="at least one policy, got none"):
        simulate(small, [], rounds=10)
    with pytest.raises(InvalidInput, match="must be ids or functions of a PolicyTask, got 3"):
        simulate(small, [3], rounds=10)  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="must make an object with choose"):
        simulate(small, lambda task: object(), rounds=10)


def test_an_error_in_a_users_policy_reaches_the_user(small: MNL) -> None:
    class Failing(Fixed):
        def choose(self, rng: np.random.Generator) -> Any:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        simulate(small, Failing, rounds=10, replications=3)


def test_control_c_is_answered() -> None:
    """A simulation of hours ends when it is interrupted, and not hours later."""
    script = (
        "from slotwise import MNL, simulate\n"
        "users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])\n"
        "simulate(users, 'epoch-ucb', rounds=10)\n"
        "print('started', flush=True)\n"
        "simulate(users, 'epoch-ucb', rounds=10**12, replications=8)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "started\n"
    time.sleep(1.0)
    os.kill(running.pid, signal.SIGINT)
    _, complaint = running.communicate(timeout=FOR_EVER)
    assert running.returncode != 0
    assert "KeyboardInterrupt" in complaint


def test_memory_does_not_grow_with_the_rounds() -> None:
    """A number a round would take 80 MB; the peak of the process grows by less than a tenth of that."""
    script = (
        "import resource\n"
        "from slotwise import MNL, simulate\n"
        "users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 0.4, 0.3])\n"
        "peaks = []\n"
        "for rounds in (1_000, 10_000_000):\n"
        "    simulate(users, 'epoch-ucb', rounds=rounds, jobs=1, progress=False)\n"
        "    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        "print(peaks[1] - peaks[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 8_000
