"""What was computed before is used again as long as what computes it is the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import slotwise
from slotwise.paper.result_cache import program_hash


@pytest.fixture
def package(tmp_path: Path) -> Path:
    shutil.copytree(Path(slotwise.__file__).parent, tmp_path / "slotwise", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "slotwise"


def _edit(file: Path) -> None:
    with file.open("a") as end:
        end.write("\nx = 1\n")


def test_an_edit_outside_the_computation_keeps_stored_replications(package: Path) -> None:
    before = program_hash(package)
    for path in (
        "cli/command_app.py",
        "core/plotting.py",
        "paper/paper_report.py",
        "simulation/plot.py",
        "service/http/routes/placement_routes.py",
    ):
        _edit(package / path)
    assert program_hash(package) == before


@pytest.mark.parametrize(
    "path",
    [
        "policies/epochs.py",
        "policies/policy_registry.py",
        "posterior/gamma_prior.py",
        "simulation/loop.py",
        "simulation/runner.py",
        "simulation/environment_kinds.py",
    ],
)
def test_an_edit_of_the_computation_drops_stored_replications(package: Path, path: str) -> None:
    before = program_hash(package)
    _edit(package / path)
    assert program_hash(package) != before
