"""From plain Python to compiled kernels: the same lists, nobody waits, and nothing is left behind."""

from __future__ import annotations

import fcntl
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import slotwise
from slotwise import MNL, PolicyTask, available_policies
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput
from slotwise.jit import compile_process, compiled, interpreted, is_plain, is_record, plain
from slotwise.jit.background_compile import Kernels, WarmUp, When, compiling
from slotwise.jit.kernel_cache import kernel_hash
from slotwise.policies import choose, get_policy, learn
from slotwise.policies.policy_registry import parse
from slotwise.ranker import Learner
from slotwise.ranker.warmup_script import MODULE, WarmUpScript
from tests.kernels import share_kernels
from tests.registered_components import compiled_first

SOURCES = Path(slotwise.__file__).parents[1]
IDS = [f"item {number}" for number in range(6)]
USERS = MNL(position_bias=[1.0, 0.4, 0.7], attractiveness=[0.8, 0.3, 0.5, 0.2, 0.6, 0.1])
#: the bias unknown and known
KINDS = ["thompson-sampling", "thompson-sampling:bias=known", "pbm-ucb"]


def _learner(kind: str, when: When) -> Learner:
    bias = USERS.position_bias if parse(kind).knows_bias else None
    with compiling(when):
        return Learner(IDS, 3, policy=kind, position_bias=bias, rng=np.random.default_rng(1))


def _go_over(learner: Learner) -> None:
    """As if the kernels had come this moment."""
    learner._factory.kernels = Kernels(WarmUp("", "", is_shared=False), 1, are_there=True)


def _play(learner: Learner, rounds: int, over_at: int = -1) -> list[Any]:
    """All that a learner does, in an order drawn at random; the kernels are there from round `over_at` on."""
    rng = np.random.default_rng(2)
    seen: list[Any] = []
    for round in range(rounds):
        if round == over_at:
            _go_over(learner)
        what = rng.random()
        if what < 0.1:
            seen += learner.choose_several(3)
        elif what < 0.15:
            learner.update_from_tally(rng.integers(0, 2, (3, 6)), rng.integers(0, 3, (3, 6)))
        elif what < 0.2:
            learner.set_value(str(rng.choice(IDS)), float(rng.integers(1, 4)))
        else:
            exclude = [str(rng.choice(IDS))] if rng.random() < 0.3 else []
            pin = {item: 2 for item in IDS[:1] if rng.random() < 0.3 and item not in exclude}
            shown = learner.choose(exclude, pin)
            numbers = np.array([IDS.index(item) for item in shown])
            slot = draw(USERS, numbers, rng)
            learner.learn(shown, None if slot < 0 else shown[slot])
            seen.append(shown)
    return seen


def _state(record: Any) -> Any:
    """All that a policy knows, to the last bit."""
    if is_record(record):
        return {name: _state(getattr(record, name)) for name in inspect.get_annotations(type(record))}
    return record.tobytes() if isinstance(record, np.ndarray) else record


def _told(learner: Learner) -> Any:
    return json.dumps(learner.estimates().to_dict())


@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.long) for kind in KINDS[1:])])
def test_the_same_lists_for_the_same_seed_through_the_change_over(kind: str) -> None:
    first, never, over = _learner(kind, "first"), _learner(kind, "never"), _learner(kind, "never")
    wanted = _play(first, 150)
    assert _play(never, 150) == wanted
    assert _play(over, 150, over_at=75) == wanted
    assert [is_plain(learner._runner.started()) for learner in (first, never, over)] == [False, True, False]
    states = [_state(plain(learner._runner.started())) for learner in (first, never, over)]
    assert states[0] == states[1] == states[2]
    assert first.rng.bit_generator.state == never.rng.bit_generator.state == over.rng.bit_generator.state
    assert _told(first) == _told(never) == _told(over)


@pytest.mark.parametrize("entry", compiled_first(available_policies()), ids=str)
def test_every_policy_switches_to_the_compiled_type_of_its_record(entry: Any) -> None:
    task = PolicyTask(3, 6, 1_000, USERS.position_bias)
    with interpreted():
        started = entry.start(task)
    rng = np.random.default_rng(1)
    for _ in range(20):
        ranking = choose(started, rng).copy()
        learn(started, ranking, draw(USERS, ranking, rng))
    like = entry.start(task)
    assert is_plain(started)
    assert compiled(started, like)._numba_type_ == like._numba_type_


