"""Everybody can use it: axe finds nothing serious in either scheme on any size of screen; a keyboard is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.service.dashboard.conftest import Watched, drawn
from tests.service.serving import Client

SIZES: dict[str, dict[str, int]] = {
    "phone": {"width": 390, "height": 844},
    "tablet": {"width": 820, "height": 1180},
    "desk": {"width": 1280, "height": 900},
}


OTHERS = [pytest.param(one, marks=pytest.mark.long) for one in (("dark", "phone"), ("light", "tablet"))]


@pytest.fixture(params=[("light", "phone"), ("dark", "desk"), *OTHERS], ids="-".join)
def shown(browser: Browser, service: Client, request: pytest.FixtureRequest) -> Iterator[Watched]:
    scheme, size = request.param
    # axe is put into the page, which lets in nothing from elsewhere
    options: dict[str, Any] = {"color_scheme": scheme, "viewport": SIZES[size]}
    found = Watched(browser, service, **options, bypass_csp=True)
    yield found
    found.context.close()


def check(page: Page) -> None:
    """Nothing serious, and nothing cut off."""
    found = Axe().run(page).response
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in serious] == []
    assert found["passes"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cut_off = "tables => tables.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
    assert page.locator(".wide[role=region]").evaluate_all(cut_off) == []


def test_axe_finds_nothing_serious_and_nothing_is_cut_off(shown: Watched, service: Client) -> None:
    service.define("nothing yet", holdout=0.1)
    page = shown.open()
    drawn(page)
    for summary in page.locator("details.folded > summary, details.why > summary").all():
        summary.click()
    expect(page.locator("figure details:not(:has(tbody tr))")).to_have_count(0)
    check(page)
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_text("More settings").click()
    check(page)
    page.get_by_role("button", name="Delete this placement …").click()
    page.get_by_role("dialog", name="Delete").wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    for path in ("/", "/placements/nothing yet", "/placements/odd", "/placements/one", "/docs"):
        page.goto(shown.url + path)
        if path != "/docs":
            drawn(page)
        check(page)
    page = shown.open("/", key="wrong")
    page.locator("#wrong").wait_for()
    check(page)


def test_a_keyboard_is_enough(watched: Watched) -> None:
    page = watched.open()
    page.locator("path.line").first.wait_for()
    pause = page.get_by_role("button", name="Stop exploring", exact=True)
    pause.focus()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for()
    assert page.evaluate("document.querySelector('dialog').contains(document.activeElement)")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    expect(pause).to_be_focused()
    chart = page.locator("svg.plot").first
    chart.focus()
    page.keyboard.press("End")
    readout = page.locator("output.readout").first
    expect(readout).to_contain_text("learned")
    last = readout.inner_text()
    page.keyboard.press("ArrowLeft")
    expect(readout).not_to_have_text(last)
    expect(readout).to_contain_text("learned")


def test_open_and_focused_elements_stay_so_after_an_update(watched: Watched, service: Client) -> None:
    service.define("moving")
    service.decide("moving")
    page = watched.open("/placements/moving")
    page.get_by_text("What is position bias?").click()
    page.locator("#health summary").first.focus()
    service.decide("moving")
    service.settle("moving")
    expect(page.locator("#facts li").first).to_have_text("2 views counted")
    assert page.locator("#slots details").first.get_attribute("open") is not None
    expect(page.locator("#health summary").first).to_be_focused()


#: how many rows of numbers are below the charts, and where in the window the last one is, each time that they are drawn
NOTES_WHAT_IS_DRAWN = """() => {
  const read = () => {
    const rows = [...document.querySelectorAll("#charts tbody tr")];
    return [rows.length, rows.at(-1)?.getBoundingClientRect().top];
  };
  window.seen = [read()];
  new MutationObserver(() => window.seen.push(read())).observe(document.getElementById("time"), { childList: true });
}"""


def test_redrawing_a_chart_keeps_the_focus_in_its_table(watched: Watched) -> None:
    page = watched.open("/placements/shop?range=7d")
    drawn(page)
    traffic = page.locator("figure", has_text="Traffic")
    traffic.get_by_text("Numbers").click()
    traffic.locator("tbody tr").last.scroll_into_view_if_needed()
    page.evaluate(NOTES_WHAT_IS_DRAWN)
    # another period is another page to draw
    day = page.get_by_role("group", name="Period").get_by_role("button", name="24 hours")
    day.dispatch_event("click")
    expect(day).to_have_attribute("aria-pressed", "true")
    (rows, place), after = page.evaluate("seen")
    assert rows > 100
    assert after == [rows, pytest.approx(place, abs=1.0)]


def test_numbers_that_are_open_stay_so_when_an_hour_is_over(watched: Watched) -> None:
    page = watched.open("/placements/shop?range=7d")
    drawn(page)
    page.locator("figure", has_text="Click rate").get_by_text("Numbers").click()
    expect(page.locator("#charts tbody")).to_have_count(1)
    page.evaluate("const now = Date.now; Date.now = () => now() + 3_600_000")
    page.evaluate(NOTES_WHAT_IS_DRAWN)
    with page.expect_response("**/timeline?**") as answer:
        page.get_by_role("group", name="Period").get_by_role("button", name="24 hours").click()
    expect(page.locator("#charts tbody tr")).to_have_count(len(answer.value.json()["starts"]))
    assert all(rows > 100 for rows, _ in page.evaluate("seen"))
