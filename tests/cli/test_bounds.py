from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slotwise import bounds
from slotwise.problems import problem
from tests.commands import slotwise
from tests.waiting import FOR_EVER


def test_bounds_of_a_problem(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"position_bias": [1.0, 0.5], "attractiveness": [0.3] * 10}))
    arguments = ("--problem", "mine.json", "--rounds", "1000", "--hard-instance", "hard.json", "--json")
    done = slotwise("bounds", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["lower_bound"] == pytest.approx(bounds.lower_bound(10, 1_000, [1.0, 0.5]))
    assert found["upper_bound_known_bias"] == pytest.approx(bounds.upper_bound_known_bias(10, 1_000, [1.0, 0.5]))
    gap = bounds.hardest_gap(10, 1_000, [1.0, 0.5])
    wanted = bounds.hard_instance(10, [1.0, 0.5], gap).attractiveness
    assert problem(str(tmp_path / "hard.json")).users.attractiveness == pytest.approx(wanted)


def test_what_the_lower_bound_asks_for_is_said() -> None:
    done = slotwise("bounds", "--problem", "a", "--seconds", str(FOR_EVER))
    assert "Proposition 1" in done.stdout
    assert "Proposition 2 does not apply: the lower bound asks for at least 16 items" in done.stdout


def test_the_limit_is_shown() -> None:
    done = slotwise("bounds", "--problem", "a", "--seconds", str(FOR_EVER))
    assert "Limit C, biases known" in done.stdout
    assert "24.11" in done.stdout
    assert "45.23" in done.stdout
    assert "grows at least as C·log T" in done.stdout


def test_the_limit_is_in_the_json_and_so_is_why_it_is_not() -> None:
    def found(*options: str) -> Any:
        return json.loads(slotwise("bounds", "--problem", "b", "--json", *options).stdout)

    in_time = found("--seconds", str(FOR_EVER))
    assert in_time["limit_known_bias"] == pytest.approx(2.4344, rel=1e-4)
    assert in_time["limit_unknown_bias"] == pytest.approx(6.9793, rel=1e-4)
    assert in_time["limit_unknown_bias_not_found"] is None
    late = found("--seconds", "1e-9")
    assert late["limit_known_bias"] == in_time["limit_known_bias"]
    assert late["limit_unknown_bias"] is None
    assert late["limit_unknown_bias_not_found"] == "1e-09 seconds were not enough, C is at least 2.434"


def test_seconds_must_be_positive() -> None:
    done = slotwise("bounds", "--problem", "b", "--seconds", "0")
    assert done.returncode != 0
    assert "seconds must be positive and finite, got 0.0" in done.stderr