def test_a_learner_on_its_way_can_be_pickled() -> None:
    learner = _learner("thompson-sampling", "never")
    _play(learner, 10)
    with compiling("first"):
        again = pickle.loads(pickle.dumps(learner))
    assert _play(again, 20) == _play(learner, 20)
    assert not is_plain(again._runner.started())


def test_when_to_compile_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTWISE_COMPILE", "later")
    with pytest.raises(InvalidInput, match="SLOTWISE_COMPILE must be background or first or never, got 'later'"):
        Learner(IDS, 3)


def test_warm_ups_of_the_same_kernels_have_the_same_text() -> None:
    small, large = (
        WarmUpScript(get_policy("thompson-sampling"), 3, items, bias_is_known=False) for items in (6, 1_000)
    )
    assert small.text == large.text == WarmUpScript.read(small.text).text
    assert small.text != WarmUpScript(get_policy("thompson-sampling", half_life="auto"), 3, 6, bias_is_known=False).text
    assert small.warm_up.is_shared
    # an option per item says how many there are
    per_item = [WarmUpScript(_with(shape=np.ones(items)), 3, items, bias_is_known=False) for items in (6, 7)]
    assert per_item[0].text != per_item[1].text
    assert not WarmUpScript(_with(shape=object()), 3, 6, bias_is_known=False).warm_up.is_shared


def _with(**options: Any) -> Any:
    return replace(get_policy("thompson-sampling"), options=options)


# From here on each check runs a Python of its own, with a cache of its own.

#: what every script begins with; a process that is to compile is counted
BEGIN = """
import json, os, sys, threading
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
from slotwise import Ranker
from slotwise.jit import is_plain
from slotwise.jit import compile_process as filling

started = []
start = filling._start
def counting(*arguments):
    started.append(start(*arguments))
    return started[-1]
filling._start = counting

def ranker(policy="pbm-ucb"):
    return Ranker(items=[f"item {number}" for number in range(8)], slots=3, policy=policy,
                  position_bias=[1.0, 0.5, 0.3], seed=1)

def play(held, rounds):
    lists = []
    for round in range(rounds):
        ranking = held.rank(exclude=["item 5"] if round % 5 == 0 else [])
        held.observe(ranking, ranking.items[0] if round % 3 == 0 else None)
        lists.append(ranking.items)
    return lists
"""


