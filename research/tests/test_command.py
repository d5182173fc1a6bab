from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from research import calibration, studies
from research.__main__ import main
from research.graves_lai.table import table
from slotwise.environments import problem
from tests.commands import slotwise


def _research(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of `python -m research`, its output and its errors."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    output = capsys.readouterr()
    return ended.value.code, output.out, output.err


def test_studies_are_listed_with_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _research(capsys)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(studies.STUDIES)
    assert all(line.endswith(".") for line in out.splitlines())


def test_the_old_command_names_the_new_one() -> None:
    done = slotwise("study", "policies")
    assert done.returncode == 2
    assert "slotwise has no command study: run `python -m research NAME`" in done.stderr


def test_the_table_of_limits_has_both_constants(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = _research(capsys, "graves-lai", "--quick", "--out", str(tmp_path))
    assert code == 0, err
    assert "| (b) | 2.434 | 6.979 |" in (tmp_path / "tables.md").read_text()


def test_a_search_that_runs_out_of_time_gives_bounds() -> None:
    assert "| (b) | 2.434 | at least 2.434 |" in table([problem("b")], seconds=1e-9)


@pytest.mark.long
def test_a_quick_study_writes_its_tables_and_figure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # of the samplers that it is about, one: the tests of the study itself try them all
    monkeypatch.setattr(calibration, "run", partial(calibration.run, cases=[("joint", "choices")]))
    code, out, err = _research(capsys, "calibration", "--quick", "--out", str(tmp_path / "new"))
    assert code == 0, err
    assert "tables.md" in out
    assert "| Gibbs, joint likelihood, on choices | α₁ |" in (tmp_path / "new" / "tables.md").read_text()
    assert (tmp_path / "new" / "calibration.png").stat().st_size > 10_000


def test_an_unknown_study_and_a_folder_that_cannot_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = _research(capsys, "nonsense")
    assert code == 2
    assert f"name must be {' or '.join(studies.STUDIES)}, got 'nonsense'" in err
    (tmp_path / "file").write_text("")
    code, _, err = _research(capsys, "calibration", "--quick", "--out", str(tmp_path / "file" / "below"))
    assert code != 0
    assert "Traceback" not in err
    assert "cannot write into" in err


def test_an_unknown_part_of_the_log_truths(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = _research(capsys, "log-truths", "--part", "nonsense", "--out", str(tmp_path))
    assert code == 2
    assert "part must be tally or coverage or goodness-of-fit or off-policy or processor-time, got 'nonsense'" in err
