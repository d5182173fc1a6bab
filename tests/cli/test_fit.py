from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slotwise.logs import Columns, fits
from tests.logs.plain import dirty_rows, table
from tests.logs.test_fitting import generated

COMMAND = Path(sys.executable).with_name("slotwise")


def run(*arguments: str, folder: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(generated(500, pages=1, seed=1), tmp_path / "clean.parquet")
    pq.write_table(table(dirty_rows(6)), tmp_path / "dirty.parquet")
    return tmp_path


def test_json_of_one_placement(folder: Path) -> None:
    found = json.loads(run("fit", "clean.parquet", "--json", folder=folder).stdout)
    assert list(found)[:8] == [
        "impressions",
        "no_click",
        "multi_click",
        "items",
        "position_bias",
        "converged",
        "identifiable",
        "log_likelihood",
    ]
    assert found["impressions"] == 500
    assert list(found["items"]) == ["0", "1", "2", "3"]
    assert list(found["items"]["0"]) == ["attractiveness", "low", "high", "shown", "clicks"]
    assert found["position_bias"][0] == {"slot": 1, "estimate": 1.0, "low": 1.0, "high": 1.0}
    assert sum(item["shown"] for item in found["items"].values()) == 1_500
    assert sum(item["clicks"] for item in found["items"].values()) == 500 - found["no_click"]
    assert found["converged"]
    assert found["identifiable"]


def test_placements_and_report(folder: Path) -> None:
    arguments = ("fit", "dirty.parquet", "--placement", "page", "--order", "turn", "--multi-click", "last")
    done = run(*arguments, "--json", "--out", "out", folder=folder)
    found = json.loads(done.stdout)
    wanted = fits(folder / "dirty.parquet", Columns(placement="page", order="turn"), multi_click="last")
    assert {name: one["impressions"] for name, one in found["placements"].items()} == {
        str(one.placement): one.impressions for one in wanted
    }
    assert found["cleaning"] == {name: count for name, count in wanted[0].cleaning.items() if count}
    page = (folder / "out" / "report.html").read_text()
    assert "page 0" in page
    assert "repeat another one" in page
    assert list((folder / "out").glob("*.png"))
    screen = run(*arguments, folder=folder).stdout
    assert "page 1" in screen
    assert "the last click counts" in screen


def test_words(folder: Path) -> None:
    screen = run("fit", "clean.parquet", folder=folder).stdout
    assert "500 impressions of 3 slots and 4 items" in screen
    assert "position bias" in screen


def test_evaluate(folder: Path) -> None:
    found = json.loads(run("evaluate", "clean.parquet", "--ranking", "2,0,1", "--json", folder=folder).stdout)
    assert found["by_model"]["low"] < found["by_model"]["click_rate"] < found["by_model"]["high"]
    assert found["by_propensity"] is None
    with_propensity = run(
        "evaluate", "clean.parquet", "--ranking", "2,0,1", "--propensity", "propensity", folder=folder
    ).stdout
    assert "by inverse propensity" in with_propensity
    by_policy = run("evaluate", "clean.parquet", "--policy", "epoch-ucb-upb-star", "--rounds", "500", folder=folder)
    assert "simulated on the fitted model" in by_policy.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "nothing.csv"), "there is no file nothing.csv"),
        (("fit", "clean.parquet", "--slot", "place"), "no column 'place' for the slot"),
        (("fit", "clean.parquet", "--multi-click", "first"), "needs the order of the clicks"),
        (("fit", "clean.parquet", "--estimator", "guess"), "unknown estimator 'guess'"),
        (("evaluate", "clean.parquet"), "ranking or policy must be given"),
        (("evaluate", "clean.parquet", "--ranking", "7"), "'7'"),
        (("evaluate", "dirty.parquet", "--ranking", "i1", "--placement", "page"), "give both or none"),
    ],
)
def test_what_is_refused(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, folder=folder, code=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