@pytest.fixture
def cold(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that starts on an empty cache."""
    path = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "SLOTWISE_COMPILE"}
    return {**kept, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path)}


@pytest.fixture
def nearly_cold(cold: dict[str, str]) -> dict[str, str]:
    """The same where all that is this policy's own is missing, and whatever else is in these tests' cache is there."""
    share_kernels(Path(cold["NUMBA_CACHE_DIR"]) / f"kernels-{kernel_hash()}", without="pbm")
    return cold


def _run(script: str, environment: dict[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


def _lock(environment: dict[str, str]) -> IO[bytes]:
    folder = Path(environment["NUMBA_CACHE_DIR"]) / f"kernels-{kernel_hash()}"
    folder.mkdir(parents=True, exist_ok=True)
    return open(folder / "filling.lock", "ab")


@pytest.fixture
def busy(cold: dict[str, str]) -> Iterator[dict[str, str]]:
    """An empty cache that somebody else is filling for as long as the test takes."""
    with _lock(cold) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield cold


def test_nothing_is_compiled_before_the_first_answers(busy: dict[str, str]) -> None:
    found = _run(
        """
held = ranker(None)
lists = play(held, 20)
held.estimates()
print(json.dumps([len(compiled.buffer), len(started), is_plain(held._learner._runner.started())]))
""",
        busy,
    )
    assert found == [0, 0, True]


def test_another_process_fills_the_cache_and_the_next_start_finds_all_in_it(nearly_cold: dict[str, str]) -> None:
    script = """
held = ranker()
lists = play(held, 10)
before = len(compiled.buffer), is_plain(held._learner._runner.started())
there = held._learner.kernels.wait()
lists += play(held, 10)
held.estimates()
print(json.dumps([before, there, is_plain(held._learner._runner.started()), len(compiled.buffer), len(started), lists]))
"""
    before, there, still_plain, events, started, lists = _run(script, nearly_cold)
    assert (before, there, still_plain, started) == ([0, True], True, False, 1)
    # all that this process has was loaded
    assert events == 0
    assert _run(script, nearly_cold) == [[0, False], True, False, 0, 0, lists]
    assert _run(script, {**nearly_cold, "SLOTWISE_COMPILE": "never"})[-1] == lists


def test_several_learners_start_one_process_and_its_death_is_no_obstacle(cold: dict[str, str]) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            BEGIN
            + """
import time
held = [ranker() for _ in range(3)]
while not started:
    time.sleep(0.01)
os.kill(started[0].pid, 9)
there = [one._learner.kernels.wait() for one in held]
print(json.dumps([there, len(started), len(play(held[0], 5))]))
""",
        ],
        env=cold,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [[False] * 3, 1, 5]
    assert done.stderr == "the process that compiles was killed: decisions stay slow until the next start\n"


START_AND_WAIT = """
import time
held = ranker()
while not started:
    time.sleep(0.01)
print("started", flush=True)
sys.stdin.read()
"""
WAIT_FOR_ANOTHER = """
waiting = threading.Event()
taken = filling._taken
def telling(lock):
    found = taken(lock)
    if not found:
        waiting.set()
    return found
filling._taken = telling
held = ranker()
waiting.wait()
print(json.dumps([len(started), len(play(held, 5))]))
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_processes_share_one_compiler_which_ends_with_the_one_that_started_it(
    cold: dict[str, str], end: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN + START_AND_WAIT],
        env=cold,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "started\n"
        assert _run(WAIT_FOR_ANOTHER, cold) == [0, 5]
        running.send_signal(end)
    with _lock(cold) as lock:
        # waits for the compiler to end, which holds it
        fcntl.flock(lock, fcntl.LOCK_EX)


def test_a_fork_goes_on_by_itself(busy: dict[str, str]) -> None:
    found = _run(
        """
held = ranker()
wanted = play(ranker(), 5)
child = os.fork()
if child == 0:
    right = play(held, 5) == wanted and held._learner.kernels.is_in_preparation()
    os._exit(0 if right else 1)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps([code, held._learner.kernels.is_in_preparation()]))
""",
        busy,
    )
    assert found == [0, True]


def test_without_a_folder_it_warns_once_and_ends_while_compiling(cold: dict[str, str]) -> None:
    nowhere = "/dev/null/nowhere"
    script = """
import time
held = [ranker(), ranker()]
lists = play(held[0], 5)
while not compiled.buffer:
    time.sleep(0.01)
print(json.dumps([len(lists), len(started), is_plain(held[0]._learner._runner.started())]))
"""
    done = subprocess.run(
        [sys.executable, "-c", "import tempfile\ntempfile.tempdir = '/dev/null/x'\n" + BEGIN + script],
        env={**cold, "NUMBA_CACHE_DIR": nowhere, "XDG_CACHE_HOME": nowhere, "HOME": nowhere},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [5, 0, True]
    (line,) = done.stderr.splitlines()
    assert line.startswith("no folder for compiled kernels is safe and writable, so every start compiles again")


def test_a_program_that_is_no_interpreter_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    assert compile_process.fill(MODULE, "something", threading.Event()) is compile_process.CompileOutcome.FAILED
    monkeypatch.setattr(sys, "executable", None)
    assert compile_process.fill(MODULE, "something", threading.Event()) is compile_process.CompileOutcome.FAILED


def test_a_process_that_fails_is_quoted(caplog: pytest.LogCaptureFixture) -> None:
    text = WarmUpScript(get_policy("thompson-sampling"), 3, 6, bias_is_known=False).text.replace("sampling", "sampler")
    assert compile_process.fill(MODULE, text, threading.Event()) is compile_process.CompileOutcome.FAILED
    assert "unknown policy 'thompson-sampler'" in caplog.text
    assert not compile_process.is_filled(text)


def test_many_items_are_compiled_before_the_first_decision_which_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slotwise.jit.background_compile.MAX_PLAIN_ITEMS", 5)
    monkeypatch.setattr("slotwise.jit.background_compile.is_filled", lambda _: False)
    learner = _learner("thompson-sampling", "background")
    assert not is_plain(learner._runner.started())
    assert "compiling before the first decision among 6 items" in caplog.text
