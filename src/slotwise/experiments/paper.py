"""The paper's experiments, from nothing to figures, tables, claims and a report; resumable at every replication."""

from __future__ import annotations

import csv
import io
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from slotwise import checks
from slotwise.compiled.cache import source_hash
from slotwise.errors import InvalidInput, UnknownName, UnwritableFolder
from slotwise.experiments import coverage, figures
from slotwise.experiments.claims import CLAIMS, Claim, Verdict
from slotwise.experiments.coverage import Coverage
from slotwise.experiments.problems import REPLICATIONS, Problem, paper_problems
from slotwise.experiments.store import Store, writable_folder
from slotwise.files import replacing
from slotwise.policies.policy import Setting
from slotwise.policies.registry import policy
from slotwise.simulate import Results, Run
from slotwise.simulate.progress import Bar
from slotwise.simulate.replicate import Replication, recorded_rounds, run_replications

#: in the order of the paper's legend
POLICIES = ("epoch-ucb", "epoch-ucb-w", "epoch-ucb-upb", "epoch-ucb-upb-star", "mnl-bandit", "toprank", "pbm-ucb")
RECORDED = 200
#: of many files in one folder that cannot be used, this many are named one by one
NAMED_ONE_BY_ONE = 3
#: a run to try it out: this many replications, of this part of the horizon
QUICK_REPLICATIONS = 4
QUICK_PART = 0.1


@dataclass(frozen=True)
class Plan:
    """What to run and where to put it."""

    problems: tuple[str, ...] = ("a", "b", "c")
    replications: int = REPLICATIONS
    jobs: int = -1
    out: Path = Path("results/paper")
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        checks.whole_number("replications", self.replications, at_least=1)
        checks.whole_number("seed", self.seed, at_least=0)
        if self.jobs != -1:
            checks.whole_number("jobs", self.jobs, at_least=1)
        if not self.problems:
            raise InvalidInput("problems must name at least one problem, got none")
        for name in self.problems:
            if name not in paper_problems():
                raise UnknownName("problem of the paper", name, paper_problems())

    def rounds(self, problem: Problem) -> int:
        """The horizon: the paper's, or a part of it."""
        return max(1, round(problem.rounds * QUICK_PART)) if self.quick else problem.rounds


@dataclass(frozen=True)
class Paper:
    """What the experiments found."""

    plan: Plan
    users: dict[str, Any]
    results: dict[str, Results]
    verdicts: list[tuple[Claim, list[Verdict]]]
    coverage: list[Coverage]
    seconds: float


def run(plan: Plan, *, progress: bool | None = None, say: Callable[[str], None] | None = None) -> Paper:
    """Run what is not on disk yet, and write figures, tables and the report into `plan.out`."""
    from slotwise.experiments.report import write_report

    begin = time.perf_counter()
    tell = say or (lambda line: print(line, file=sys.stderr))
    problems = {name: paper_problems()[name] for name in plan.problems}
    results: dict[str, Results] = {}
    try:
        folder = writable_folder(plan.out)
        with Bar(progress) as bar:
            for name, problem in problems.items():
                results[name] = _results(plan, problem, bar, tell)
        paper = Paper(
            plan,
            users={name: problem.users for name, problem in problems.items()},
            results=results,
            verdicts=[(claim, found) for claim in CLAIMS if (found := claim.check(results))],
            coverage=[
                one
                for name, problem in problems.items()
                for one in coverage.measure(name, problem.users, results[name])
            ],
            seconds=time.perf_counter() - begin,
        )
        _write(paper, folder)
        write_report(paper, folder)
    except OSError as problem:
        raise UnwritableFolder(
            f"cannot write into {plan.out}: {problem.strerror or problem}; what was computed before is kept there"
        ) from problem
    return paper


