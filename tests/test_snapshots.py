"""The public interface is as tests/snapshots has it; `python -m tests.snapshots NAME` accepts a change."""

from __future__ import annotations

import json

import pytest

from tests.snapshots import FOLDER, SNAPSHOTS


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_interface_is_unchanged(name: str) -> None:
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    assert json.loads(json.dumps(SNAPSHOTS[name]())) == recorded
