"""Run the paper's experiments and write figures, tables, claims and a report; resumes at every replication."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from slotwise.core.errors import UnwritableFile
from slotwise.core.io import replacing, write_csv
from slotwise.core.plotting import save
from slotwise.core.policy_task import PolicyTask
from slotwise.environments import Problem, paper_problems
from slotwise.paper import coverage, paper_figures
from slotwise.paper.claims import CLAIMS
from slotwise.paper.paper_report import write_report
from slotwise.paper.paper_tables import COLUMNS, Paper, Plan, markdown, table
from slotwise.paper.result_cache import ResultCache, program_hash, writable_folder
from slotwise.policies.policy_registry import get_policy
from slotwise.simulation import Results, Run
from slotwise.simulation.progress import Bar
from slotwise.simulation.runner import Replication, recorded_rounds, run_replications

#: in the order of the paper's legend
POLICIES = tuple(paper_figures.COLOURS)
RECORDED = 200
#: at most this many unusable files of a folder are named one by one
MAX_NAMED_FILES = 3


def run(plan: Plan, *, progress: bool | None = None, say: Callable[[str], None] | None = None) -> Paper:
    """Run the replications that are not on disk yet, and write figures, tables and the report into `plan.out`."""
    begin = time.perf_counter()
    problems = {name: paper_problems()[name] for name in plan.problems}
    results: dict[str, Results] = {}
    try:
        folder = writable_folder(plan.out)
        everything = len(problems) * len(POLICIES) * plan.replications
        with Bar(progress) as bar, bar.task("all replications", everything) as step:
            for name, problem in problems.items():
                results[name] = _results(plan, problem, bar, step, say or bar.say)
        paper = Paper(
            plan,
            users={name: problem.users for name, problem in problems.items()},
            results=results,
            verdicts=[(claim, verdicts) for claim in CLAIMS if (verdicts := claim.check(results))],
            coverage=[
                cell
                for name, problem in problems.items()
                for cell in coverage.measure(name, problem.users, results[name])
            ],
            seconds=time.perf_counter() - begin,
        )
        _write(paper, folder)
        write_report(paper, folder)
    except OSError as problem:
        hint = "; finished replications are kept there" if plan.out.is_dir() else ""
        raise UnwritableFile(f"cannot write into {plan.out}: {problem.strerror or problem}{hint}") from problem
    return paper


def _results(
    plan: Plan, problem: Problem, bar: Bar, step_of_all: Callable[[], None], tell: Callable[[str], None]
) -> Results:
    rounds = plan.rounds(problem)
    points = recorded_rounds(RECORDED, rounds)
    task = PolicyTask(problem.users.slots, problem.users.items, rounds, problem.users.position_bias)
    runs = {}
    for label in POLICIES:
        cache = _cache(plan, problem, label, rounds, points)
        done, missing, complaints = [], [], []
        for index in range(plan.replications):
            numbers, complaint = cache.load(f"{index:04d}")
            if complaint:
                complaints.append(complaint)
            if numbers is None:
                missing.append(index)
            else:
                done.append(Replication.of_numbers(index, numbers))
                step_of_all()
        for complaint in complaints[:MAX_NAMED_FILES]:
            tell(complaint)
        if len(complaints) > MAX_NAMED_FILES:
            tell(f"and {len(complaints) - MAX_NAMED_FILES} more in {cache.folder}")
        with bar.task(f"({problem.id}) {label}", plan.replications, done=len(done), passing=True) as step:
            for replication in run_replications(
                problem.users, get_policy(label), task, seed=plan.seed, indices=missing, jobs=plan.jobs, points=points
            ):
                cache.save(f"{replication.index:04d}", replication.numbers())
                done.append(replication)
                step()
                step_of_all()
        runs[label] = Run.of(label, points, done)
        tell(f"({problem.id}) {label:<20} {runs[label].seconds:7.2f} s of computing")
    return Results(runs, rounds=rounds, replications=plan.replications, seed=plan.seed)


def _cache(plan: Plan, problem: Problem, label: str, rounds: int, points: Any) -> ResultCache:
    made_for = {
        "problem": {
            "position_bias": problem.users.position_bias.tolist(),
            "attractiveness": problem.users.attractiveness.tolist(),
        },
        "policy": label,
        "rounds": rounds,
        "recorded": [int(point) for point in points],
        "seed": plan.seed,
        "program": program_hash(),
    }
    return ResultCache(writable_folder(plan.out / "replications" / problem.id / label), made_for)


def _write(paper: Paper, folder: Path) -> None:
    for name, results in paper.results.items():
        save(paper_figures.regret(name, results), folder, f"regret_{name}")
        results.to_parquet(folder / f"regret_{name}.parquet")
        rows = table(results)
        write_csv(folder / f"final_regret_{name}.csv", COLUMNS, [[row[head] for head in COLUMNS] for row in rows])
        _write_text(folder / f"final_regret_{name}.md", markdown(rows))
    save(paper_figures.between_bounds(paper.users, paper.results), folder, "bounds")
    save(paper_figures.coverage(paper.coverage), folder, "coverage")
    measured = [asdict(cell) for cell in paper.coverage]
    write_csv(folder / "coverage.csv", tuple(measured[0]), [tuple(row.values()) for row in measured])
    claims = [
        {"claim": claim.id, "statement": claim.statement, "criterion": claim.criterion, **asdict(verdict)}
        for claim, verdicts in paper.verdicts
        for verdict in verdicts
    ]
    write_csv(folder / "claims.csv", tuple(claims[0]), [tuple(row.values()) for row in claims])


def _write_text(path: Path | os.PathLike[str], text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
