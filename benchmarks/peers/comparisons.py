"""The work that slotwise and its peers do: rounds of problem (a), and the fit of a click log."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.peer_environments import PeerUnavailable, drive, pinned_version
from slotwise import MNL, Rankings, simulate
from slotwise.core.types import BoolArray, FloatArray, IntArray
from slotwise.environments import paper_problems
from slotwise.estimators import maximum_likelihood
from slotwise.estimators.gamma_priors import GammaPrior
from slotwise.estimators.position_based_em import position_based

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
#: the package redis, and that of PostgreSQL
SERVICE_PEERS = ("redis", "psycopg")
POSITION_BASED = "position-based visitors"
LOGS = {
    "position bias": ("xlogit", "choice-learn"),
    "no position bias": ("choix",),
    POSITION_BASED: ("clax-models", "pyclick"),
}
FITTING_PEERS = tuple(itertools.chain.from_iterable(LOGS.values()))
#: so weak that the log decides
WEAK = GammaPrior(shape=0.01, rate=0.01)
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
    """Processor time, error and coverage of each tool on a log of the kind of visitors that it models.

    choix has no position bias, and so has its log. CLAX and PyClick have the position-based model, whose visitors may
    click several items; ours is fitted to their views with at most one click, in which its likelihood is exact.
    """
    rng = np.random.default_rng(5)
    bias, attractiveness = [1.0, 0.7, 0.5, 0.35, 0.25], rng.uniform(0.05, 0.5, 20)
    rows: list[dict[str, Any]] = []
    for log, peers in LOGS.items():
        if log == POSITION_BASED:
            shown, clicks = draw_independent_clicks(bias, attractiveness, views, seed=6)
        else:
            shown, clicked = draw_log(
                MNL(position_bias=[1.0] * 5 if log == "no position bias" else bias, attractiveness=attractiveness),
                views,
                seed=6,
            )
            clicks = clicked[:, None] == np.arange(len(bias))
        truth = np.log(attractiveness)
        fit = _our_position_based_fit if log == POSITION_BASED else _our_fit
        seconds, ours, errors = fit(shown, clicks, len(truth))
        rows.append(_fitted("slotwise", log, seconds, ours, errors, truth))
        for name in peers:
            say(name)
            try:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "log.npz"
                    np.savez(file, shown=shown, clicks=clicks, clicked=_first(clicks), items=len(truth))
                    answer = drive(name, str(file))
                    version = {"version": pinned_version(name)} if name != "pyclick" else {}
            except PeerUnavailable as problem:
                rows.append({"peer": name, "log": log, "failed": str(problem)})
                continue
            theirs = np.array(answer["log_attractiveness"])
            row = _fitted(name, log, answer["seconds"], theirs, np.array(answer.get("errors", [])), truth)
            rows.append(row | version | {"difference": float(np.abs(theirs - ours).max())})
    return rows


def draw_independent_clicks(
    examination: Sequence[float], attraction: FloatArray, views: int, seed: int
) -> tuple[IntArray, BoolArray]:
    """Random lists, and what position-based visitors click in them: each slot by itself."""
    rng = np.random.default_rng(seed)
    shown = np.argsort(rng.random((views, len(attraction))), axis=1)[:, : len(examination)]
    return shown, rng.random(shown.shape) < np.array(examination) * attraction[shown]


def _first(clicks: BoolArray) -> IntArray:
    """The first slot that was clicked, from 0; -1 for none."""
    return np.where(clicks.any(axis=1), clicks.argmax(axis=1), -1)


def _our_fit(shown: IntArray, clicks: BoolArray, items: int) -> tuple[float, FloatArray, FloatArray]:
    """Seconds, logarithms and standard errors of them; the first call compiles."""
    for _ in range(2):
        began = time.process_time()
        estimate = maximum_likelihood(Rankings.of_rounds(shown, _first(clicks), items=items))
        intervals, _ = estimate.intervals(0.95)
        seconds = time.process_time() - began
    return seconds, np.log(estimate.attractiveness), np.log(intervals.high / intervals.low) / (2 * NORMAL)


def _our_position_based_fit(shown: IntArray, clicks: BoolArray, items: int) -> tuple[float, FloatArray, FloatArray]:
    """Seconds and logarithms; no standard errors are given."""
    for _ in range(2):
        began = time.process_time()
        single = clicks.sum(axis=1) <= 1
        rankings = Rankings.of_rounds(shown[single], _first(clicks[single]), items=items)
        found = position_based(rankings, attraction_prior=WEAK, examination_prior=WEAK)
        seconds = time.process_time() - began
    return seconds, np.log(found.attraction), np.array([])


def _fitted(
    name: str, log: str, seconds: float, logs: FloatArray, errors: FloatArray, truth: FloatArray
) -> dict[str, Any]:
    gaps = logs - truth
    if log == POSITION_BASED:
        # that model leaves the scale open
        gaps -= gaps.mean()
    row = {"peer": name, "log": log, "seconds": seconds, "error": float(np.sqrt((gaps**2).mean()))}
    if len(errors):
        row["coverage"] = float((np.abs(logs - truth) <= NORMAL * errors).mean())
    return row
