"""The studies by name: each runs a comparison and writes its tables and figures into a folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from research import adjusted_uplift, alternatives, estimator_study
from research.changing_pages import run_parts as changing_pages_study
from research.changing_pages.plan import Plan
from research.contextual import contextual_study
from research.exploration import exploration_study
from research.exploration.exploration_study import ExplorationSize
from research.graves_lai.table import table as graves_lai_table
from research.leaderboard import page as leaderboard_page
from research.leaderboard.scores import QUICK, BoardSize
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnwritableFile
from slotwise.core.io import replacing
from slotwise.core.plotting import save
from slotwise.environments import further_problems, paper_problems
from slotwise.paper.result_cache import writable_folder


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


def summary(name: str) -> str:
    """The first sentence of a study's description."""
    return (inspect.getdoc(STUDIES[name]) or "").partition("\n")[0]


def _exploration(
    out: Path, jobs: int, quick: bool, *, parts: Sequence[str] = (), replications: int | None = None
) -> None:
    """Mean and tail of regret under rules of exploration on one posterior."""
    size = ExplorationSize(4, 2, 1) if quick else ExplorationSize()
    if replications is not None:
        size = ExplorationSize(replications, replications, 1)
    kinds = list(parts or exploration_study.KINDS)
    for kind in kinds:
        validation.one_of("part", kind, list(exploration_study.KINDS))
    _write_tables(out, exploration_study.write(out, size, jobs=jobs, kinds=kinds))


def _estimators(out: Path, jobs: int, quick: bool) -> None:  # noqa: ARG001
    """Bias, variance, coverage, failures and time of every estimator."""
    estimator_study.write(out, replications=4 if quick else estimator_study.REPLICATIONS)


def _alternatives(
    out: Path,
    jobs: int,  # noqa: ARG001
    quick: bool,
    *,
    parts: Sequence[str] = alternatives.PARTS,
    replications: int | None = None,
) -> None:
    """Views until a page is good, and the cost of simpler methods: popularity sort, A/B test, Thompson by item."""
    for part in parts:
        validation.one_of("part", part, alternatives.PARTS)
    replications = replications or (1 if quick else 12)
    alternatives.write(out, replications=replications, scale=0.01 if quick else 1.0, parts=parts)


def _uplift(out: Path, jobs: int, quick: bool, *, replications: int | None = None) -> None:  # noqa: ARG001
    """Coverage and width of intervals of the uplift, with and without adjustment for segment and hour."""
    _write_tables(out, adjusted_uplift.table(replications or (2 if quick else 300)))


def _calibration(out: Path, jobs: int, quick: bool) -> None:  # noqa: ARG001
    """Simulation-based calibration of the samplers of posteriors."""
    # imported here because no other study needs scipy.stats
    from research import calibration

    found = calibration.run(datasets=50 if quick else 1_000)
    lines = ["| sampler and data | parameter | mean rank | spread | p |", "| --- | --- | ---: | ---: | ---: |"]
    lines += [
        f"| {calibration.CASES[one.sampler, one.data]} | {one.parameter} "
        f"| {one.ranks.mean() / calibration.DRAWS:.3f} | {one.spread:.2f} | {one.p_value:.2g} |"
        for one in found
    ]
    _write_tables(out, "\n".join(lines) + "\n")
    save(calibration.figure(found), out, "calibration")


def _model_check(out: Path, jobs: int, quick: bool) -> None:
    """False alarms and power of the test of whether slots act alike on all items."""
    # imported here because it compiles
    from research import model_check

    size = model_check.CheckSize(2, 2, 60) if quick else model_check.CheckSize()
    _write_tables(out, model_check.tables(size, jobs))


def _changing_pages(
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
    """Regret with segments, new items, features, drift and delayed outcomes."""
    plan = Plan(seed=seed, replications=replications, quick=quick, few=few)
    changing_pages_study.write(out, plan, parts=parts, page=page, jobs=jobs)


def _leaderboard(
    out: Path,
    jobs: int,
    quick: bool,
    *,
    parts: Sequence[str] = (),
    seed: int = BoardSize.seed,
    replications: int | None = None,
    rounds: int | None = None,
    page: Path | None = None,
) -> None:
    """Regret of every policy in every environment, mean and tail."""
    usual = QUICK if quick else BoardSize()
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
    """Regret of policies that know the features of every visitor, and of policies that do not."""
    usual = contextual_study.QUICK if quick else contextual_study.ContextualSize()
    size = contextual_study.ContextualSize(rounds or usual.rounds, replications or usual.replications, seed)
    _write_tables(out, contextual_study.table(size, jobs))


def _logs(out: Path, jobs: int, quick: bool, *, log: Path | None = None, seed: int = 1) -> None:  # noqa: ARG001
    """Which click model predicts a log best."""
    # imported here because no other study needs the packages that read click logs
    from research.log_study import log_tables as log_study

    size = {"splits": 1} if quick else {}
    _write_tables(out, log_study.tables(log=log, seed=seed, **size))


def _log_truths(
    out: Path,
    jobs: int,  # noqa: ARG001
    quick: bool,
    *,
    parts: Sequence[str] = (),
    data: Path | None = None,
    full: bool = False,
) -> None:
    """What fits and evaluations of logs say, against truths that are not slotwise's own fits; short without --full."""
    from research.log_truths import parts as log_truths
    from research.log_truths.rows import table, telling

    with telling() as progress:
        text = table(log_truths.rows(parts, quick=quick or not full, data=data, progress=progress))
    print(text)
    _write_tables(out, text + "\n")


def _judgements(out: Path, jobs: int, quick: bool, *, data: Path | None = None) -> None:  # noqa: ARG001
    """How well judgements from clicks order documents, against labels by people, and predict clicks."""
    from research import judgement_likelihood, judgement_study, place_strength

    if data is None:
        raise InvalidInput("the study of judgements needs --data FOLDER, with clara2/pages.tsv and clara2/labels.tsv")
    text = "\n".join(
        [
            judgement_study.table(data / "clara2"),
            judgement_likelihood.likelihood_table(data),
            judgement_likelihood.click_worth_table(data),
            place_strength.strength_table(data),
        ]
    )
    print(text)
    _write_tables(out, text)


def _graves_lai(out: Path, jobs: int, quick: bool) -> None:  # noqa: ARG001
    """Graves and Lai's constant C of the paper's problems and of eight more."""
    problems = paper_problems() if quick else paper_problems() | further_problems()
    _write_tables(out, graves_lai_table(problems.values()))


def _write_tables(out: Path, text: str) -> None:
    with replacing(out / "tables.md") as file:
        file.write(text.encode())


STUDIES: dict[str, Callable[..., None]] = {
    "alternatives": _alternatives,
    "uplift": _uplift,
    "exploration": _exploration,
    "estimators": _estimators,
    "calibration": _calibration,
    "model-check": _model_check,
    "changing-pages": _changing_pages,
    "leaderboard": _leaderboard,
    "contextual": _contextual,
    "logs": _logs,
    "log-truths": _log_truths,
    "judgements": _judgements,
    "graves-lai": _graves_lai,
}
