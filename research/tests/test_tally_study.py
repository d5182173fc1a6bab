from __future__ import annotations

from pathlib import Path

import pytest

from research import studies
from research.log_truths import parts, tally


def test_all_tallies_of_a_clean_log_are_right_and_a_wrong_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "SHORT_IMPRESSIONS", 100)
    monkeypatch.setattr(tally, "TURNS", 1)
    found = tally.rows(quick=True, progress=lambda *_: None)
    assert {row.value for row in found} == {"4 of 4"}
    assert len(found) == 6
    counted = tally._counted

    def with_one_more(path: Path, threads: int) -> object:
        right = counted(path, threads)
        right.clicks[0, 0] += threads == 2
        return right

    monkeypatch.setattr(tally, "_counted", with_one_more)
    assert {row.value for row in tally.rows(quick=True, progress=lambda *_: None)} == {"3 of 4"}


def test_an_interrupt_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        studies.write("log-truths", tmp_path)
    assert list(tmp_path.iterdir()) == []
