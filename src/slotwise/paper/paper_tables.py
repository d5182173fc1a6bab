"""The plan and the results of the paper's experiments, and tables of final regret."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.environments import REPLICATIONS, Problem, paper_problems
from slotwise.paper.claims import Claim, ClaimVerdict
from slotwise.paper.coverage import Coverage
from slotwise.simulation import Results

#: a quick run: this many replications, this share of the horizon
QUICK_REPLICATIONS = 4
QUICK_PART = 0.1


@dataclass(frozen=True)
class Plan:
    """Which experiments to run, and the output folder."""

    problems: tuple[str, ...] = ("a", "b", "c")
    replications: int = REPLICATIONS
    jobs: int = -1
    out: Path = Path("results/paper")
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        validation.whole_number("replications", self.replications, at_least=1)
        validation.whole_number("seed", self.seed, at_least=0)
        if self.jobs != -1:
            validation.whole_number("jobs", self.jobs, at_least=1)
        if not self.problems:
            raise InvalidInput("problems must name at least one problem, got none")
        for name in self.problems:
            if name not in paper_problems():
                raise UnknownName("problem of the paper", name, paper_problems())

    def rounds(self, problem: Problem) -> int:
        """Return the horizon: the paper's, or a share of it in a quick run."""
        return max(1, round(problem.rounds * QUICK_PART)) if self.quick else problem.rounds


@dataclass(frozen=True)
class Paper:
    """The results of the experiments."""

    plan: Plan
    users: dict[str, Any]
    results: dict[str, Results]
    verdicts: list[tuple[Claim, list[ClaimVerdict]]]
    coverage: list[Coverage]
    seconds: float


COLUMNS = ("policy", "mean", "low", "high", "standard_error", "median", "least", "most", "seconds")


def table(results: Results) -> list[dict[str, Any]]:
    """Return final regret by policy, with a 95 % confidence interval of the mean (Student's t)."""
    # imported here because every command imports this file and few need scipy
    from scipy.special import stdtrit

    rows = []
    for label, run in results.items():
        final = run.final_regret
        half = float(stdtrit(len(final) - 1, 0.975)) * run.standard_error if len(final) > 1 else math.nan
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


def interval_of(row: Mapping[str, Any]) -> str:
    """Return the confidence interval as text; a single replication has none."""
    return "–" if math.isnan(row["low"]) else f"{row['low']:,.1f} to {row['high']:,.1f}"


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of final regret as Markdown."""
    lines = ["| policy | mean regret | 95 % interval | median | least to most |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [
        f"| {row['policy']} | {row['mean']:,.1f} | {interval_of(row)} | {row['median']:,.1f} "
        f"| {row['least']:,.0f} to {row['most']:,.0f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
