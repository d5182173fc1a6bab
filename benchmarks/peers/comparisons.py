"""The work that slotwise and its peers do: rounds of problem (a), and the fit of a click log."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.peer_environments import PeerUnavailable, drive, pinned_version
from slotwise import MNL, Rankings, simulate
from slotwise.core.types import FloatArray, IntArray
from slotwise.environments import paper_problems
from slotwise.estimators import maximum_likelihood

SIMULATION_PEERS = (
    "mabwiser",
    "mab2rec",
    "river",
    "contextualbandits",
    "pybandits",
    "bayesianbandits",
    "coba",
    "vowpalwabbit",
)
FITTING_PEERS = ("xlogit", "choix")
POLICY = "thompson-sampling"
#: 95 % of a normal distribution
NORMAL = 1.96


def compare_simulations(rounds: int, replications: int, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Rounds a second of processor time and regret on problem (a), ours first; a failed peer has the reason."""
    users = paper_problems()["a"].users
    task = {
        "position_bias": users.position_bias.tolist(),
        "attractiveness": users.attractiveness.tolist(),
        "rounds": rounds,
        "replications": replications,
    }
    simulate(users, POLICY, rounds=10, jobs=1)
    began = time.process_time()
    ours = simulate(users, POLICY, rounds=rounds, replications=replications, jobs=1)[POLICY]
    seconds = time.process_time() - began
    limit = rounds * random_regret(users)
    rows = [_simulated("slotwise", ours.regret[:, -1].tolist(), rounds * replications / seconds, limit)]
    for name in SIMULATION_PEERS:
        say(name)
        try:
            answer = drive(name, task=task)
        except PeerUnavailable as problem:
            rows.append({"peer": name, "failed": str(problem)})
            continue
        rate = rounds / statistics.median(answer["seconds"])
        rows.append(_simulated(name, answer["regret"], rate, limit) | {"version": pinned_version(name)})
    return rows


def random_regret(users: MNL) -> float:
    """The expected regret of a round with a random list.

    >>> round(random_regret(MNL(position_bias=[1.0], attractiveness=[1.0, 0.25])), 2)
    0.15
    """
    odds = np.array([users.position_bias @ users.attractiveness[list(shown)] for shown in _lists(users)])
    rates = odds / (1.0 + odds)
    return float(rates.max() - rates.mean())


def _lists(users: MNL) -> Iterator[tuple[int, ...]]:
    return itertools.permutations(range(users.items), users.slots)


def _simulated(name: str, regret: list[float], rate: float, at_random: float) -> dict[str, Any]:
    """A row; a tool that has learned loses less than random lists do."""
    mean = statistics.fmean(regret)
    error = statistics.stdev(regret) / len(regret) ** 0.5 if len(regret) > 1 else 0.0
    return {"peer": name, "rate": rate, "regret": mean, "error": error, "has_learned": mean < at_random}


def draw_log(users: MNL, views: int, seed: int) -> tuple[IntArray, IntArray]:
    """Random lists, and the slot that was clicked in each, from 0; -1 for none."""
    rng = np.random.default_rng(seed)
    shown = np.argsort(rng.random((views, users.items)), axis=1)[:, : users.slots]
    cumulated = np.cumsum(users.position_bias * users.attractiveness[shown], axis=1)
    drawn = rng.random(views) * (1.0 + cumulated[:, -1])
    clicked = (cumulated <= drawn[:, None]).sum(axis=1)
    return shown, np.where(clicked == users.slots, -1, clicked)


def compare_fits(views: int, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Processor time, error and coverage of maximum likelihood on the same log; choix has one without position bias."""
    rng = np.random.default_rng(5)
    attractiveness = rng.uniform(0.05, 0.5, 20)
    worlds = {
        "xlogit": MNL(position_bias=[1.0, 0.7, 0.5, 0.35, 0.25], attractiveness=attractiveness),
        "choix": MNL(position_bias=[1.0] * 5, attractiveness=attractiveness),
    }
    rows: list[dict[str, Any]] = []
    for name in FITTING_PEERS:
        say(name)
        shown, clicked = draw_log(worlds[name], views, seed=6)
        truth = np.log(worlds[name].attractiveness)
        seconds, ours, errors = _our_fit(shown, clicked, len(truth))
        rows.append(_fitted("slotwise", name, seconds, ours, errors, truth))
        try:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "log.npz"
                np.savez(log, shown=shown, clicked=clicked, items=len(truth))
                answer = drive(name, str(log))
        except PeerUnavailable as problem:
            rows.append({"peer": name, "log": name, "failed": str(problem)})
            continue
        theirs = np.array(answer["log_attractiveness"])
        row = _fitted(name, name, answer["seconds"], theirs, np.array(answer.get("errors", [])), truth)
        rows.append(row | {"version": pinned_version(name), "difference": float(np.abs(theirs - ours).max())})
    return rows


def _our_fit(shown: IntArray, clicked: IntArray, items: int) -> tuple[float, FloatArray, FloatArray]:
    """Seconds, logarithms and standard errors of them; the first call compiles."""
    for _ in range(2):
        began = time.process_time()
        estimate = maximum_likelihood(Rankings.of_rounds(shown, clicked, items=items))
        intervals, _ = estimate.intervals(0.95)
        seconds = time.process_time() - began
    return seconds, np.log(estimate.attractiveness), np.log(intervals.high / intervals.low) / (2 * NORMAL)


def _fitted(
    name: str, log: str, seconds: float, logs: FloatArray, errors: FloatArray, truth: FloatArray
) -> dict[str, Any]:
    row = {"peer": name, "log": log, "seconds": seconds, "error": float(np.sqrt(((logs - truth) ** 2).mean()))}
    if len(errors):
        row["coverage"] = float((np.abs(logs - truth) <= NORMAL * errors).mean())
    return row
