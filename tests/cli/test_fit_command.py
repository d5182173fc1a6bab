from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slotwise.estimators import estimators
from slotwise.logs import Columns, fit_placements
from tests.commands import COMMAND, slotwise
from tests.logs.fitting.test_fit_log import generated
from tests.logs.reference_counter import dirty_rows, table
from tests.logs.strata import drawn


def run(*arguments: str, code: int = 0) -> str:
    """Return the output of the command, or its error."""
    done = slotwise(*arguments)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(generated(500, pages=1, seed=1), tmp_path / "clean.parquet")
    pq.write_table(table(dirty_rows(6)), tmp_path / "dirty.parquet")
    return tmp_path


def test_json_of_one_placement(folder: Path) -> None:
    done = subprocess.run([COMMAND, "fit", "clean.parquet", "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert list(found)[:10] == [
        "impressions",
        "no_click",
        "multi_click",
        "items",
        "position_bias",
        "converged",
        "identifiable",
        "log_likelihood",
        "shown_now",
        "best",
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
    found = json.loads(run(*arguments, "--json", "--out", "out"))
    wanted = fit_placements(folder / "dirty.parquet", Columns(placement="page", order="turn"), multi_click="last")
    assert {name: one["impressions"] for name, one in found["placements"].items()} == {
        str(one.placement): one.impressions for one in wanted
    }
    assert found["cleaning"] == {name: count for name, count in wanted[0].tally.cleaning.items() if count}
    page = (folder / "out" / "report.html").read_text()
    assert "page 0" in page
    assert "repeat another one" in page
    assert (folder / "out" / "lists.csv").exists()
    screen = run(*arguments)
    assert "page 1" in screen
    assert "the last click counts" in screen


def test_words(folder: Path) -> None:
    screen = run("fit", "clean.parquet")
    assert "500 impressions of 3 slots and 4 items" in screen
    assert "position bias" in screen


def test_names_are_printed_as_they_are(folder: Path) -> None:
    rows = [
        f"{one},{slot},{item},{int(one % 4 == slot)}" for one in range(40) for slot, item in ((1, "[/b]"), (2, ":x:"))
    ]
    (folder / "names.csv").write_text("\n".join(["impression,slot,item,clicked", *rows]))
    screen = run("fit", "names.csv")
    assert "[/b]" in screen
    assert ":x:" in screen


def test_the_whole_list_and_limitations_are_printed(folder: Path) -> None:
    """Five slots, each with items of its own, so that nothing can be compared; names with commas."""
    rows = [f'{one},{slot},"tea, {slot}",{int(one % 9 == slot)}' for one in range(90) for slot in range(1, 6)]
    (folder / "apart.csv").write_text("\n".join(["impression,slot,item,clicked", *rows]))
    screen = run("fit", "apart.csv")
    told = " ".join(screen.split())
    assert told.startswith("Nothing is recommended: the slots cannot be compared")
    assert "cannot be compared: no item was seen in several" in told.partition("What can the log not tell?")[2]
    table = told.partition("Shown now (most often")[2].partition("Position bias")[0]
    assert "best guess" in table
    assert all(f"{slot} tea, {slot} 100.0 % tea, " in table for slot in range(1, 6))
    assert json.loads(run("evaluate", "apart.csv", "--ranking", '"tea, 1","tea, 2"', "--json"))["by_model"]
    assert json.loads(run("evaluate", "apart.csv", "--ranking", '["tea, 1", "tea, 2"]', "--json"))["by_model"]


def test_several_clicks_come_first(folder: Path) -> None:
    """Every fourth impression clicks both items, the lower one first; every fourth the upper one alone."""
    rows = []
    for one in range(400):
        upper, lower = ("tea", "milk") if one % 3 else ("milk", "tea")
        rows += [f"{one},1,{upper},{int(one % 4 < 2)},2", f"{one},2,{lower},{int(one % 4 == 0)},1"]
    (folder / "both.csv").write_text("\n".join(["impression,slot,item,clicked,turn", *rows]))
    left_out = " ".join(run("fit", "both.csv").split())
    assert "33.3 % of the 300 counted ones had a click" in left_out
    assert "25.0 % of the impressions have clicks on several items" in left_out
    assert "Here those impressions are left out. Name the order" in left_out
    first = " ".join(run("fit", "both.csv", "--order", "turn").split())
    assert "50.0 % had a click." in first
    assert re.search(
        r"first click counts\. .* by rule: first (49|5\d)\.\d %; last (49|5\d)\.\d %.*; drop 3\d\.\d %", first
    )
    assert re.search(r"Slot 2 is worth, relative to slot 1: first [\d.]+; last [\d.]+; drop [\d.]+\.", first)
    another = " ".join(run("evaluate", "both.csv", "--ranking", "tea,milk").split())
    assert "in the log 33.3 %" in another
    assert "clicks on several items and were left out, so these rates are too low" in another
    assert "too low" not in run("evaluate", "both.csv", "--ranking", "tea,milk", "--order", "turn")


def test_a_log_that_was_counted_already(folder: Path) -> None:
    (folder / "counted.csv").write_text("items,clicked,times\na|b,a,30\na|b,,50\nb|a,a,10\nb|a,,40\n")
    found = json.loads(run("fit", "counted.csv", "--weight", "times", "--json"))
    assert (found["impressions"], found["no_click"]) == (130, 90)
    assert found["items"]["a"]["clicks"] == 40
    rows = [row for row, times in (("a|b,a", 30), ("a|b,", 50), ("b|a,a", 10), ("b|a,", 40)) for _ in range(times)]
    (folder / "single.csv").write_text("\n".join(["items,clicked", *rows]))
    single = json.loads(run("fit", "single.csv", "--json"))
    assert found["log_likelihood"] == pytest.approx(single["log_likelihood"])
    assert {name: found[name] for name in ("items", "position_bias")} == {
        name: single[name] for name in ("items", "position_bias")
    }


def test_clicks_in_a_table_of_their_own(folder: Path) -> None:
    shown = [f"{one},{slot},{'ab'[(one + slot) % 2]}" for one in range(40) for slot in (1, 2)]
    (folder / "shown.csv").write_text("\n".join(["impression,slot,item", *shown]))
    # one impression has two clicks on the same item, one a click on an item that was not shown
    clicks = ["0,a,5", "0,a,6", "1,b,5", "2,a,5", "3,z,5"]
    (folder / "clicks.csv").write_text("\n".join(["impression,item,when", *clicks]))
    found = json.loads(run("fit", "shown.csv", "--clicks", "clicks.csv", "--order", "when", "--json"))
    assert (found["impressions"], found["no_click"]) == (40, 36)
    assert {name: one["clicks"] for name, one in found["items"].items()} == {"a": 2, "b": 1}
    assert found["cleaning"] == {"rows": 85, "impressions": 40, "counted": 39, "joined_clicks": 4, "click_not_shown": 1}
    wide = [f"{one},{'b|a' if one % 2 else 'a|b'}" for one in range(40)]
    (folder / "lists.csv").write_text("\n".join(["impression,items", *wide]))
    lists = json.loads(run("fit", "lists.csv", "--clicks", "clicks.csv", "--json"))
    assert {name: one["clicks"] for name, one in lists["items"].items()} == {"a": 2, "b": 1}


def test_evaluate(folder: Path) -> None:
    list_of_three = ("evaluate", "clean.parquet", "--ranking", "2,0,1")
    found = json.loads(run(*list_of_three, "--json"))
    assert found["by_model"]["low"] < found["by_model"]["click_rate"] < found["by_model"]["high"]
    assert found["by_propensity"] is None
    assert "by inverse propensity" in run(*list_of_three, "--propensity", "propensity")
    by_policy = run("evaluate", "clean.parquet", "--policy", "epoch-ucb-upb-star", "--rounds", "500")
    assert "simulated on the fitted model" in " ".join(by_policy.split())


def test_evaluate_item_propensities_mixtures_and_logs(folder: Path) -> None:
    """Propensities of items in slots; a mixture from a file; what another log shows."""
    (folder / "mixture.json").write_text(
        json.dumps({"lists": [{"items": ["2", "0", "1"], "probability": p} for p in (0.25, 0.75)]})
    )
    by_list = ("evaluate", "clean.parquet", "--propensity", "propensity", "--json")
    one, mixed = (json.loads(run(*by_list, *more)) for more in (("--ranking", "2,0,1"), ("--mixture", "mixture.json")))
    assert one == mixed
    assert set(one["by_propensity"]) >= {"plain", "self_normalised", "doubly_robust"}
    # every item is as likely to be in each slot as any other
    log = pq.read_table(folder / "clean.parquet")
    wide = log.group_by("impression", use_threads=False).aggregate([("item", "list")])
    log = log.append_column("p", [[0.25] * len(log)])
    pq.write_table(log, folder / "by_item.parquet")
    itself = json.loads(
        run("evaluate", "by_item.parquet", "--target-log", "by_item.parquet", "--item-propensity", "p", "--json")
    )
    assert itself["by_propensity"]["of"] == "items in slots"
    assert itself["by_propensity"]["matching"] == 500 == len(wide)
    for name in ("plain", "self_normalised", "doubly_robust"):
        assert itself["by_propensity"][name]["click_rate"] == pytest.approx(itself["observed"], abs=0.06)
    # the other log needs no propensities
    other = run("evaluate", "by_item.parquet", "--target-log", "clean.parquet", "--item-propensity", "p", "--json")
    assert json.loads(other) == itself
    screen = run("evaluate", "by_item.parquet", "--ranking", "2,0,1", "--item-propensity", "p")
    assert "by both, doubly robust" in screen
    assert "not on the other items" in " ".join(screen.split())


def test_the_target_log_is_recognised_as_the_log_is(folder: Path) -> None:
    """Four impressions of one slot each, as Open Bandit has them: against themselves they have their own rate."""
    rows = ["14,1,0,0.5", "79,1,1,0.5", "14,2,0,0.5", "79,2,0,0.5"]
    (folder / "bandit.csv").write_text("\n".join(["item_id,position,click,propensity_score", *rows]))
    found = json.loads(run("evaluate", "bandit.csv", "--target-log", "bandit.csv", "--json"))
    assert found["by_propensity"]["plain"]["click_rate"] == pytest.approx(0.25)
    assert "clean.parquet: " in run("evaluate", "bandit.csv", "--target-log", "clean.parquet", code=2)


def test_evaluate_a_list_of_names_with_commas(folder: Path) -> None:
    rows = ['1,1,"tea, green",1', '1,2,"milk ""UHT""",0', '2,1,"milk ""UHT""",0', '2,2,"tea, green",0']
    (folder / "names.csv").write_text("\n".join(["impression,slot,item,clicked", *rows]))
    names = json.dumps(["tea, green", 'milk "UHT"'])
    found = json.loads(run("evaluate", "names.csv", "--ranking", names, "--json"))
    assert 0.0 < found["by_model"]["click_rate"] < 1.0
    assert "'tea'" in run("evaluate", "names.csv", "--ranking", "tea, green", code=2)


def test_a_negative_propensity_is_named(folder: Path) -> None:
    log = pq.read_table(folder / "clean.parquet")
    for name, option in (("propensity", "--propensity"), ("item_propensity", "--item-propensity")):
        pq.write_table(log.append_column("p", [[-0.25] * len(log)]), folder / "negative.parquet")
        said = run("evaluate", "negative.parquet", "--ranking", "2,0,1", option, "p", code=2)
        assert "propensity must be a probability, above 0 and at most 1, got -0.25" in " ".join(said.split()), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "nothing.csv"), "there is no file nothing.csv"),
        (("fit", "clean.parquet", "--slot", "place"), "no column 'place' for the slot"),
        (("fit", "clean.parquet", "--multi-click", "first"), "needs the order of the clicks"),
        (("fit", "clean.parquet", "--save", "nowhere/fit.json"), "in an existing folder, got 'nowhere/fit.json'"),
        (("fit", "clean.parquet", "--estimator", "guess"), "unknown estimator 'guess'"),
        (("evaluate", "clean.parquet"), "one of ranking, policy, mixture and target-log must be given"),
        (("evaluate", "clean.parquet", "--ranking", "7"), "'7'"),
        (("evaluate", "clean.parquet", "--ranking", "2,0,2"), "a ranking holds an item once, got '2' 2 times"),
        (("evaluate", "clean.parquet", "--mixture", "nothing.json"), "nothing.json: No such file"),
        (("evaluate", "clean.parquet", "--mixture", "clean.parquet"), "clean.parquet must be like"),
        (("evaluate", "clean.parquet", "--target-log", "dirty.parquet"), "dirty.parquet: "),
        (("evaluate", "clean.parquet", "--ranking", '["0"'), "ranking must be a JSON list or items between commas"),
        (("fit", "clean.parquet", "--clicks", "clean.parquet", "--weight", "slot"), "single impressions"),
        (("evaluate", "clean.parquet", "--ranking", " , "), "ranking must name at least one item, got ' , '"),
        (("evaluate", "dirty.parquet", "--ranking", "i1", "--placement", "page"), "give both or none"),
    ],
)
def test_invalid_input_is_rejected(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in run(*arguments, code=2)


def test_the_help_names_every_estimator_that_a_log_can_be_fitted_with() -> None:
    told = run("fit", "--help")
    # other tests may have registered estimators of `research`
    ours = [entry for entry in estimators() if entry.estimate.__module__.startswith("slotwise.")]
    assert all(entry.id in told for entry in ours if entry.position_bias == "unknown")


def test_a_position_bias_that_is_known(folder: Path) -> None:
    (folder / "bias.txt").write_text("[1.0, 0.4,\n0.7]")
    found = json.loads(run("fit", "clean.parquet", "--position-bias", "bias.txt", "--json"))
    assert [slot["estimate"] for slot in found["position_bias"]] == [1.0, 0.4, 0.7]
    assert [slot["high"] for slot in found["position_bias"]] == [1.0, 0.4, 0.7]
    (folder / "bias.txt").write_text("1.0 much")
    assert "must be a file of numbers" in run("fit", "clean.parquet", "--position-bias", "bias.txt", code=2)


def test_segments_and_times(folder: Path) -> None:
    pq.write_table(drawn(1, 8_000, differ=True, change=True).log, folder / "days.parquet")
    told = run("fit", "days.parquet", "--segment", "device", "--time", "at", "--out", "out")
    assert "Do segments differ?" in told
    assert "By segment:" in told
    assert "Did tastes change? Yes" in told
    page = (folder / "out" / "report.html").read_text()
    assert "<h3>By segment</h3>" in page
    assert "<h3>Over time</h3>" in page
    assert {"segments.csv", "segments.png", "changes.png"} <= {path.name for path in (folder / "out").iterdir()}
    rows = (folder / "out" / "segments.csv").read_text().splitlines()
    assert rows[0] == "placement,segment,item,attractiveness,low,high,shown,clicks"
    assert len(rows) == 1 + 3 * 8
    found = json.loads((folder / "out" / "fit.json").read_text())
    assert list(found["segments"]) == ["desk", "phone", "tablet"]
    assert found["changes"]["changed"][0]["item"] == "item 2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--segment", "pages"), "no column 'pages' for the segment, it has page, .*; is it 'page'?"),
        (("--segment", "impression"), "impression must have at most 200 different values, .*, got 500"),
        (("--time", "moment"), "no column 'moment' for the time"),
        (("--time", "clicked"), "clicked must hold numbers or times, got a column of boolean"),
        (("--segment", "page", "--click-model", "mnl"), "--segment and --time are for the ordinary fit"),
    ],
)
def test_segments_and_times_that_are_refused(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    assert re.search(message, run("fit", "clean.parquet", *arguments, code=2))


def test_an_interrupt_ends_it_with_a_word(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As DuckDB reports Ctrl-C while it counts."""

    def interrupted(*_: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("slotwise.logs.counting.cleaning.check_rows", interrupted)
    assert run("fit", "clean.parquet", code=130) == "interrupted; nothing was written\n"
    monkeypatch.setattr("slotwise.cli._run", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("fit", "clean.parquet", code=130) == "interrupted\n"
