"""The command line as its users meet it: its two streams and its exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from slotwise.click_models import ChoiceModelEntry
from tests.commands import COMMAND, slotwise
from tests.registered_components import choice_models
from tests.service.terminal import at_a_terminal

# that it comes to the same when it is compiled is tested elsewhere, and here where a process of its own is asked
pytestmark = pytest.mark.usefixtures("interpreting")


def test_simulate_json_is_one_object_and_nothing_else() -> None:
    """As a separate process."""
    command = (
        *(COMMAND, "simulate", "--problem", "b", "--policy", "epoch-ucb", "--policy", "toprank"),
        *("--rounds", "500", "--replications", "3", "--seed", "7", "--jobs", "2", "--json"),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {key: found[key] for key in ("rounds", "replications", "seed")} == {
        "rounds": 500,
        "replications": 3,
        "seed": 7,
    }
    assert list(found["policies"]) == ["epoch-ucb", "toprank"]
    for numbers in found["policies"].values():
        assert set(numbers) == {"final_regret", "mean", "standard_error", "seconds"}
        assert len(numbers["final_regret"]) == 3
        assert sum(numbers["final_regret"]) / 3 == pytest.approx(numbers["mean"])
    again = slotwise(
        *("simulate", "--problem", "b", "--policy", "toprank", "--rounds", "500", "--replications", "3"),
        *("--seed", "7", "--jobs", "1", "--json"),
    )
    same = json.loads(again.stdout)["policies"]["toprank"]["final_regret"]
    assert same == found["policies"]["toprank"]["final_regret"]


def test_simulate_table_plot_and_file(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"position_bias": [1, 0.5], "attractiveness": [0.2, 0.3, 0.1]}')
    done = slotwise(
        *("simulate", "--problem", "mine.json", "--policy", "epoch-ucb", "--rounds", "200", "--replications", "2"),
        *("--plot", "regret.png", "--parquet", "regret.parquet"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "Regret after 200 rounds, 2 replications, seed 0" in done.stdout
    assert "epoch-ucb" in done.stdout
    assert (tmp_path / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "regret.parquet").read_bytes().startswith(b"PAR1")


def test_simulate_towards_a_goal(tmp_path: Path) -> None:
    goal = {"values": [3, 1, 2], "pin": {"1": 1}, "may_be_empty": True}
    users = {"position_bias": [1, 0.5], "attractiveness": [0.2, 0.3, 0.1]}
    (tmp_path / "mine.json").write_text(json.dumps(users | goal))
    arguments = ("simulate", "--problem", "mine.json", "--rounds", "200", "--replications", "2", "--json")
    done = slotwise(*arguments, "--policy", "epoch-ucb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["policies"]["epoch-ucb"]["mean"] >= 0.0
    refused = slotwise(*arguments, "--policy", "epoch-ucb", "--policy", "toprank", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("error: toprank cannot work towards a goal")
    no_bounds = slotwise("bounds", "--problem", "mine.json", cwd=tmp_path)
    assert no_bounds.returncode == 2
    assert no_bounds.stderr == "error: the bounds are about clicks, but mine.json has values or constraints\n"


def test_simulate_a_world_that_changes(tmp_path: Path) -> None:
    world = {
        "position_bias": [1, 0.5],
        "segments": [
            {"share": 0.5, "attractiveness": [0.2, 0.3, 0.1]},
            {"share": 0.5, "attractiveness": [0.3, 0.1, 0.2]},
        ],
        "delay": {"rounds": 20},
        "arrivals": [0, 0, 30],
        "drift": [{"round": 60, "attractiveness": [0.1, 0.2, 0.3]}],
        "features": [["a"], ["b"], ["a"]],
        "rounds": 100,
    }
    (tmp_path / "mine.json").write_text(json.dumps(world))
    arguments = ("simulate", "--replications", "2", "--policy", "epoch-ucb", "--json")
    done = slotwise(*arguments, "--problem", "mine.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rounds"] == 100
    assert set(found["policies"]["epoch-ucb"]) == {"final_regret", "mean", "standard_error", "seconds"}
    shop = slotwise(*arguments, "--problem", "shop", "--rounds", "300")
    assert shop.returncode == 0, shop.stderr
    assert json.loads(shop.stdout)["policies"]["epoch-ucb"]["mean"] > 0.0
    refused = slotwise(*arguments, "--policy", "toprank", "--problem", "shop")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: toprank cannot take pins and exclusions per decision")
    of_mnl = slotwise("bounds", "--problem", "shop")
    assert of_mnl.returncode == 2
    assert of_mnl.stderr == "error: shop must have users who choose by multinomial logit, got a changing environment\n"


def test_a_terminal_says_what_it_waits_for_while_it_compiles(tmp_path: Path) -> None:
    command = ["simulate", "--problem", "b", "--policy", "toprank", "--rounds", "500", "--replications", "1"]
    with at_a_terminal(command, tmp_path, NUMBA_DISABLE_JIT="1") as shown:
        assert shown.end() == 0
    assert "compiles for up to a minute" in " ".join(shown.text.split())


@pytest.mark.parametrize("model", choice_models(), ids=lambda model: model.id)
def test_simulate_users_of_every_model(tmp_path: Path, model: ChoiceModelEntry) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"model": model.id, **model.example}))
    arguments = ("--problem", "mine.json", "--policy", "toprank", "--rounds", "50", "--replications", "1", "--json")
    done = slotwise("simulate", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["policies"]["toprank"]["mean"] >= 0.0
    if model.id != "mnl":
        refused = slotwise("bounds", "--problem", "mine.json", cwd=tmp_path)
        assert refused.returncode == 2
        assert "must have users who choose by multinomial logit" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--problem", "z", "--policy", "epoch-ucb"],
            "error: unknown problem 'z': there are a, b, c, d, e, f, g, h, i, j, k, shop, pbm, cascade, dcm, ubm, "
            "mixture, FILE.json",
        ),
        (["--problem", "a", "--policy", "epoch-ubc"], "did you mean epoch-ucb"),
        (["--problem", "absent.json", "--policy", "epoch-ucb"], "error: there is no file absent.json"),
        (["--problem", "a", "--policy", "epoch-ucb", "--rounds", "0"], "error: rounds must be at least 1, got 0"),
        (["--problem", "a", "--policy", "toprank", "--replications", "-3"], "replications must be at least 1, got -3"),
        (["--problem", "a", "--policy", "toprank", "--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--problem", "a", "--policy", "toprank", "--rounds", "x"], "Invalid value for"),
        (["--problem", "a"], "--policy"),
        (["--problem", "a", "--policy", "toprank", "--plot", "no/folder/x.png"], "there is no folder"),
        (
            ["--problem", "a", "--policy", "toprank", "--rounds", "9", "--plot", "x.xyz"],
            "plot must end in .png, .svg, .pdf, got x.xyz",
        ),
    ],
)
def test_bad_input_gets_one_clear_line_and_exit_code_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = slotwise("simulate", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_loses_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "taken.png").mkdir()
    done = slotwise(
        *("simulate", "--problem", "b", "--policy", "toprank", "--rounds", "50", "--replications", "1"),
        *("--plot", "taken.png", "--json"),
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["policies"]["toprank"]["standard_error"] is None
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
