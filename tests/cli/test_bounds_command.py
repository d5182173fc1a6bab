from __future__ import annotations

import json
from pathlib import Path

import pytest

from slotwise import theory
from slotwise.environments import problem
from tests.commands import slotwise


def test_bounds_of_a_problem(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"position_bias": [1.0, 0.5], "attractiveness": [0.3] * 10}))
    arguments = ("--problem", "mine.json", "--rounds", "1000", "--hard-instance", "hard.json", "--json")
    done = slotwise("bounds", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["lower_bound"] == pytest.approx(theory.lower_bound(10, 1_000, [1.0, 0.5]))
    assert found["upper_bound_known_bias"] == pytest.approx(theory.upper_bound_known_bias(10, 1_000, [1.0, 0.5]))
    gap = theory.hardest_gap(10, 1_000, [1.0, 0.5])
    wanted = theory.hard_instance(10, [1.0, 0.5], gap).attractiveness
    assert problem(str(tmp_path / "hard.json")).users.attractiveness == pytest.approx(wanted)


def test_the_requirements_of_the_lower_bound_are_printed() -> None:
    done = slotwise("bounds", "--problem", "a")
    assert "Proposition 1" in done.stdout
    assert "Proposition 2 does not apply: the lower bound requires at least 16 items" in done.stdout
