"""Mixtures of lists, from a file or another log."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs.evaluation.evaluation_targets import lists_shown


def test_an_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("impression,place,item\n1,1,a\n")
    with pytest.raises(InvalidInput, match=r"other\.csv: the log has no column 'slot'"):
        lists_shown(str(tmp_path / "other.csv"))
