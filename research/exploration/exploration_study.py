"""How much should the default explore? Rules on one posterior, by the mean and the tail of their regret.

The default is Thompson sampling unless a rule with at most two constants has a mean regret of at most 0.9 of it and
95 % and 99 % quantiles that are not higher. Rules are chosen on random problems of one seed and reported on those of
another. Regret is relative to the mean of Thompson sampling on the same problem in runs of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import joblib
import numpy as np

import research.exploration.rules  # noqa: F401  (registers the rules)
from research.changing_pages.random_worlds import random_changing_problem, random_problem
from slotwise.core.plotting import PALETTE, bare, new_figure, save
from slotwise.core.random import stream
from slotwise.core.types import FloatArray
from slotwise.simulation import simulate
from slotwise.simulation.progress import Bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THOMPSON = "Thompson sampling"
#: label, policy and number of constants; stated before the first run
CANDIDATES: dict[str, tuple[str, int]] = {
    THOMPSON: ("thompson-sampling", 0),
    "sharpened, κ = 1.5": ("thompson-sampling:boldness=1.5", 1),
    "sharpened, κ = 2": ("thompson-sampling:boldness=2", 1),
    "κ = 1 + 2/(1 + clicks/5)": ("exploration-rule:rule=item-clicks,a=2,b=5", 2),
    "κ = 1 + 2J/(J + clicks)": ("exploration-rule:rule=page-clicks,a=2", 1),
    "κ = 1 + min(1, 100J/rounds)": ("exploration-rule:rule=rounds,a=1,b=100", 2),
    "κ = 1 + 3·evidence/largest": ("exploration-rule:rule=relative,a=4", 1),
    "mixed: κ = 2, and 1 in 3 of 10": ("exploration-rule:rule=mixed,a=0.3,b=2", 2),
    "ε-exploring, ε = 0.3": ("epsilon-ts:epsilon=0.3", 1),
    "ExpTS+": ("exp-ts-plus", 0),
    "optimistic": ("exploration-rule:rule=optimistic", 0),
    "clipped (MOTS)": ("exploration-rule:rule=clipped", 0),
    "ordered by mean": ("exploration-rule:rule=ordered", 0),
}
#: the candidates that run on changing problems as well
MAIN = (
    THOMPSON,
    "sharpened, κ = 1.5",
    "sharpened, κ = 2",
    "ε-exploring, ε = 0.3",
    "ExpTS+",
    "clipped (MOTS)",
    "ordered by mean",
)
KINDS: dict[str, Sequence[str]] = {"stationary": tuple(CANDIDATES), "changing": MAIN}
#: problems to choose on, and to report on
CHOOSING_SEED, REPORTING_SEED = 2026, 2027
#: runs of Thompson sampling that give a problem its unit
UNIT_RUNS = 4
BOOTSTRAPS = 400


@dataclass(frozen=True)
class ExplorationSize:
    """How many problems to draw, and how many runs each has."""

    stationary: int = 1_000
    changing: int = 300
    runs: int = 2


def _regret(kind: str, seed: int, number: int, policies: Mapping[str, str], runs: int) -> dict[str, FloatArray]:
    """The regret of each policy on one problem, with runs of Thompson sampling of another seed as `unit`."""
    drawn = random_problem if kind == "stationary" else random_changing_problem
    problem = drawn(np.random.default_rng(stream(seed, number)))
    todo = {"unit": (CANDIDATES[THOMPSON][0], UNIT_RUNS, 1)}
    todo |= {label: (policy, runs, 2) for label, policy in policies.items()}
    regret = {}
    for label, (policy, count, offset) in todo.items():
        results = simulate(
            problem.users,
            policy,
            rounds=problem.rounds,
            replications=count,
            seed=10 * number + offset,
            jobs=1,
            record_at=(problem.rounds,),
            progress=False,
        )
        regret[label] = next(iter(results.values())).regret[:, -1]
    return regret


def relative_regret(
    kind: str, seed: int, count: int, policies: Mapping[str, str], *, runs: int, jobs: int, progress: bool | None = None
) -> dict[str, FloatArray]:
    """Regret relative to the mean of Thompson sampling on the same problem, problems × runs, for each policy."""
    results: list[dict[str, FloatArray]] = []
    # kernels release the interpreter lock, and one process compiles the rules once
    pool = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
    with Bar(progress) as bar, bar.task(f"{kind} problems, seed {seed}", count) as step:
        for regret in pool(joblib.delayed(_regret)(kind, seed, number, policies, runs) for number in range(count)):
            results.append(regret)
            step()
    units = np.array([regret["unit"].mean() for regret in results])
    return {label: np.array([regret[label] for regret in results]) / units[:, None] for label in policies}


@dataclass(frozen=True)
class Score:
    """Mean, 95 % and 99 % quantile of a rule relative to those of Thompson sampling, each with its standard error."""

    mean: float
    mean_error: float
    q95: float
    q95_error: float
    q99: float
    q99_error: float

    @property
    def wins(self) -> bool:
        """Whether the rule meets the condition for replacing Thompson sampling."""
        return self.mean <= 0.9 and self.q95 <= 1.0 and self.q99 <= 1.0


def score(regret: FloatArray, plain: FloatArray) -> Score:
    """Compare a rule with Thompson sampling on the same problems; errors by bootstrap over problems."""

    def figures(rows: np.ndarray) -> list[float]:
        ours, theirs = regret[rows], plain[rows]
        quantiles = [float(np.quantile(ours, q) / np.quantile(theirs, q)) for q in (0.95, 0.99)]
        return [float(ours.mean() / theirs.mean()), *quantiles]

    rng = np.random.default_rng(1)
    draws = np.array([figures(rng.integers(0, len(regret), len(regret))) for _ in range(BOOTSTRAPS)])
    numbers, errors = figures(np.arange(len(regret))), draws.std(axis=0)
    return Score(*(float(value) for pair in zip(numbers, errors, strict=True) for value in pair))


def table(scores: Mapping[str, Score]) -> str:
    """The scores as a Markdown table."""
    lines = ["| rule | constants | mean | 95 % | 99 % | wins |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for label, one in scores.items():
        figures = ((one.mean, one.mean_error, 3), (one.q95, one.q95_error, 2), (one.q99, one.q99_error, 2))
        cells = [f"{value:.{digits}f} ± {error:.{digits}f}" for value, error, digits in figures]
        lines.append(f"| {label} | {CANDIDATES[label][1]} | {' | '.join(cells)} | {'yes' if one.wins else 'no'} |")
    return "\n".join(lines) + "\n"


def figure(scores: Mapping[str, Score]) -> Figure:
    """Mean against the 99 % quantile, each rule a point; rules in the shaded corner would replace Thompson sampling."""
    drawn = new_figure(8, 5.6)
    axes = drawn.subplots()
    axes.fill_between([0.0, 0.9], 0.0, 1.0, color="0.93", zorder=0)
    for number, (label, one) in enumerate(scores.items()):
        is_plain = label == THOMPSON
        colour = "#000000" if is_plain else PALETTE[number % (len(PALETTE) - 1)]
        axes.errorbar(one.mean, one.q99, xerr=one.mean_error, yerr=one.q99_error, fmt="none", color=colour, alpha=0.35)
        axes.scatter(
            one.mean, one.q99, s=90 if is_plain else 36, marker="*" if is_plain else "o", color=colour, zorder=3
        )
        side, across = ("right", -6) if one.mean < 0.955 else ("left", 6)
        place = (across, 5 if number % 2 else -11)
        axes.annotate(label, (one.mean, one.q99), place, textcoords="offset points", ha=side, fontsize="small")
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.axvline(0.9, color="0.6", linewidth=0.8)
    low, high = (extreme(one.mean for one in scores.values()) for extreme in (min, max))
    axes.set_xlim(min(0.86, low - 0.09), high + 0.06)
    axes.set_ylim(0.8, max(one.q99 + one.q99_error for one in scores.values()) + 0.1)
    axes.set(xlabel="mean regret, relative to Thompson sampling", ylabel="99 % quantile, relative to Thompson sampling")
    bare(axes)
    return drawn


def write(out: Path, size: ExplorationSize, *, jobs: int, kinds: Sequence[str] = tuple(KINDS)) -> str:
    """Run the candidates on both sets of these kinds of problems; return the tables."""
    text = []
    for kind in kinds:
        count = size.stationary if kind == "stationary" else size.changing
        policies = {label: CANDIDATES[label][0] for label in KINDS[kind]}
        for use, seed in (("chosen", CHOOSING_SEED), ("reported", REPORTING_SEED)):
            regret = relative_regret(kind, seed, count, policies, runs=size.runs, jobs=jobs)
            scores = {label: score(values, regret[THOMPSON]) for label, values in regret.items()}
            each = "one run" if size.runs == 1 else f"{size.runs} runs"
            text.append(f"### {count:,} {kind} problems, {use}, {each} each\n\n{table(scores)}")
            save(figure(scores), out, f"exploration_{kind}_{use}")
    return "\n".join(text)