def _results(plan: Plan, problem: Problem, bar: Bar, tell: Callable[[str], None]) -> Results:
    rounds = plan.rounds(problem)
    points = recorded_rounds(RECORDED, rounds)
    setting = Setting(problem.users.slots, problem.users.items, rounds, problem.users.position_bias)
    runs = {}
    for label in POLICIES:
        store = _store(plan, problem, label, rounds, points)
        done, missing, complaints = [], [], []
        for index in range(plan.replications):
            kept, complaint = store.load(index)
            if complaint:
                complaints.append(complaint)
            if kept is None:
                missing.append(index)
            else:
                done.append(kept)
        for complaint in complaints[:NAMED_ONE_BY_ONE]:
            tell(complaint)
        if len(complaints) > NAMED_ONE_BY_ONE:
            tell(f"and {len(complaints) - NAMED_ONE_BY_ONE} more in {store.folder}")
        with bar.task(f"({problem.id}) {label}", plan.replications, done=len(done)) as step:
            if missing:
                done += _compute(problem.users, label, setting, plan, missing, points, store, step)
        runs[label] = Run.of(label, points, done)
        tell(f"({problem.id}) {label:<20} {runs[label].seconds:7.2f} s of computing")
    return Results(runs, rounds=rounds, replications=plan.replications, seed=plan.seed)


def _compute(
    users: Any,
    label: str,
    setting: Setting,
    plan: Plan,
    missing: Sequence[int],
    points: Any,
    store: Store,
    step: Callable[[], None],
) -> list[Replication]:
    done = []
    for replication in run_replications(
        users, policy(label), setting, seed=plan.seed, indices=missing, jobs=plan.jobs, points=points
    ):
        store.save(replication)
        done.append(replication)
        step()
    return done


def _store(plan: Plan, problem: Problem, label: str, rounds: int, points: Any) -> Store:
    made_for = {
        "problem": {
            "position_bias": problem.users.position_bias.tolist(),
            "attractiveness": problem.users.attractiveness.tolist(),
        },
        "policy": label,
        "rounds": rounds,
        "recorded": [int(point) for point in points],
        "seed": plan.seed,
        "program": source_hash(),
    }
    return Store(writable_folder(plan.out / "replications" / problem.id / label), made_for)


COLUMNS = ("policy", "mean", "low", "high", "standard_error", "median", "least", "most", "seconds")


def table(results: Results) -> list[dict[str, Any]]:
    """Final regret by policy, with a 95 % confidence interval of the mean (Student's t)."""
    rows = []
    for label, run in results.items():
        final = run.final_regret
        half = float(stats.t.ppf(0.975, len(final) - 1)) * run.standard_error if len(final) > 1 else math.nan
        rows.append(
            {
                "policy": label,
                "mean": run.mean,
                "low": run.mean - half,
                "high": run.mean + half,
                "standard_error": run.standard_error,
                "median": run.quantile(0.5),
                "least": float(final.min()),
                "most": float(final.max()),
                "seconds": run.seconds,
            }
        )
    return rows


def _write(paper: Paper, folder: Path) -> None:
    for name, results in paper.results.items():
        figures.save(figures.regret(name, results), folder, f"regret_{name}")
        results.to_parquet(folder / f"regret_{name}.parquet")
        rows = table(results)
        _write_csv(folder / f"final_regret_{name}.csv", COLUMNS, rows)
        _write_text(folder / f"final_regret_{name}.md", markdown(rows))
    figures.save(figures.between_bounds(paper.users, paper.results), folder, "bounds")
    figures.save(figures.coverage(paper.coverage), folder, "coverage")
    measured = [asdict(one) for one in paper.coverage]
    _write_csv(folder / "coverage.csv", tuple(measured[0]), measured)
    claims = [
        {"claim": claim.id, "statement": claim.statement, "criterion": claim.criterion, **asdict(verdict)}
        for claim, verdicts in paper.verdicts
        for verdict in verdicts
    ]
    _write_csv(folder / "claims.csv", tuple(claims[0]), claims)


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table of final regret for a Markdown page."""
    lines = ["| policy | mean regret | 95 % interval | median | least to most |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {row['policy']} | {row['mean']:,.1f} | {row['low']:,.1f} to {row['high']:,.1f} | {row['median']:,.1f} "
        f"| {row['least']:,.0f} to {row['most']:,.0f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _write_text(path, text.getvalue())


def _write_text(path: Path | os.PathLike[str], text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
