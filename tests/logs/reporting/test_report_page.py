"""The page: whole, in itself, and not fooled by names."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from slotwise import EMPTY, Rankings
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting import fit_figures, log_summary
from slotwise.logs.reporting.placement_report import PlacementReport
from slotwise.logs.reporting.report_page import write_report
from tests.logs.synthetic_impressions import rankings
from tests.service.browser import CHROMIUM, OPTIONS, needs_a_browser

ODDS = np.outer([1.0, 0.5, 0.3], np.geomspace(0.05, 0.8, 45))
HEADINGS = ["Shown now, and what to show", "What the log says", "How to read the numbers", "Method and files"]


@pytest.fixture(scope="module")
def fit() -> Fit:
    ids = ["<b>bold</b> & $x^2$", *(f"item {number}" for number in range(1, 45))]
    return Fit.of_rankings(rankings(ODDS, 5_000, np.random.default_rng(1)), item_ids=ids)


def test_a_page_that_holds_all_it_shows(fit: Fit, tmp_path: Path) -> None:
    fit = replace(fit, tally=replace(fit.tally, cleaning={"rows": 9, "repeated_items": 3, "null_slot": 0}))
    path = write_report(fit, tmp_path / "new" / "out")
    page = path.read_text()
    assert re.findall("<h2.*?>(.*?)</h2>", page) == HEADINGS
    assert page.count("data:image/svg+xml;base64,") == 1
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "<b>bold" not in page
    assert "<li>3 impressions with an item in two slots: left out" in page
    assert "not found</summary><ul><li>rows without a slot" in page
    assert (path.parent / "fit.png").stat().st_size > 5_000
    assert (path.parent / "fit.svg").exists()
    rows = rows_of(path.parent / "items.csv")
    assert len(rows) == 45
    assert [row["shown_now"] for row in rows_of(path.parent / "lists.csv")] == [one.item for one in fit.shown_now]
    assert float(rows[3]["attractiveness"]) == pytest.approx(fit.estimate.attractiveness[3])
    assert json.loads((path.parent / "fit.json").read_text()) == json.loads(json.dumps(fit.to_dict()))


def test_several_placements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_summary, "IN_FULL", 2)
    rng = np.random.default_rng(2)
    fits = [
        Fit.of_rankings(rankings(ODDS[:, ::9], size, rng), placement=name)
        for name, size in (("small", 50), ("<large>", 500), ("middle", 200))
    ]
    page = write_report(fits, tmp_path, source="a shop").read_text()
    names = ["&lt;large&gt;", "middle"]
    assert re.findall("<h3>(.*?)</h3>", page) == names * 2
    assert page.count("<h4>Position bias of each slot</h4>") == 2
    assert re.findall('<details class="section"( open)?>', page) == [" open", ""]
    assert page.count("How many clicks an item gets in a slot, relative to") == 1
    assert page.count("data:image") == 2
    assert "These are the 2 placements with the most impressions. The lists of all\n3 are in lists.csv" in page
    assert {row["placement"] for row in rows_of(tmp_path / "lists.csv")} == {"small", "<large>", "middle"}
    assert list(json.loads((tmp_path / "fit.json").read_text())["placements"]) == ["small", "<large>", "middle"]
    assert {row["placement"] for row in rows_of(tmp_path / "slots.csv")} == {fit.placement for fit in fits}


def test_what_placements_share_is_said_once(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.logs.reporting.report_page.FORMATS", ("svg",))
    fits = [replace(fit, tally=replace(fit.tally, placement=name)) for name in "abc"]
    page = write_report(fits, tmp_path).read_text()
    assert page.count("Position bias of each slot</h") == 1
    assert page.count("Attractiveness of the items</h4>") == 3


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
    assert "data:image" not in page
    assert "Undecided: whole lists were not kept." in page
    assert "0.24&nbsp;% of the impressions have clicks on several items" in page


def test_the_figure_of_the_fit_shows_its_data(fit: Fit) -> None:
    goodness = PlacementReport(fit).goodness
    assert goodness is not None
    bars = fit_figures.observed_and_fitted(goodness).axes[0].patches
    assert [bar.get_height() for bar in bars] == pytest.approx(100 * goodness.fitted)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of two placements, one with a long name, and items with names that have no blank."""
    rng = np.random.default_rng(5)
    ids = ["x" * 80, *(f"item_{number}" for number in range(14))]
    fits = [
        Fit.of_rankings(rankings(ODDS[:, ::3], size, rng), item_ids=ids, placement=name)
        for name, size in (("home", 3_000), ("a-placement-with-a-name-of-many-letters" * 3, 500))
    ]
    return write_report(fits, tmp_path_factory.mktemp("report")).as_uri()


def opened(browser: Browser, address: str, scheme: Any, width: int) -> Page:
    """The page with all of its sections open."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(section => section.open = true)")
    return page


@needs_a_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page = opened(browser, address, scheme, width)
    found = Axe().run(page).response
    assert found["passes"]
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in serious] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))


@needs_a_browser
def test_text_figures_and_background_follow_the_scheme(browser: Browser, address: str) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        page = opened(browser, address, scheme, 1280)
        shades[scheme] = page.evaluate(SHADES)
    assert shades["light"] == {"page": "light", "text": "dark", "axis": "dark"}
    assert shades["dark"] == {"page": "dark", "text": "light", "axis": "light"}


#: whether the page, its text and the lines and letters of its first figure are light or dark
SHADES = """async () => {
  const shade = ([red, green, blue]) => red + green + blue > 384 ? "light" : "dark";
  const style = getComputedStyle(document.body);
  const parts = colour => colour.match(/\\d+/g).map(Number);
  const picture = document.querySelector("figure img");
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth, canvas.height = picture.naturalHeight;
  const pen = canvas.getContext("2d");
  pen.drawImage(picture, 0, 0);
  const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = { light: 0, dark: 0 };
  for (let at = 0; at < pixels.length; at += 4) {
    const grey = Math.max(...pixels.slice(at, at + 3)) - Math.min(...pixels.slice(at, at + 3)) < 16;
    if (pixels[at + 3] > 250 && grey) counts[shade(pixels.slice(at, at + 3))] += 1;
  }
  const axis = counts.light > counts.dark ? "light" : "dark";
  return { page: shade(parts(style.backgroundColor)), text: shade(parts(style.color)), axis };
}"""
