from __future__ import annotations

import sys

import numpy as np
import pytest

from slotwise.core.errors import MissingExtra
from slotwise.core.frames import frame


def test_columns_become_a_frame() -> None:
    found = frame({"id": ["a", "b"], "clicks": np.array([3, 4])})
    assert list(found.columns) == ["id", "clicks"]
    assert found["clicks"].tolist() == [3, 4]


def test_without_pandas_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"a data frame.*pip install 'slotwise\[frames\]'"):
        frame({"id": ["a"]})
