"""The comparison of slotwise's own policies: chosen on random problems, reported on others, tails included.

Three parts. *Choosing*: random problems, regret relative to posterior sampling. *Reporting*: the paper's problems and
the eight further ones. *Long*: a million rounds. Every cell, a policy on a problem, is stored on disk when it is done,
and an interrupted run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.changing_pages.random_worlds import random_problem
from slotwise.core.random import stream
from slotwise.core.types import FloatArray
from slotwise.environments import Problem, further_problems, paper_problems
from slotwise.paper.result_cache import ResultCache, program_hash, writable_folder
from slotwise.simulation import simulate
from slotwise.simulation.progress import Bar

#: what all others are compared with
PLAIN = "posterior-sampling"
#: with unknown bias, then with known bias
UNKNOWN = (PLAIN, "random-bound")
KNOWN = tuple(f"{id}:bias=known" for id in UNKNOWN)
#: on the paper's problems only
ALSO = (
    "exact-posterior-sampling",
    "pairwise-ucb",
    "pbm-ucb",
    "epoch-ucb",
    "epoch-ucb-upb-star:sensitivity=analytic",
)

#: the random problems: the stream of this seed, and how many
CHOOSING_SEED, CHOOSING = 2026, 100
LONG_ROUNDS = 1_000_000
LONG_RECORDED = (10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True)
class PolicyCell:
    """One policy on one problem, with its rounds and replications."""

    part: str
    problem: Problem
    label: str
    replications: int
    seed: int
    recorded: tuple[int, ...]

    @property
    def made_for(self) -> dict[str, Any]:
        """All that its numbers depend on."""
        return {
            "position_bias": self.problem.users.position_bias.tolist(),
            "attractiveness": self.problem.users.attractiveness.tolist(),
            "policy": self.label,
            "replications": self.replications,
            "seed": self.seed,
            "recorded": list(self.recorded),
            "program": program_hash(),
        }


def cells(
    replications: int = 200, seed: int = 1, parts: Sequence[str] = ("report", "long", "choose")
) -> list[PolicyCell]:
    """Every cell of the given parts; `long` and `choose` have fewer replications than `report`."""

    def cell(part: str, problem: Problem, policy: str, count: int, recorded: tuple[int, ...]) -> PolicyCell:
        return PolicyCell(part, problem, policy, count, seed, recorded)

    problems = paper_problems() | further_problems()
    drawn = [
        Problem(f"random {index}", p.users, p.rounds)
        for index in range(CHOOSING)
        for p in [random_problem(np.random.default_rng(stream(CHOOSING_SEED, index)))]
    ]
    result: list[PolicyCell] = []
    for problem in problems.values():
        ours = [*UNKNOWN, *KNOWN, *(ALSO if problem.id in "abc" else ())]
        result += [cell("report", problem, id, replications, (problem.rounds,)) for id in ours]
    for problem in (problems[id] for id in "abcik"):
        longer = Problem(problem.id, problem.users, LONG_ROUNDS)
        result += [cell("long", longer, id, max(1, replications // 4), LONG_RECORDED) for id in UNKNOWN]
    for problem in drawn:
        result += [cell("choose", problem, id, max(1, replications // 20), (problem.rounds,)) for id in UNKNOWN]
    return [one for one in result if one.part in parts]


@dataclass(frozen=True, eq=False)
class PolicyFinding:
    """A cell and its cumulative regret, replications × recorded rounds."""

    cell: PolicyCell
    regret: FloatArray
    seconds: float


def run(todo: Sequence[PolicyCell], out: Path, *, jobs: int = -1, progress: bool | None = None) -> list[PolicyFinding]:
    """Run the cells that are not in `out` yet."""
    folder = writable_folder(out / "cells")
    done = []
    with Bar(progress) as bar, bar.task("policies on problems", len(todo)) as step:
        for one in todo:
            done.append(_finding(one, folder, jobs))
            step()
    return done


def _finding(cell: PolicyCell, folder: Path, jobs: int) -> PolicyFinding:
    store = ResultCache(folder, cell.made_for)
    name = "".join(c if c.isalnum() or c in "-." else "_" for c in f"{cell.part}-{cell.problem.id}-{cell.label}")
    kept, _ = store.load(name)
    if kept is not None:
        return PolicyFinding(cell, kept["regret"], float(kept["seconds"]))
    begin = time.perf_counter()
    results = simulate(
        cell.problem.users,
        cell.label,
        rounds=cell.problem.rounds,
        replications=cell.replications,
        seed=cell.seed,
        jobs=jobs,
        record_at=cell.recorded,
        progress=False,
    )
    found = PolicyFinding(cell, next(iter(results.values())).regret, time.perf_counter() - begin)
    store.save(name, {"regret": found.regret, "seconds": found.seconds})
    return found


def tables(found: Sequence[PolicyFinding]) -> str:
    """Every table of the study, as Markdown."""
    text = []
    reported = [one for one in found if one.cell.part == "report"]
    for problem in dict.fromkeys(one.cell.problem.id for one in reported):
        rows = [one for one in reported if one.cell.problem.id == problem]
        text.append(f"### Problem ({problem}), {rows[0].cell.problem.rounds:,} rounds\n\n{_final(rows)}")
    long = [one for one in found if one.cell.part == "long"]
    for problem in dict.fromkeys(one.cell.problem.id for one in long):
        rows = [one for one in long if one.cell.problem.id == problem]
        text += [f"### Problem ({problem}), a million rounds\n\n{_through_time(rows)}"]
    chosen = relative([one for one in found if one.cell.part == "choose"])
    if chosen:
        text.append(f"### {CHOOSING} random problems, relative to {PLAIN}\n\n{_relative(chosen)}")
    return "\n".join(text)


def relative(found: Sequence[PolicyFinding]) -> dict[str, FloatArray]:
    """Final regret by policy over all problems, each divided by the mean of plain posterior sampling there."""
    plain = {one.cell.problem.id: one.regret[:, -1].mean() for one in found if one.cell.label == PLAIN}
    gathered: dict[str, list[FloatArray]] = {}
    for one in found:
        # where there is nothing to choose there is nothing to compare
        if plain.get(one.cell.problem.id, 0.0) > 0.0:
            gathered.setdefault(one.cell.label, []).append(one.regret[:, -1] / plain[one.cell.problem.id])
    return {label: np.concatenate(parts) for label, parts in gathered.items()}


def _final(rows: Sequence[PolicyFinding]) -> str:
    lines = ["| policy | mean | ± s.e. | median | 99 % | worst |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for one in rows:
        final = one.regret[:, -1]
        lines.append(f"| `{one.cell.label}` {_numbers(final)}")
    return "\n".join(lines) + "\n"


def _numbers(final: FloatArray, digits: int = 1) -> str:
    error = final.std(ddof=1) / np.sqrt(len(final)) if len(final) > 1 else float("nan")
    shown = (final.mean(), error, np.median(final), np.quantile(final, 0.99), final.max())
    return "".join(f"| {value:,.{digits}f} " for value in shown) + "|"


def _through_time(rows: Sequence[PolicyFinding]) -> str:
    points = rows[0].cell.recorded
    lines = ["| policy | " + " | ".join(f"{point:,}" for point in points) + " | worst |"]
    lines.append("| --- |" + " ---: |" * (len(points) + 1))
    for one in rows:
        means = " | ".join(f"{value:,.1f}" for value in one.regret.mean(axis=0))
        lines.append(f"| `{one.cell.label}` | {means} | {one.regret[:, -1].max():,.1f} |")
    return "\n".join(lines) + "\n"


def _relative(chosen: Mapping[str, FloatArray]) -> str:
    lines = ["| policy | mean | ± s.e. | median | 99 % | worst |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    lines += [f"| `{label}` {_numbers(values, 2)}" for label, values in chosen.items()]
    return "\n".join(lines) + "\n"
