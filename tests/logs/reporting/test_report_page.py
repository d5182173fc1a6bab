"""The page: whole, in itself, and not fooled by names."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from slotwise import EMPTY, Rankings, logs
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting import fit_figures, report_page
from slotwise.logs.reporting.placement_report import PlacementReport
from slotwise.logs.reporting.report_page import write_report
from tests.logs.synthetic_impressions import rankings

ODDS = np.outer([1.0, 0.5, 0.3], np.geomspace(0.05, 0.8, 45))
HEADINGS = [
    "Position bias of each slot",
    "Attractiveness of the items",
    "Recommended list",
    "Does the model fit?",
    "Which model predicts best?",
    "Limitations of this log",
    "Data cleaning",
    "How this was computed",
]


@pytest.fixture(scope="module")
def fit() -> Fit:
    ids = ["<b>bold</b> & $x^2$", *(f"item {number}" for number in range(1, 45))]
    return Fit.of_rankings(rankings(ODDS, 5_000, np.random.default_rng(1)), item_ids=ids)


def test_a_page_that_holds_all_it_shows(fit: Fit, tmp_path: Path) -> None:
    cleaning = {"the same item twice": 3, "no item": 0}
    fit = replace(fit, tally=replace(fit.tally, cleaning=cleaning))
    path = write_report(fit, tmp_path / "new" / "out", rules={"the same item twice": "twice: the first is kept"})
    page = path.read_text()
    assert re.findall("<h2>(.*?)</h2>", page) == HEADINGS
    assert page.count("data:image/svg+xml;base64,") == 4
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "<b>bold" not in page
    assert '<td class="n">3</td><td>twice: the first is kept</td>' in page
    assert "Looked for, and not found</summary><ul><li>no item</li>" in page
    for name in ("position_bias", "items", "fit", "models"):
        assert (path.parent / f"{name}.png").stat().st_size > 5_000
        assert (path.parent / f"{name}.svg").exists()
    rows = rows_of(path.parent / "items.csv")
    assert len(rows) == 45
    assert float(rows[3]["attractiveness"]) == pytest.approx(fit.estimate.attractiveness[3])
    assert json.loads((path.parent / "fit.json").read_text()) == json.loads(json.dumps(fit.to_dict()))


def test_several_placements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "IN_FULL", 2)
    rng = np.random.default_rng(2)
    fits = [
        Fit.of_rankings(rankings(ODDS[:, ::9], size, rng), placement=name)
        for name, size in (("small", 50), ("<large>", 500), ("middle", 200))
    ]
    page = write_report(fits, tmp_path, source="a shop").read_text()
    assert re.findall('<h1 id="p.">(.*?)</h1>', page) == ["&lt;large&gt;", "middle"]
    assert page.count("data:image") == 8
    assert '<a href="#p0">&lt;large&gt;</a>' in page
    assert "The 2 largest placements are reported in full" in page
    assert list(json.loads((tmp_path / "fit.json").read_text())["placements"]) == ["small", "<large>", "middle"]
    assert {row["placement"] for row in rows_of(tmp_path / "slots.csv")} == {fit.placement for fit in fits}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


ODD: dict[str, tuple[Any, Any, Any, int]] = {
    "no clicks": ([[0, 1], [1, 0]], [[0, 0], [0, 0]], [5, 5], 2),
    "one slot": ([[0], [1]], [[3], [4]], [5, 5], 2),
    "fewer items than slots": ([[0, 1, EMPTY], [1, 0, EMPTY]], [[3, 1, 0], [2, 2, 0]], [5, 5], 2),
    "always a click": ([[0, 1], [1, 0]], [[3, 2], [4, 2]], [0, 0], 2),
    "one impression": ([[0, 1]], [[1, 0]], [0], 2),
    "slots apart": ([[0, 1]], [[30, 20]], [50], 2),
    "an empty list": ([[EMPTY, EMPTY], [0, 1]], [[0, 0], [3, 2]], [4, 5], 2),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_logs_have_a_page_as_well(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.logs.reporting.report_page.FORMATS", ("svg",))
    shown, clicks, passes, items = ODD[name]
    page = write_report(Fit.of_rankings(Rankings(shown, clicks, passes, items=items)), tmp_path).read_text()
    assert "nan" not in re.sub('base64,[^"]*', "", page)


def test_without_whole_lists(fit: Fit, tmp_path: Path) -> None:
    bare = Fit(replace(fit.tally, multi_click=12), fit.estimate, "scaling")
    page = write_report(bare, tmp_path).read_text()
    assert page.count("data:image") == 2
    assert "Whole lists were not kept" in page
    assert "0.24&nbsp;% of the impressions have clicks on several items" in page


def test_plain_words_come_first(fit: Fit) -> None:
    words = PlacementReport(fit).in_words()
    assert words[0].startswith("5,000 impressions of 3 slots and 45 items; ")
    assert words[1].startswith(
        "How much is each slot worth? The best place is slot 1. Of the clicks that an item gets "
    )
    assert re.search(r"[0-9.]+ % in slot 2 and [0-9.]+ % in slot 3\.$", words[1])
    assert words[2].startswith("Which items are underplaced? ")
    assert words[3].startswith("What to show? 1. item 4")
    assert re.match(
        r"Which click rate to expect\? A click in .* more than the .* observed: [0-9]+ more in 1,000", words[4]
    )
    assert words[5].startswith("Does the model fit? Yes")


def test_no_item_is_torn_from_its_place(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.logs.reporting.report_page.FORMATS", ("svg",))
    page = write_report(fit, tmp_path).read_text()
    assert re.search(r"What to show\? 1\.&nbsp;item \d+&emsp; 2\.&nbsp;item \d+&emsp; 3\.&nbsp;item \d+<", page)


def test_an_uplift_is_of_the_slots_that_impressions_fill(tmp_path: Path) -> None:
    """Items and slots are alike, and each impression fills one of two slots: a list that fills both brings nothing."""
    shown = [[0, EMPTY], [1, EMPTY], [EMPTY, 0], [EMPTY, 1]]
    fit = Fit.of_rankings(Rankings(shown, [[100, 0], [100, 0], [0, 100], [0, 100]], [900] * 4, items=2))
    (gain,) = (words for words in PlacementReport(fit).in_words() if words.startswith("Which click rate to expect?"))
    assert re.search(r"A click in 10\.0 % \(.*\) of impressions, possibly no (more|less) than the 10\.0 %", gain)
    assert "with every slot filled it would be 18.2 %" in gain
    assert "as those of the log do; with every slot filled" in write_report(fit, tmp_path).read_text()


def test_an_underplaced_item_is_compared_with_where_it_was() -> None:
    seen = Rankings([[0, 1], [1, 0]], [[900, 2250], [500, 50]], [9_000, 1_000], items=2)
    words = "\n".join(PlacementReport(Fit.of_rankings(seen)).in_words())
    assert re.search(
        r"1, mostly in slot 2, would get 1\.\d times as many clicks in slot 1 as where it was shown", words
    )


def test_a_given_position_bias_is_not_reported_as_estimated() -> None:
    log = pa.table({"items": [["a", "b"], ["b", "a"]] * 40, "clicked": ["a", "b", None, "a"] * 20})
    words = PlacementReport(logs.fit(log, position_bias=[1.0, 0.5])).in_words()
    assert words[1].startswith("How much is each slot worth? As given, the best place is slot 1. Of the clicks")
    assert not any("As was said" in line for line in PlacementReport(logs.fit(log)).in_words())


def test_equal_slots_are_reported_as_equal() -> None:
    seen = rankings(np.outer(np.ones(2), [0.3, 0.4, 0.5]), 200_000, np.random.default_rng(3))
    assert (
        "How much is each slot worth? The slots are worth about the same."
        in PlacementReport(Fit.of_rankings(seen)).in_words()
    )


def test_a_fixed_order_gets_no_recommendation() -> None:
    """Always the same list, with enough clicks to promise a gain from another one."""
    words = " ".join(PlacementReport(Fit.of_rankings(Rankings([[0, 1]], [[300, 9_000]], [700], items=2))).in_words())
    assert "What to show? This log does not determine it" in words
    assert "Keep what you show, and let some items change places for a while." in words
    assert "Which items are underplaced? This log does not determine it." in words
    assert "Which click rate to expect? This log does not determine it." in words
    assert "1,000 impressions" not in words


def test_figures_show_their_data(fit: Fit) -> None:
    axes = fit_figures.position_bias(fit).axes[0]
    assert axes.lines[0].get_ydata() == pytest.approx(fit.estimate.position_bias)
    labels = [label.get_text() for label in fit_figures.items(fit).axes[0].get_yticklabels()]
    assert len(labels) == fit_figures.BEST + fit_figures.WORST
    assert r"<b>bold</b> & \$x^2\$" in labels
    diagnosis = PlacementReport(fit)
    assert diagnosis.goodness is not None
    assert diagnosis.held_out is not None
    bars = fit_figures.observed_and_fitted(diagnosis.goodness).axes[0].patches
    assert [bar.get_height() for bar in bars] == pytest.approx(100 * diagnosis.goodness.fitted)  # type: ignore[attr-defined]
    assert len(fit_figures.models(diagnosis.held_out).axes[0].patches) == 5
