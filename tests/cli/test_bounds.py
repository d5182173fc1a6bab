from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slotwise import bounds
from slotwise.problems import problem

COMMAND = Path(sys.executable).with_name("slotwise")


def test_bounds_of_a_problem(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"position_bias": [1.0, 0.5], "attractiveness": [0.3] * 10}))
    done = subprocess.run(
        [COMMAND, "bounds", "--problem", "mine.json", "--rounds", "1000", "--hard-instance", "hard.json", "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = json.loads(done.stdout)
    assert found["lower_bound"] == pytest.approx(bounds.lower_bound(10, 1_000, [1.0, 0.5]))
    assert found["upper_bound_known_bias"] == pytest.approx(bounds.upper_bound_known_bias(10, 1_000, [1.0, 0.5]))
    gap = bounds.hardest_gap(10, 1_000, [1.0, 0.5])
    wanted = bounds.hard_instance(10, [1.0, 0.5], gap).attractiveness
    assert problem(str(tmp_path / "hard.json")).users.attractiveness == pytest.approx(wanted)


def test_what_the_lower_bound_asks_for_is_said() -> None:
    done = subprocess.run([COMMAND, "bounds", "--problem", "a"], capture_output=True, text=True, check=True)
    assert "Proposition 1" in done.stdout
    assert "Proposition 2 does not apply: the lower bound asks for at least 16 items" in done.stdout
