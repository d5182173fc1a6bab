"""`slotwise fit --click-model`: from a log to a sentence, a page, and users for a simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from slotwise.click_models import UserBrowsing
from slotwise.environments import problem
from tests.cli.test_fit_command import run
from tests.logs.evaluation.test_click_model_fits import TRUE
from tests.logs.synthetic_clicks import drawn_sets


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two queries, of people who browse."""
    monkeypatch.chdir(tmp_path)
    records = []
    for query, impressions in (("1_0", 3_000), ("2_0", 500)):
        sets = drawn_sets(TRUE["ubm"], impressions, np.random.default_rng(impressions))
        for shown, clicks, times in zip(sets.shown, sets.clicks, sets.times, strict=True):
            clicked = " , ".join(str(item) for item in shown[clicks])
            records += [f"{query}\t{','.join(map(str, shown))} : {clicked}"] * int(times)
    file = tmp_path / "sessions.txt"
    file.write_text("; ".join(records))
    return file


def test_from_sessions_to_users(sessions: Path) -> None:
    options = ("--click-model", "compare", "--problem-out", "page.json", "--at", "1_0", "--out", "report")
    shown = " ".join(run("fit", "sessions.txt", *options).split())
    assert "“User browsing” describes all clicks together" in shown
    assert "By placement: placement held out" in shown
    assert "slotwise simulate --problem page.json" in shown
    users = problem("page.json").users
    assert isinstance(users, UserBrowsing)
    assert users.items == 4
    page = (sessions.parent / "report" / "click_models.html").read_text()
    assert "“User browsing” describes all clicks together" in page
    numbers = json.loads((sessions.parent / "report" / "click_models.json").read_text())
    assert numbers["describes"] == "ubm"
    assert set(numbers["placements"]) == {"1_0", "2_0"}
    printed = json.loads(run("fit", "sessions.txt", "--format", "yandex", "--click-model", "pbm", "--json"))
    assert printed == numbers


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--click-model", "pmb"], "unknown click model 'pmb': did you mean pbm"),
        (["--problem-out", "x.json"], "--problem-out and --at need a --click-model, such as compare"),
        (["--click-model", "pbm", "--problem-out", "x.json"], "name it with --at, such as 1_0, 2_0; got None"),
        (
            ["--click-model", "pbm", "--problem-out", "no/x.json", "--at", "1_0"],
            "there is no folder no to write",
        ),
        (["--click-model", "pbm", "--to-store", "sqlite:///x.db", "--name", "x"], "leave out --click-model"),
        (["--click-model", "pbm", "--format", "yandax"], "unknown format 'yandax': did you mean yandex"),
    ],
)
def test_invalid_options_are_rejected(sessions: Path, options: list[str], message: str) -> None:
    assert message in " ".join(run("fit", "sessions.txt", *options, code=2).split())


def test_a_log_that_cannot_identify_a_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("impression,slot,item,clicked\n" + "".join(f"{i},1,a,{i % 2}\n{i},2,b,0\n" for i in range(50)))
    said = " ".join(run("fit", str(file), "--click-model", "dcm", code=2).split())
    assert "“Dependent click” cannot be fitted: no impression has several clicks" in said
    said = " ".join(run("fit", str(file), "--click-model", "pbm", code=2).split())
    assert "“Position-based” cannot be fitted: slot 2 cannot be compared with others" in said
