"""The estimators compared: bias, variance relative to the Cramér–Rao bound, coverage of intervals, failures, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.click_models import MNL
from slotwise.core import validation
from slotwise.core.io import replacing, write_csv
from slotwise.core.plotting import PALETTE, bare, new_figure, save
from slotwise.core.random import stream
from slotwise.core.rankings import Rankings
from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.environments import problem
from slotwise.estimators import Estimate, estimator, estimators
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.paper.result_cache import writable_folder
from slotwise.simulation.data_collection import at_random, by_policy
from slotwise.simulation.progress import Bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROBLEMS = ("a", "b", "c", "g", "h", "i")
ROUNDS = (1_000, 10_000)
REPLICATIONS = 200
LEVEL = 0.95
#: how the data come about: uniformly random rankings, or a policy that shows more often what looks good
GATHERED = ("at random", "epoch-ucb")
#: where the figure's axis ends
FARTHEST = 3.0
#: every estimator, as a function of the data and of the position bias, which only some use
COMPARED: dict[str, Callable[[Any, FloatArray], Estimate]] = {entry.id: entry.tried for entry in estimators()}


@dataclass(frozen=True)
class Measured:
    """One estimator on one problem, over replications and items; errors are relative to the true attractiveness.

    Estimates, failures and times are those from a tally, where that is enough; intervals are from rankings, or as said.
    """

    problem: str
    rounds: int
    gathered: str
    estimator: str
    replications: int
    #: the share of replications without rest, or with an item that has no finite estimate; they are left out below
    failed: float
    #: mean error, averaged over items
    bias: float
    #: variance and mean squared error over items, in units of the Cramér–Rao bound
    variance: float
    mean_squared_error: float
    #: the share of intervals that hold the true attractiveness, its standard error, and the same given only a tally
    covered: float
    covered_error: float
    covered_from_tally: float
    #: the share of intervals that hold the true position bias; NaN if there is none to estimate
    slots_covered: float
    #: median width of an interval
    width: float
    #: median time of an estimate, and of its standard errors and intervals
    milliseconds: float
    interval_milliseconds: float


def run(
    problems: Sequence[str] = PROBLEMS,
    rounds: Sequence[int] = ROUNDS,
    replications: int = REPLICATIONS,
    seed: int = 0,
    *,
    progress: bool | None = False,
) -> list[Measured]:
    """Everything measured; the same seed gives the same numbers, except for times."""
    replications = validation.whole_number("replications", replications, at_least=2)
    found = []
    with Bar(progress) as bar:
        for name in problems:
            users = problem(name).users
            for length in rounds:
                for gathered in GATHERED:
                    with bar.task(f"({name}) {length:,} rounds {gathered}", replications, passing=True) as step:
                        found += _measure(name, users, length, gathered, replications, seed, step)
    return found


@dataclass(frozen=True)
class _Trial:
    """One estimator on the data of one replication."""

    failed: bool
    error: FloatArray
    covered: FloatArray
    covered_from_tally: FloatArray
    slots_covered: FloatArray
    width: FloatArray
    seconds: tuple[float, float]


def _measure(
    name: str, users: MNL, rounds: int, gathered: str, replications: int, seed: int, step: Callable[[], None]
) -> list[Measured]:
    trials: dict[str, list[_Trial]] = {id: [] for id in COMPARED}
    information = np.zeros((users.items + users.slots - 1,) * 2)
    for index in range(replications):
        rng = np.random.default_rng(stream(seed, index))
        seen = at_random(users, rounds, rng) if gathered == "at random" else by_policy(users, gathered, rounds, rng)
        information += Joint.of(seen).information(users.position_bias, users.attractiveness) / replications
        tally = seen.tally
        for id in COMPARED:
            trials[id].append(_try(id, users, seen, tally))
        step()
    return [_summary(name, rounds, gathered, id, trials[id], _bound(users, information, id)) for id in COMPARED]


def _bound(users: MNL, information: FloatArray, id: str) -> float:
    """The Cramér–Rao bound on the variance of log α, summed over items."""
    items = users.items
    known = information[:items, :items] if estimator(id).position_bias == "known" else information
    return float(np.diag(np.linalg.inv(known))[:items].sum())


def _try(id: str, users: MNL, seen: Rankings, tally: Tally) -> _Trial:
    told, needs_rankings = estimator(id).position_bias == "known", estimator(id).needs == "rankings"
    # unknown biases are learned relative to the first slot's
    anchor = 1.0 if told else users.position_bias[0]
    truth, bias = users.attractiveness * anchor, users.position_bias / anchor
    begin = time.perf_counter()
    estimate = COMPARED[id](seen if needs_rankings else tally, users.position_bias)
    middle = time.perf_counter()
    alpha, _ = estimate.intervals(LEVEL)
    end = time.perf_counter()
    from_tally = np.full(users.items, np.nan) if needs_rankings else alpha.covers(truth)
    alpha, slots = COMPARED[id](seen, users.position_bias).intervals(LEVEL)
    return _Trial(
        failed=not (estimate.converged and bool(np.isfinite(estimate.attractiveness).all())),
        error=estimate.attractiveness / truth - 1.0,
        covered=alpha.covers(truth),
        covered_from_tally=from_tally,
        slots_covered=np.full(1, np.nan) if told or users.slots == 1 else slots.covers(bias)[1:],
        width=alpha.width / truth,
        seconds=(middle - begin, end - middle),
    )


def _summary(name: str, rounds: int, gathered: str, id: str, trials: Sequence[_Trial], bound: float) -> Measured:
    kept = [trial for trial in trials if not trial.failed]
    nothing = [np.full_like(trials[0].error, np.nan)]
    error = np.array([trial.error for trial in kept] or nothing)
    covered = np.array([trial.covered.mean() for trial in kept] or [np.nan])
    width = np.array([trial.width for trial in kept] or nothing)
    finite = width[np.isfinite(width)]
    seconds = np.median([trial.seconds for trial in trials], axis=0)
    return Measured(
        name,
        rounds,
        gathered,
        id,
        len(trials),
        failed=1.0 - len(kept) / len(trials),
        bias=float(error.mean()),
        variance=float(error.var(axis=0).sum() / bound),
        mean_squared_error=float((error**2).mean(axis=0).sum() / bound),
        covered=float(covered.mean()),
        covered_error=float(covered.std() / np.sqrt(len(covered))),
        covered_from_tally=float(np.mean([trial.covered_from_tally for trial in kept] or nothing)),
        slots_covered=float(np.mean([trial.slots_covered for trial in kept] or nothing)),
        width=float(np.median(finite)) if finite.size else float("nan"),
        milliseconds=float(1e3 * seconds[0]),
        interval_milliseconds=float(1e3 * seconds[1]),
    )


def table(measured: Sequence[Measured]) -> str:
    """Markdown: a row an estimator, problem, length and way of gathering."""
    head = (
        "problem | rounds | gathered | estimator | bias, % | variance / bound | MSE / bound | covered, % "
        "| from a tally, % | slots covered, % | median width, % | failed, % | ms | intervals, ms"
    )
    lines = [f"| {head} |", "| --- " * head.count("|") + "| --- |"]
    for one in measured:
        tally, slots = (
            "–" if np.isnan(share) else f"{100 * share:.1f}" for share in (one.covered_from_tally, one.slots_covered)
        )
        lines.append(
            f"| {one.problem} | {one.rounds:,} | {one.gathered} | {one.estimator} | {100 * one.bias:+.1f} "
            f"| {one.variance:.2f} | {one.mean_squared_error:.2f} "
            f"| {100 * one.covered:.1f} ± {100 * one.covered_error:.1f} | {tally} | {slots} "
            f"| {100 * one.width:.0f} | {100 * one.failed:.1f} | {one.milliseconds:.2f} "
            f"| {one.interval_milliseconds:.2f} |"
        )
    return "\n".join(lines) + "\n"


def figure(measured: Sequence[Measured]) -> Figure:
    """Variance relative to the bound, bias and coverage, a row per data collection; small points for shorter runs."""
    problems = list(dict.fromkeys(one.problem for one in measured))
    estimators = list(dict.fromkeys(one.estimator for one in measured))
    longest = max(one.rounds for one in measured)
    drawn = new_figure(12, 1.6 + 1.1 * len(problems))
    panels = drawn.subplots(len(GATHERED), 3, sharey=True, squeeze=False)
    places = {name: len(problems) - 1 - place for place, name in enumerate(problems)}
    for row, gathered in zip(panels, GATHERED, strict=True):
        for one in measured:
            if one.gathered != gathered:
                continue
            order = estimators.index(one.estimator)
            height = places[one.problem] - 0.11 * (order - (len(estimators) - 1) / 2)
            look: dict[str, Any] = {"color": PALETTE[order % len(PALETTE)], "linewidths": 0}
            look |= {"s": 30} if one.rounds == longest else {"s": 12, "alpha": 0.7}
            first = one.rounds == longest and one.problem == problems[0]
            row[0].scatter(min(one.variance, FARTHEST), height, label=one.estimator if first else None, **look)
            row[1].scatter(100 * one.bias, height, **look)
            row[2].scatter(100 * one.covered, height, **look)
        row[0].axvline(1.0, color="0.3", linewidth=1, linestyle=":")
        row[1].axvline(0.0, color="0.3", linewidth=1, linestyle=":")
        row[2].axvline(100 * LEVEL, color="0.3", linewidth=1, linestyle=":")
        row[0].set(
            xlim=(0.7, FARTHEST + 0.1), yticks=list(places.values()), yticklabels=[f"({name})" for name in places]
        )
        row[0].set_ylabel(f"gathered {'by ' if gathered != 'at random' else ''}{gathered}")
        row[1].set_xscale("symlog", linthresh=1.0)
        for axes in row:
            bare(axes)
            axes.grid(axis="x", color="0.93")
            axes.set_axisbelow(True)
    for axes, text in zip(
        panels[-1],
        (
            f"variance of α / Cramér–Rao bound; {FARTHEST:g} is that or more",
            "bias of α, %",
            f"{LEVEL:.0%} intervals that hold α, %",
        ),
        strict=True,
    ):
        axes.set_xlabel(text)
    handles, texts = panels[0][0].get_legend_handles_labels()
    drawn.legend(handles, texts, loc="outside lower center", ncols=len(texts), frameon=False, fontsize="small")
    text = f"after {longest:,} rounds (large points) and fewer (small), {measured[0].replications} replications"
    drawn.suptitle(f"Estimators {text}", fontsize="medium")
    return drawn


def write(out: Path, *, replications: int = REPLICATIONS, seed: int = 0, progress: bool | None = None) -> None:
    """Run the comparison and write estimators.csv, estimators.md and the figure into the folder `out`."""
    folder = writable_folder(out)
    measured = run(replications=replications, seed=seed, progress=progress)
    write_csv(folder / "estimators.csv", [field.name for field in fields(Measured)], [astuple(one) for one in measured])
    with replacing(folder / "estimators.md") as file:
        file.write(table(measured).encode())
    save(figure(measured), folder, "estimators")
