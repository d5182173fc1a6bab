"""The studies behind the pages in `docs`: what each runs, and what it writes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slotwise.drawing import save
from slotwise.errors import InvalidInput, UnwritableFile
from slotwise.experiments import contextual, estimators, leaderboard_page, lived, study, study_figures
from slotwise.experiments.leaderboard import QUICK, Size
from slotwise.experiments.lived_plan import Plan
from slotwise.experiments.store import writable_folder
from slotwise.files import replacing


def write(name: str, out: Path, *, jobs: int = -1, quick: bool = False, **options: Any) -> None:
    """Run one of `STUDIES` and write its tables and figures into `out`; options that are None are not given."""
    given = {option: value for option, value in options.items() if value is not None}
    known = inspect.signature(STUDIES[name]).parameters
    for option in given:
        if option not in known:
            raise InvalidInput(f"the study of {name} has no option {option}")
    try:
        STUDIES[name](writable_folder(out), jobs, quick, **given)
    except OSError as problem:
        raise UnwritableFile(f"cannot write into {out}: {problem.strerror or problem}") from problem


def _policies(out: Path, jobs: int, quick: bool) -> None:
    found = study.run(study.cells(replications=4, parts=("report",)) if quick else study.cells(), out, jobs=jobs)
    _write_tables(out, study.tables(found))
    save(study_figures.by_problem(found), out, "policies_by_problem")
    if not quick:
        save(study_figures.tails(found), out, "policies_tails")
        save(study_figures.long_run(found), out, "policies_long")


def _estimators(out: Path, jobs: int, quick: bool) -> None:  # noqa: ARG001
    estimators.write(out, replications=4 if quick else estimators.REPLICATIONS)


def _calibration(out: Path, jobs: int, quick: bool) -> None:  # noqa: ARG001
    # here, as every command imports this file, and no other study needs scipy.stats
    from slotwise.experiments import calibration

    found = calibration.run(datasets=50 if quick else 1_000)
    lines = ["| sampler and data | parameter | mean rank | spread | p |", "| --- | --- | ---: | ---: | ---: |"]
    lines += [
        f"| {calibration.CASES[one.sampler, one.data]} | {one.parameter} "
        f"| {one.ranks.mean() / calibration.DRAWS:.3f} | {one.spread:.2f} | {one.p_value:.2g} |"
        for one in found
    ]
    _write_tables(out, "\n".join(lines) + "\n")
    save(calibration.figure(found), out, "calibration")


def _lived(
    out: Path,
    jobs: int,
    quick: bool,
    *,
    parts: Sequence[str] = (),
    seed: int = Plan.seed,
    replications: int | None = None,
    few: bool = False,
    page: Path | None = None,
) -> None:
    plan = Plan(seed=seed, replications=replications, quick=quick, few=few)
    lived.write(out, plan, parts=parts, page=page, jobs=jobs)


def _leaderboard(
    out: Path,
    jobs: int,
    quick: bool,
    *,
    parts: Sequence[str] = (),
    seed: int = Size.seed,
    replications: int | None = None,
    rounds: int | None = None,
    page: Path | None = None,
) -> None:
    usual = QUICK if quick else Size()
    size = replace(
        usual,
        seed=seed,
        replications=usual.replications if replications is None else replications,
        rounds=usual.rounds if rounds is None else rounds,
    )
    leaderboard_page.write(out, size, parts=parts, page=page, jobs=jobs)


def _contextual(
    out: Path, jobs: int, quick: bool, *, seed: int = 1, replications: int | None = None, rounds: int | None = None
) -> None:
    usual = contextual.QUICK if quick else contextual.Size()
    size = contextual.Size(rounds or usual.rounds, replications or usual.replications, seed)
    _write_tables(out, contextual.table(size, jobs))


def _logs(out: Path, jobs: int, quick: bool, *, log: Path | None = None, seed: int = 1) -> None:  # noqa: ARG001
    # here, as click logs need packages that no other study needs
    from slotwise.experiments import log_fits

    size = {"logs": 2, "splits": 1, "draws": 1} if quick else {}
    _write_tables(out, log_fits.tables(log=log, seed=seed, **size))


def _write_tables(out: Path, text: str) -> None:
    with replacing(out / "tables.md") as file:
        file.write(text.encode())


STUDIES: dict[str, Callable[..., None]] = {
    "policies": _policies,
    "estimators": _estimators,
    "calibration": _calibration,
    "lived": _lived,
    "leaderboard": _leaderboard,
    "contextual": _contextual,
    "logs": _logs,
}
