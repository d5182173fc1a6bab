"""The study's own arithmetic; what it finds is in research/notes/policies.md."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research import policy_study as study
from research import policy_study_figures as study_figures
from research.changing_pages import plan
from slotwise import simulate
from slotwise.environments import Problem
from slotwise.policies import default_policy
from slotwise.policies.policy_registry import parse


def _small(parts: tuple[str, ...] = ("report",)) -> list[study.PolicyCell]:
    """The study's cells with few rounds, on two problems."""
    chosen = [one for one in study.cells(replications=3, parts=parts) if one.problem.id in ("a", "b", "random 1")]
    kept = []
    for one in chosen:
        if one.label not in (*study.UNKNOWN, *study.KNOWN):
            continue
        recorded = tuple(sorted({min(point, 60) for point in one.recorded}))
        kept.append(dataclasses.replace(one, problem=Problem(one.problem.id, one.problem.users, 60), recorded=recorded))
    return kept


def test_every_policy_in_it_is_registered_and_the_default_is_in_the_later_one() -> None:
    for label in (*study.UNKNOWN, *study.KNOWN, *study.ALSO):
        parse(label)
    assert default_policy().id == plan.OURS


def test_problems_to_choose_on_are_not_those_reported() -> None:
    cells = study.cells()
    assert {one.problem.id for one in cells if one.part == "report"} == set("abcdefghijk")
    assert not {one.problem.id for one in cells if one.part == "choose"} & set("abcdefghijk")


def test_it_resumes_from_stored_results_and_rejects_foreign_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = _small()[:2]
    first = study.run(todo, tmp_path, progress=False)
    one, other = sorted((tmp_path / "cells").iterdir())
    one.write_text("{")
    other_bytes = other.read_bytes()
    calls = []

    def counted(*arguments: Any, **more: Any) -> Any:
        calls.append(1)
        return simulate(*arguments, **more)

    monkeypatch.setattr(study, "simulate", counted)
    second = study.run(todo, tmp_path, progress=False)
    assert len(calls) == 1
    assert other.read_bytes() == other_bytes
    assert all(np.array_equal(a.regret, b.regret) for a, b in zip(first, second, strict=True))
    study.run([dataclasses.replace(cell, seed=9) for cell in todo], tmp_path, progress=False)
    assert len(calls) == 3


def test_tables_and_figures(tmp_path: Path) -> None:
    found = study.run(_small(("report", "long", "choose")), tmp_path, progress=False)
    text = study.tables(found)
    for title in ("### Problem (a), 60 rounds", "a million rounds", "random problems, relative to"):
        assert title in text
    by_hand = next(one for one in found if one.cell.label == "posterior-sampling" and one.cell.problem.id == "a")
    assert f"| `posterior-sampling` | {by_hand.regret[:, -1].mean():,.1f} " in text
    for draw in (study_figures.by_problem, study_figures.tails, study_figures.long_run):
        assert draw(found).axes


def test_relative_regret() -> None:
    cells = _small()[:2]
    found = [
        study.PolicyFinding(dataclasses.replace(cells[0], label=study.PLAIN), np.array([[2.0], [4.0]]), 0.0),
        study.PolicyFinding(dataclasses.replace(cells[1], label="x"), np.array([[3.0], [6.0]]), 0.0),
    ]
    assert study.relative(found)["x"].tolist() == [1.0, 2.0]
