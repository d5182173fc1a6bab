from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from slotwise.experiments import calibration
from tests.commands import slotwise


def test_a_quick_study_writes_its_tables_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # of the samplers that it is about, one: the tests of the study itself try them all
    monkeypatch.setattr(calibration, "run", partial(calibration.run, cases=[("joint", "choices")]))
    done = slotwise("study", "calibration", "--quick", "--out", str(tmp_path / "new"))
    assert done.returncode == 0, done.stderr
    assert "tables.md" in done.stdout
    assert "| Gibbs, joint likelihood, on choices | α₁ |" in (tmp_path / "new" / "tables.md").read_text()
    assert (tmp_path / "new" / "calibration.png").stat().st_size > 10_000


def test_an_unknown_study_and_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    done = slotwise("study", "nonsense")
    assert done.returncode == 2
    studies = "policies or estimators or calibration or lived or leaderboard or contextual or logs"
    assert f"name must be {studies}, got 'nonsense'" in done.stderr
    (tmp_path / "file").write_text("")
    done = slotwise("study", "calibration", "--quick", "--out", str(tmp_path / "file" / "below"))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "cannot write into" in done.stderr
