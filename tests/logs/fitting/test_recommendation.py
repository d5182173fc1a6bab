"""Nothing is recommended, and no verdict on the model given, if more than a tenth of a log is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import choose_click_model, evaluate, fit, fit_placements, fit_text, report_dict, write_report
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reading.log_source import LogSource
from tests.commands import slotwise

LISTS = [["a", "b"], ["b", "a"]] * 20


def log_of(stray: int) -> pa.Table:
    """Forty lists, ten of them clicked, and some more with a click on something that was not shown."""
    clicked = ["a", None, "b", None] * 5 + [None] * 20
    return pa.table({"items": LISTS + [["a", "b"]] * stray, "clicked": clicked + ["elsewhere"] * stray})


def words(found: Fit) -> str:
    return " ".join(str(block) for block in fit_text([found]))


def test_up_to_a_tenth_may_be_left_out() -> None:
    found = fit(log_of(4))
    assert found.withheld == ""
    assert found.to_dict()["best"]["recommended"]
    assert "show instead" in words(found)


def test_more_than_a_tenth_may_not(tmp_path: Path) -> None:
    found = fit(log_of(5))
    assert found.withheld.startswith("11.1 % of the impressions are left out. The most frequent cause: 5 impressions")
    with pytest.raises(InvalidInput, match=r"nothing is recommended: 11\.1 %.*; recommend='always'"):
        found.best()
    assert found.to_dict()["best"] == {"recommended": False, "withheld": found.withheld}
    assert report_dict([found])["best"] == found.to_dict()["best"]
    assert f"recommended: nothing. {found.withheld}" in found.summary()
    page = write_report(found, tmp_path).read_text().replace("&nbsp;", " ")
    for text in (words(found), page):
        assert f"Nothing is recommended: {found.withheld}" in text
        assert re.search(r"Does the model fit\?(</b>)? Undecided: 11.1 % of the impressions are left out", text)
        assert "A click is expected" not in text
        assert "show instead" not in text
    assert json.loads((tmp_path / "fit.json").read_text())["best"] == found.to_dict()["best"]
    assert f"{found.withheld}. Do not rely on these rates." in evaluate(found, ["a", "b"]).warnings
    assert choose_click_model([found], LogSource.of(log_of(5))) is None


def test_a_list_is_recommended_if_asked_for() -> None:
    found = fit(log_of(5), recommend="always")
    assert found.withheld == ""
    assert found.best().items == ("a", "b")
    assert "11.1 % of the impressions (5 of 45) are left out." in words(found)
    with pytest.raises(InvalidInput, match="recommend"):
        fit(log_of(5), recommend="anyway")  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path: Path) -> None:
    pq.write_table(log_of(5), tmp_path / "log.parquet")
    for options, recommended in (((), False), (("--recommend", "always"), True)):
        ended = slotwise("fit", "log.parquet", "--json", *options, cwd=tmp_path)
        assert json.loads(ended.stdout)["best"]["recommended"] is recommended


def test_each_placement_is_judged_by_itself_and_with_the_log() -> None:
    good, bad = log_of(0), log_of(5)
    pages = pa.concat_tables([good, good, bad])
    names = ["x"] * len(good) + ["y"] * len(good) + ["z"] * len(bad)
    found = fit_placements(pages.append_column("page", pa.array(names)), placement="page")
    assert [bool(each.withheld) for each in found] == [False, False, True]
    text = " ".join(str(block) for block in fit_text(found))
    assert "Not in 1 of 3 placements: 11.1 % of the impressions are left out" in text
    worse = pa.concat_tables([good, log_of(20)])
    names = ["x"] * len(good) + ["z"] * (len(worse) - len(good))
    found = fit_placements(worse.append_column("page", pa.array(names)), placement="page")
    assert all(each.withheld for each in found)


def test_a_placement_of_which_nothing_is_left_counts_as_left_out() -> None:
    good = log_of(0)
    lost = pa.table({"items": [["a", "b"]] * 5, "clicked": ["elsewhere"] * 5})
    pages = pa.concat_tables([good, lost]).append_column("page", pa.array(["x"] * len(good) + ["z"] * 5))
    (found,) = fit_placements(pages, placement="page")
    assert found.withheld


def test_rows_without_an_impression_count_too() -> None:
    rows = pa.table(
        {
            "impression": [*(place // 2 for place in range(80)), *[None] * 10],
            "slot": [1, 2] * 45,
            "item": ["a", "b", "b", "a"] * 20 + ["a", "b"] * 5,
            "clicked": [1, 0, 0, 0] * 20 + [0] * 10,
        }
    )
    assert fit(rows).withheld.startswith("11.1 % of the rows have no impression or no placement")
    assert not fit(rows.slice(0, 80)).withheld


def test_one_click_rate_is_named() -> None:
    found = words(fit(log_of(4)))
    assert "44 impressions of 2 slots and 2 items; 25.0 % of the 40 counted ones had a click." in found
    assert "31.8 %" not in found
