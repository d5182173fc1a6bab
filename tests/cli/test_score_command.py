"""A fit that is kept, and another log scored by it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.core.errors import UnreadableFile
from slotwise.logs import load_fits
from tests.commands import slotwise
from tests.logs.fitting.test_fit_log import generated
from tests.logs.strata import drawn


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(generated(800, pages=2, seed=1), "first.parquet")
    pq.write_table(generated(800, pages=3, seed=2), "second.parquet")
    assert slotwise("fit", "first.parquet", "--placement", "page", "--save", "fit.json").returncode == 0
    return tmp_path


def test_another_log_is_scored_against_simple_models(folder: Path) -> None:
    done = slotwise("score", "fit.json", "second.parquet", "--placement", "page", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["impressions"] == 2_400
    by_model = found["log_likelihood"]
    assert max(by_model, key=by_model.get) == "the fit"
    assert set(found["placements"]) == {"0", "1", "2"}
    assert not found["placements"]["2"]["known"]
    each = [one["log_likelihood"]["the fit"] * one["impressions"] for one in found["placements"].values()]
    assert by_model["the fit"] == pytest.approx(sum(each) / 2_400)
    said = slotwise("score", "fit.json", "second.parquet", "--placement", "page").stdout
    assert said.startswith("Does the fit hold for this log? Yes: it predicts these clicks better than “items\nonly”")
    assert "1 placement is new to the fit" in said
    assert "slots only" in said


def test_a_fit_that_predicts_badly_is_reported(folder: Path) -> None:
    """The second log is of users with opposite tastes; the third is too short to decide."""
    log = generated(2_000, pages=1, seed=3)
    opposite = pa.array((3 - np.array(log["item"])).tolist())
    pq.write_table(log, "first.parquet")
    pq.write_table(log.set_column(log.schema.get_field_index("item"), "item", opposite), "other.parquet")
    pq.write_table(log.slice(0, 3 * 12), "few.parquet")
    slotwise("fit", "first.parquet", "--save", "one.json")
    said = " ".join(slotwise("score", "one.json", "other.parquet").stdout.split())
    assert (
        "No: “slots only” of the first log predicts these clicks better, beyond chance. Fit this log instead." in said
    )
    assert "Undecided:" in " ".join(slotwise("score", "one.json", "few.parquet").stdout.split())


def test_a_log_of_another_page_is_questioned(folder: Path) -> None:
    log = generated(50, pages=1, seed=5)
    pq.write_table(log, "one.parquet")
    slotwise("fit", "one.parquet", "--save", "one.json")
    for name, values, said in (
        ("clicked", [False] * len(log), "Undecided: this log has no click. Are the clicks missing?"),
        (
            "item",
            [f"other {item}" for item in log["item"].to_pylist()],
            "none of its items. Is it the fit of this page?",
        ),
    ):
        pq.write_table(log.set_column(log.schema.get_field_index(name), name, pa.array(values)), "two.parquet")
        assert said in " ".join(slotwise("score", "one.json", "two.parquet").stdout.split())


def test_cleaning_of_the_second_log_is_reported(folder: Path) -> None:
    log = generated(100, pages=1, seed=4)
    pq.write_table(log, "one.parquet")
    slotwise("fit", "one.parquet", "--save", "one.json")
    clicked = np.array(log["clicked"])
    clicked[:3] = True
    pq.write_table(log.set_column(log.schema.get_field_index("clicked"), "clicked", pa.array(clicked)), "both.parquet")
    assert (
        "1  impressions with clicks on several items: left out" in slotwise("score", "one.json", "both.parquet").stdout
    )
    found = json.loads(slotwise("score", "one.json", "both.parquet", "--json").stdout)
    assert found["cleaning"] == {"rows": 300, "impressions": 100, "counted": 99, "multi_click_drop": 1}
    evaluated = slotwise("evaluate", "both.parquet", "--ranking", "1,2,3").stdout
    assert "1  impressions with clicks on several items: left out" in evaluated


def test_segments_are_kept_and_predict_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that want different things are predicted better apart, by a kept fit too."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(drawn(1, 4_000, differ=True).log, "first.parquet")
    pq.write_table(drawn(2, 4_000, differ=True).log, "second.parquet")
    assert slotwise("fit", "first.parquet", "--segment", "device", "--save", "fit.json").returncode == 0
    (stored,) = load_fits("fit.json")
    assert set(stored.segments) == {"desk", "phone", "tablet"}
    apart, together = (
        json.loads(slotwise("score", "fit.json", "second.parquet", *more, "--json").stdout)
        for more in (("--segment", "device"), ())
    )
    assert set(apart["placements"]) == {"desk", "phone", "tablet"}
    assert apart["impressions"] == together["impressions"] == 4_000
    assert apart["log_likelihood"]["the fit"] > together["log_likelihood"]["the fit"]
    slotwise("fit", "first.parquet", "--save", "whole.json")
    done = slotwise("score", "whole.json", "second.parquet", "--segment", "device")
    assert done.returncode == 2
    assert "the fit has no segments" in done.stderr


def test_a_file_that_is_no_fit_is_rejected(folder: Path) -> None:
    assert [one.placement for one in load_fits("fit.json")] == ["0", "1"]
    (folder / "other.json").write_text("{}")
    (folder / "torn.json").write_text((folder / "fit.json").read_text()[:200])
    for name, said in (("none.json", "no file"), ("other.json", "not a fit"), ("torn.json", "damaged")):
        with pytest.raises(UnreadableFile, match=said):
            load_fits(name)
    done = slotwise("score", "fit.json", "second.parquet")
    assert done.returncode == 2
    assert "name the column of the log" in done.stderr
