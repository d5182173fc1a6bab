"""What the dashboard shows is what the API says, also after a click, and for whichever visitors and time are chosen."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.service.dashboard.conftest import Watched, drawn
from tests.service.serving import Client
from tests.waiting import wait_for


def overview(service: Client, name: str = "shop", **query: Any) -> dict[str, Any]:
    answer = service.get(f"/v1/placements/{name}/overview", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def cells(page: Page, table: str) -> list[list[str]]:
    """What a table shows, row by row; of an interval that is drawn, what a screen reader says."""
    rows = page.locator(f"{table} tbody tr")
    script = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent.trim()))"
    found: list[list[str]] = rows.evaluate_all(script)
    return found


def number(text: str) -> float:
    """1,234 or 0.123, or 12.3 % as 0.123."""
    plain = text.replace(",", "").replace("\u2212", "-")
    share = re.fullmatch(r"([+-]?[\d.]+)\u202f?%", plain)
    return float(share[1]) / 100 if share else float(plain)


def per_thousand(value: float) -> str:
    """A difference per view as clicks per 1,000 views, with three digits."""
    return f"{value * 1000:+#.3g}".replace("-", "\u2212").removesuffix(".")


def near(value: float) -> Any:
    """What three digits of it can be."""
    return pytest.approx(value, rel=0.006, abs=6e-5)


def test_every_number_is_the_apis(watched: Watched, service: Client) -> None:
    page, said = watched.open(), overview(service)
    assert page.locator("h1").inner_text() == "shop"
    assert page.locator("#sentence").inner_text() == said["state"]["sentence"]
    for shown, slot in zip(page.locator("#best-list > li").all(), said["best_list"], strict=True):
        assert shown.locator(".name").inner_text() == slot["item"]
        if slot["runner_up"] is not None:
            assert slot["runner_up"] in shown.locator(".next").inner_text()
    for row, item in zip(cells(page, "#items-table"), said["items"], strict=True):
        name, attractiveness, interval, chance, shown_, clicks = row[:6]
        assert name.removesuffix("in the list") == item["id"]
        assert name.endswith("in the list") == (item["id"] in [slot["item"] for slot in said["best_list"]])
        assert number(attractiveness) == near(item["attractiveness"])
        # the title of the drawing, and the words beside it
        low, high = interval[: len(interval) // 2].split(" to ")
        assert (number(low), number(high)) == (near(item["low"]), near(item["high"]))
        # halves go up in a browser
        rounded = math.floor(100 * item["probability_in_best_list"] + 0.5)
        assert chance.replace("\u202f", " ") in (f"{rounded} %", "under 1 %", "over 99 %")
        assert (number(shown_), number(clicks)) == (item["shown"], item["clicks"])
    for row, slot in zip(cells(page, "#slots-table"), said["position_bias"], strict=True):
        assert row[0] == str(slot["slot"])
        assert number(row[1]) == near(slot["bias"])
        assert number(row[3]) == slot["shown"]
        assert number(row[4]) == pytest.approx(slot["observed"], abs=6e-4)
        assert number(row[5]) == pytest.approx(slot["fitted"], abs=6e-4)
    for kind, count in said["decisions"].items():
        cell = page.locator(f"#decisions-table [data-kind={kind}]")
        if cell.count():
            assert number(cell.text_content() or "") == count
    for row, part in zip(cells(page, "#segments-table"), said["by_segment"], strict=True):
        decisions = part["decisions"]
        assert row[0] == f"device: {part['segment']['device']}"
        assert number(row[1]) == decisions["clicked"] + decisions["no_click"]
        assert number(row[2]) == decisions["clicked"]


def test_every_check_is_the_apis(watched: Watched, service: Client) -> None:
    page = watched.open()

    def are_the_same() -> bool:
        # on a busy machine the worker may fall behind, and catch up, between two looks
        shown = page.locator("#checks > li > span:last-child").all_text_contents()
        checks = overview(service)["checks"]
        return len(shown) == len(checks) and all(
            text.endswith(f": {check['sentence']}") for text, check in zip(shown, checks, strict=True)
        )

    wait_for(are_the_same, "the checks of the API")


@pytest.mark.parametrize("period", ["start", "7d", "28d"])
def test_uplift_is_shown_since_the_start_or_over_a_chosen_time(watched: Watched, service: Client, period: str) -> None:
    moves = period != "start"
    said = overview(service, period=period) if moves else overview(service)
    page = watched.open(f"/placements/shop?period={period}" if moves else "/placements/shop")
    uplift, words = (said["uplift_in_period"], said["pays_in_period"]) if moves else (said["uplift"], said["pays"])
    card = page.locator("#uplift-card")
    assert card.locator(".verdict").inner_text() == words
    assert number(card.locator(".figure b").inner_text()) == near(1000 * uplift["difference"])
    ends = f"interval {per_thousand(uplift['anytime']['low'])} to {per_thousand(uplift['anytime']['high'])}"
    assert card.locator(".figure").inner_text().endswith(ends)
    learned, holdout = card.locator(".arms b").all_inner_texts()
    assert number(learned) == near(1000 * uplift["learned"]["click_rate"])
    assert number(holdout) == near(1000 * uplift["holdout"]["click_rate"])
    # an anytime-valid interval is for a start that stays
    expect(page.locator("#moves")).to_have_count(int(moves))
    assert page.get_by_role("group", name="Period").locator("[aria-pressed=true]").get_attribute("data-key") == (
        f"Period:{period}"
    )


def test_a_time_that_is_chosen_stays_in_the_address(watched: Watched) -> None:
    page = watched.open()
    page.get_by_role("button", name="24 hours").first.click()
    expect(page.get_by_role("button", name="24 hours").first).to_have_attribute("aria-pressed", "true")
    assert page.url.endswith("/placements/shop?period=24h")
    page.reload()
    expect(page.get_by_role("button", name="24 hours").first).to_have_attribute("aria-pressed", "true")


def test_some_visitors_are_looked_at_alone(watched: Watched, service: Client) -> None:
    page = watched.open()
    page.locator("#segment-device").select_option("mobile")
    page.get_by_text("Filtered to").wait_for()
    said = overview(service, segment="device:mobile")
    assert {row[0].removesuffix("in the list"): number(row[4]) for row in cells(page, "#items-table")} == {
        item["id"]: item["shown"] for item in said["items"]
    }
    page.get_by_role("button", name="Show all visitors").click()
    page.get_by_text("Filtered to").wait_for(state="detached")


def test_charts_have_the_numbers_of_the_timeline(watched: Watched, service: Client) -> None:
    with watched.context.expect_event("response", lambda answer: "/timeline" in answer.url) as asked:
        page = watched.open("/placements/shop?range=7d")
    timeline = asked.value.json()
    figure = page.locator("figure", has_text="Click rate")
    figure.locator("path.line").first.wait_for()
    figure.get_by_text("Numbers").click()
    rows = figure.locator("tbody tr")
    # the browser says a moment after the click that they are open, and only then are they made
    expect(rows).to_have_count(len(timeline["starts"]))
    read = rows.evaluate_all("rows => rows.map(row => [...row.cells].map(c => c.textContent))")
    for at, row in enumerate(reversed(read)):
        for arm, cell in zip(("learned", "holdout"), row[1:], strict=True):
            mean = timeline["arms"][arm]["mean"][at]
            assert cell == "–" if mean is None else number(cell.partition(" (")[0]) == pytest.approx(mean, abs=6e-4)
    traffic = page.locator("figure", has_text="Traffic")
    traffic.get_by_text("Numbers").click()
    counted = traffic.locator("tbody td")
    expect(counted).to_have_count(len(timeline["issued"]))
    assert [number(text) for text in reversed(counted.all_inner_texts())] == timeline["issued"]
    # what was changed in this time is marked on each chart
    changes = [change for change in timeline["changes"] if change["time"] >= timeline["starts"][0]]
    assert len(changes) == 2
    charts = page.locator("figure.chart")
    expect(charts).to_have_count(4)
    for chart in charts.all():
        expect(chart.locator(".mark")).to_have_count(2)
    assert "holdout changed" in (figure.locator("g title").last.text_content() or "")
    assert service.get("/v1/placements/shop/changes").json()["changes"][0]["version"] == 3


def test_changes_are_listed_with_old_and_new_values(watched: Watched) -> None:
    page = watched.open()
    listed = page.locator("#changes-of > li")
    expect(listed).to_have_count(3)
    assert [row.locator("li").all_inner_texts() for row in listed.all()] == [
        ["holdout: 0.1 → 0.2"],
        ["1 item added: boots"],
        ["created with 5 items"],
    ]


def test_it_updates_by_itself_after_clicks_and_asks_for_nothing_that_it_has(watched: Watched, service: Client) -> None:
    service.define("fresh", holdout=0.0)
    page = watched.open("/placements/fresh")
    assert page.locator("#sentence").inner_text() == "Waiting for the first decision: connect your page."
    statuses: list[int] = []
    page.on("response", lambda answer: statuses.append(answer.status) if "/overview" in answer.url else None)

    def is_told_that_nothing_is_new() -> bool:
        # what happened meanwhile is noticed while it waits
        page.wait_for_timeout(20)
        return 304 in statuses

    wait_for(is_told_that_nothing_is_new, "an answer that nothing is new")
    for clicked in (True, False):
        decision = service.decide("fresh")
        service.report(decision, clicked=decision["items"][0] if clicked else None)
    expect(page.locator("#decisions-table [data-kind=pending]")).to_have_text("2")
    service.settle("fresh")
    expect(page.locator("#facts li").first).to_have_text("2 views counted")
    expect(page.locator("#decisions-table [data-kind=clicked]")).to_have_text("1")
    expect(page.locator("#sentence")).to_have_text(overview(service, "fresh")["state"]["sentence"])


def test_a_list_of_all_segments_together_is_said_to_be_one(watched: Watched, service: Client) -> None:
    service.define("pooled", segments={"device": ["mobile"]})
    service.decide("pooled", context={"device": "mobile"})
    page = watched.open("/placements/pooled")
    expect(page.locator("#pooled")).to_contain_text("for all visitors together")
    page = watched.open("/placements/pooled?segment=device:mobile")
    expect(page.locator("#pooled")).to_have_count(0)


def test_a_shadow_without_views_promises_nothing(watched: Watched, service: Client) -> None:
    service.define("unseen", mode="shadow")
    service.decide("unseen")
    page = watched.open("/placements/unseen")
    expect(page.locator("main")).to_contain_text("Best list (not shown in shadow mode)")
    expect(page.locator("main")).not_to_contain_text("Expected reward per view")


def test_numbers_of_a_chart_scroll_and_do_not_make_the_page_long(watched: Watched) -> None:
    page = watched.open("/placements/shop?range=90d")
    drawn(page)
    for summary in page.locator(".chart details summary").all():
        summary.click()
    tables = page.locator(".chart details .wide")
    assert max(table.bounding_box()["height"] for table in tables.all()) <= 24 * 16 + 1  # type: ignore[index]
