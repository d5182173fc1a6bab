"""The closed loop: visitors with known parameters over HTTP, a service in a process of its own, and a verdict."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.loadtest import run_loadtest
from benchmarks.loadtest.__main__ import app
from benchmarks.loadtest.expected_counts import ANSWER_KINDS
from slotwise import MNL, get_policy
from slotwise.click_models import regret
from slotwise.client import Client, ServiceUnreachable
from slotwise.core.errors import InvalidInput
from slotwise.demo.simulated_visitors import Habits
from slotwise.environments import problem
from slotwise.jit import interpreted
from tests.service.process import Process, free_port, running
from tests.waiting import FOR_EVER, wait_for

COMMAND = [sys.executable, "-m", "benchmarks.loadtest"]
DEFAULT = get_policy("thompson-sampling")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("loadtest")
    with running(folder, f"sqlite:///{folder}/store.db", free_port()) as process:
        yield process


def test_it_counts_exactly_once_and_reports_losses(service: Process) -> None:
    users, rounds = problem("b").users, 1_500
    report = run_loadtest(
        service.url,
        users,
        policy=DEFAULT,
        visitors=16,
        rounds=rounds,
        rate=600.0,
        window=0.2,
        seconds=FOR_EVER,
        segments=False,
        habits=Habits(late=0.2, conflicting=0.2),
    )
    assert report.differences == []
    assert report.exactly_once is True
    assert report.ended_by == "rounds"
    assert report.expected.decisions["issued"] == rounds + report.expected.renewed
    # all that can happen did: of the rarest, a conflict, 43 are expected even of the worst list
    assert min(report.expected.answers[kind] for kind in ANSWER_KINDS) > 0
    # that it learns makes it lose no more than lists at random: 6 standard deviations
    lost = np.array([regret(users, list(shown)) for shown in itertools.permutations(range(users.items), users.slots)])
    assert 0.0 < report.regret < rounds * lost.mean() + 6.0 * math.sqrt(rounds) * lost.std()
    # how late it learned is known but where the machine was too busy for being asked
    # a few rounds, which are over before a loop with that lag would be compiled
    with interpreted():
        simulated = report.simulated_with_lag(replications=2) or report.simulated(replications=2)
    assert simulated is not None
    assert 0.0 < simulated.low <= simulated.mean <= simulated.high < rounds * lost.max()


# a list without the first item is worth at most 0.31 of the best one, and one at random 0.48 on average
LIKE_ONE = MNL(position_bias=[1.0, 0.6], attractiveness=[2.0, 0.2, 0.1, 0.05, 0.05])


@pytest.mark.long
def test_a_service_learns_the_best_list(service: Process) -> None:
    """However long that takes: the service's randomness is its own, and so is the time that it has for learning.

    One that does not learn never does. Of 100 lists at random the mean worth has a standard error of 0.036.
    """
    with Client(service.url, timeout=FOR_EVER) as client:
        client.put_placement("converging", slots=2, items=list("abcde"), window_seconds=0.2)

    def is_learned() -> bool:
        report = run_loadtest(service.url, LIKE_ONE, placement="converging", visitors=8, rounds=200, seconds=FOR_EVER)
        assert report.differences == []
        ending = report.ending(share=0.5)
        return ending is not None and ending.mean_worth > 0.8

    wait_for(is_learned, "lists that are worth 0.8 of the best one")


@pytest.mark.long
def test_known_bias_is_passed_on(service: Process) -> None:
    users = problem("b").users
    report = run_loadtest(
        service.url, users, policy=get_policy("thompson-sampling", bias="known"), visitors=4, rounds=200, window=0.1
    )
    assert report.exactly_once is True


@pytest.mark.long
def test_it_is_bounded_in_time_and_rate(service: Process) -> None:
    began = time.monotonic()
    report = run_loadtest(
        service.url, problem("b").users, policy=DEFAULT, visitors=4, rate=50.0, seconds=1.0, window=0.1, rounds=10**6
    )
    assert report.ended_by == "seconds"
    assert 1 <= report.expected.decisions["issued"] <= 50.0 * (time.monotonic() - began) + 4 + report.expected.renewed
    assert report.exactly_once is True


@pytest.mark.long
def test_an_interrupt_prints_the_results_so_far(service: Process) -> None:
    arguments = ["--problem", "b", "--rounds", "1000000", "--rate", "300", "--window", "0.2", "--replications", "3"]
    with Client(service.url, timeout=FOR_EVER) as client:
        before = {one["name"] for one in client.placements()}
    process = subprocess.Popen(
        [*COMMAND, service.url, *arguments, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a few rounds are simulated, which are over before a loop for them would be compiled
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NUMBA_DISABLE_JIT": "1"},
    )
    with Client(service.url, timeout=FOR_EVER) as client:
        made: set[str] = set()

        def is_made() -> bool:
            made.update(one["name"] for one in client.placements() if one["name"] not in before)
            return bool(made) or process.poll() is not None

        wait_for(is_made, "a placement")
        (name,) = made
        wait_for(lambda: client.estimates(name)["decisions"]["issued"] > 50, "decisions")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=FOR_EVER)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert report["ended_by"] == "interrupt"
    with Client(service.url, timeout=FOR_EVER) as client:
        assert {one["name"] for one in client.placements()} <= before, "the placement of the load test was not deleted"
    assert report["exactly_once"] is True
    assert report["rounds"] > 0
    assert {"decide", "report"} == set(report["milliseconds"])
    assert report["simulated"]["low"] <= report["simulated"]["mean"] <= report["simulated"]["high"]


def test_a_table_for_people(service: Process) -> None:
    arguments = ["--problem", "b", "--rounds", "300", "--users", "4", "--window", "0.1", "--replications", "3"]
    with interpreted():
        done = CliRunner().invoke(app, [service.url, *arguments])
    assert done.exit_code == 0, done.output
    words = " ".join(done.stdout.split())
    for heading in ("throughput", "to decide", "to report", "regret", "simulated", "in the end", "exactly once yes"):
        assert heading in words
    assert all(f"device:{device}" in words for device in ("mobile", "desktop", "other"))


@pytest.mark.parametrize(
    ("url", "more", "message"),
    [
        ("http://192.0.2.1:80", {}, "not this machine"),
        ("http://127.0.0.1:80", {"visitors": 0}, "users"),
        ("http://127.0.0.1:80", {"rounds": 0}, "rounds"),
        ("http://127.0.0.1:80", {"window": 0.01}, "window"),
        ("http://127.0.0.1:80", {"seconds": 1e9}, "seconds"),
        ("http://127.0.0.1:80", {"rate": 0.0}, "rate"),
    ],
)
def test_invalid_arguments_are_rejected(url: str, more: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run_loadtest(url, problem("b").users, policy=DEFAULT, **more)  # type: ignore[arg-type]


def test_an_unreachable_service_is_reported() -> None:
    with pytest.raises(ServiceUnreachable, match="cannot be reached"):
        run_loadtest(f"http://127.0.0.1:{free_port()}", problem("b").users, policy=DEFAULT)


@pytest.mark.long
def test_a_killed_service_is_not_accused(tmp_path: Path) -> None:
    """What was asked and never answered may have been done or not; what could not be asked was not done."""
    store, port = f"sqlite:///{tmp_path}/store.db", free_port()
    first = Process(tmp_path, store, port)
    again: list[Process] = []

    def kill_and_restart() -> None:
        with Client(first.url, timeout=FOR_EVER) as client:
            while not client.placements():
                time.sleep(0.05)
        time.sleep(1.0)
        first.kill()
        again.append(Process(tmp_path, store, port))

    thread = threading.Thread(target=kill_and_restart)
    try:
        first.wait_until_ready()
        thread.start()
        report = run_loadtest(
            first.url, problem("b").users, policy=DEFAULT, rounds=1_500, rate=800.0, window=0.3, seconds=FOR_EVER
        )
    finally:
        first.kill()
        thread.join()
        again[0].stop()
    assert report.ended_by == "rounds"
    assert report.expected.decisions["issued"] == 1_500 + report.expected.renewed
    assert 0 <= report.expected.unanswered <= 2 * report.visitors
    assert report.exactly_once is not False, report.differences
