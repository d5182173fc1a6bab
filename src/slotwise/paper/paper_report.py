"""The report on the paper's experiments: one self-contained page of figures, tables, claims and settings."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from slotwise import theory
from slotwise.core.html_page import write_page
from slotwise.core.plotting import as_address
from slotwise.paper.paper_figures import names
from slotwise.paper.paper_tables import Paper, interval_of, table

PACKAGES = ("slotwise", "numpy", "scipy", "numba", "joblib", "matplotlib", "pyarrow")


def write_report(paper: Paper, folder: Path) -> None:
    """Write `report.html` into `folder`, with the figures in that folder."""
    verdicts = [verdict for _, claim_verdicts in paper.verdicts for verdict in claim_verdicts]
    figures = [*(f"regret_{name}" for name in paper.results), "bounds", "coverage"]
    write_page(
        folder / "report.html",
        "paper/report.html",
        title="Learning to Rank under Multinomial Logit Choice, reproduced",
        plan=paper.plan,
        claims=paper.verdicts,
        verdicts=verdicts,
        reproduced=sum(verdict.reproduced for verdict in verdicts),
        differences=_differences(paper),
        problems=_problems(paper),
        bounds=_bounds(paper),
        coverage=_coverage(paper),
        coverage_in_words=_coverage_in_words(paper),
        pictures={name: as_address(folder / f"{name}.svg") for name in figures},
        versions=f"Python {platform.python_version()}; {', '.join(f'{name} {version(name)}' for name in PACKAGES)}",
        seconds=paper.seconds,
    )


def _differences(paper: Paper) -> list[str]:
    """Return one sentence for each claim that was not reproduced."""
    return [
        f"Problem ({verdict.problem}). The paper: {claim.statement} Here: {verdict.evidence}."
        for claim, verdicts in paper.verdicts
        for verdict in verdicts
        if not verdict.reproduced
    ]


def _problems(paper: Paper) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "users": users,
            "biases": _numbers(users.position_bias),
            "attractiveness": _numbers(users.attractiveness),
            "rounds": results.rounds,
            "regrets": [row | {"name": names()[row["policy"]], "interval": interval_of(row)} for row in table(results)],
        }
        for name, results in paper.results.items()
        for users in [paper.users[name]]
    ]


def _bounds(paper: Paper) -> list[list[str]]:
    """Return rows of: problem, the lower bound's shape, both upper bounds, rounds."""
    shapes = (theory.lower_bound_shape, theory.upper_bound_known_bias, theory.upper_bound_unknown_bias)
    return [
        [
            f"({name})",
            *(f"{shape(users.items, results.rounds, users.position_bias):,.0f}" for shape in shapes),
            f"{results.rounds:,}",
        ]
        for name, results in paper.results.items()
        for users in [paper.users[name]]
    ]


def _coverage(paper: Paper) -> list[list[str]]:
    return [
        [
            f"({cell.problem})",
            cell.policy,
            cell.interval,
            f"{100 * cell.promised:.2f}",
            f"{100 * cell.covered:.2f} ± {100 * cell.standard_error:.2f}",
            f"{100 * cell.all_covered:.0f}",
            f"{cell.median_relative_width:.2f}",
            f"{100 * cell.converged:.0f}",
        ]
        for cell in paper.coverage
    ]


def _coverage_in_words(paper: Paper) -> list[str]:
    """Return one sentence for each interval: its mean and lowest coverage, and its width."""
    sentences = []
    for interval in dict.fromkeys(cell.interval for cell in paper.coverage):
        ours = [cell for cell in paper.coverage if cell.interval == interval]
        least = min(ours, key=lambda cell: cell.covered)
        share = float(np.mean([cell.covered for cell in ours]))
        width = float(np.median([cell.median_relative_width for cell in ours]))
        sentences.append(
            f"{interval}: mean coverage {100 * share:.2f} %, lowest coverage "
            f"{100 * least.covered:.2f} % (problem ({least.problem}), {least.policy}), nominal coverage "
            f"{100 * least.promised:.2f} %; median width {width:.1f} times the attractiveness."
        )
    return sentences


def _numbers(values: np.ndarray) -> str:
    """Format numbers with runs of equal ones written once: 1, 0.5 × 3."""
    parts, start = [], 0
    for stop in range(1, len(values) + 1):
        if stop == len(values) or values[stop] != values[start]:
            count = stop - start
            parts.append(f"{values[start]:g}" + (f" × {count}" if count > 2 else f", {values[start]:g}" * (count - 1)))
            start = stop
    return ", ".join(parts)
