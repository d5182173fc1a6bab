"""The screen of a page's owner: connecting it, its items by name, the list of placements, times, keys for reading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.service.dashboard.conftest import KEY, READ_KEY, Watched, drawn
from tests.service.dashboard.test_numbers import per_thousand
from tests.service.serving import Client
from tests.test_node_client import CLIENT, OLDEST_NODE, node_version
from tests.waiting import FOR_EVER

NAME = "my “page” it's"


def snippet(page: Page, language: str) -> str:
    """The code that the page shows first for a language."""
    page.get_by_role("group", name="Language").get_by_role("button", name=language).click()
    return page.locator("pre code").first.inner_text()


def command(language: str, code: str, folder: Path) -> list[str]:
    """Run the code as a reader would, but without haste."""
    if language == "curl":
        return ["sh", "-c", code]
    patient = code.replace("timeout=0.3", f"timeout={FOR_EVER}")
    patient = patient.replace("timeoutMs: 300", f"timeoutMs: {1000 * FOR_EVER}")
    if language == "Python":
        return [sys.executable, "-c", patient]
    if node_version() < OLDEST_NODE:
        pytest.skip(f"there is no Node {OLDEST_NODE} or newer")
    script = folder / "connect.mjs"
    script.write_text(patient.replace('"slotwise-client"', json.dumps((CLIENT / "client.js").as_uri())))
    return ["node", str(script)]


@pytest.mark.parametrize("language", ["curl", "Python", "Node"])
def test_code_that_an_empty_placement_shows_connects_it(
    watched: Watched, service: Client, language: str, tmp_path: Path
) -> None:
    name = f"{NAME} {language}"
    service.define(name, segments={"device": ["mobile", "desktop"]})
    page = watched.open(f"/placements/{name}")
    expect(page.locator("#first-decision")).to_contain_text("Waiting for the first decision")
    expect(page.locator("#best-list")).to_have_count(0)
    code = snippet(page, language)
    # the key is never on the screen
    assert KEY not in page.content()
    environment = {**os.environ, "SLOTWISE_SERVER_KEY": KEY}
    subprocess.run(command(language, code, tmp_path), env=environment, check=True, timeout=FOR_EVER)
    # by itself
    expect(page.locator("#first-decision")).to_have_count(0)
    expect(page.locator("#best-list > li")).to_have_count(2)
    assert service.estimates(name)["by_segment"][0]["segment"] == {"device": "mobile"}


def test_code_for_the_browser_names_the_address(watched: Watched, service: Client) -> None:
    service.define("for the browser")
    page = watched.open("/placements/for the browser")
    assert f'<script src="{watched.url}/slotwise.js">' in snippet(page, "Browser")


def labelled(watched: Watched) -> list[Any]:
    picture = f"{watched.url}/static/icon.svg"
    return [
        {"id": "a1", "name": "<i>Green</i> tea", "url": f"{watched.url}/docs?tea", "image": picture},
        {"id": "b2", "name": "Coffee", "image": f"{watched.url}/static/missing.png"},
        "plain",
    ]


def test_items_are_shown_with_names_links_and_pictures(watched: Watched, service: Client) -> None:
    service.define("labelled", items=labelled(watched), slots=2, exploring=False, pin={"a1": 1, "b2": 2})
    service.decide("labelled")
    page = watched.open("/placements/labelled")
    expect(page.locator("#best-list .name")).to_have_text(["<i>Green</i> tea", "Coffee"])
    link = page.locator("#best-list a")
    assert link.get_attribute("href") == f"{watched.url}/docs?tea"
    assert link.get_attribute("rel") == "noopener noreferrer"
    # the policy of the page lets the picture in, and one that cannot be had leaves no gap
    page.wait_for_function("document.querySelector('#best-list img')?.naturalWidth > 0")
    expect(page.locator("#best-list img")).to_have_count(1)
    assert page.locator("#items-table .name").all_inner_texts()[-1] == "plain"
    watched.errors[:] = [error for error in watched.errors if "404" not in error]


def test_the_item_search_finds_names(watched: Watched, service: Client) -> None:
    items = [{"id": f"sku-{number}", "name": f"Thing {number}"} for number in range(20)]
    service.define("named things", items=items, slots=2)
    page = watched.open("/placements/named things")
    page.locator("#search-items").fill("thing 17")
    expect(page.locator("#items-table tbody tr")).to_have_count(1)
    expect(page.locator("#items-table .name")).to_have_text("Thing 17")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "javascript:alert(1)"),
        ("url", "//shop.example/tea"),
        ("url", "https://user:password@shop.example/"),
        ("url", "https://"),
        ("url", "https://shop.example:port/"),
        ("image", "data:image/svg+xml,<svg/>"),
        ("image", "https://shop.example/a b.png"),
        ("image", "https://shop.example/" + "x" * 2000),
        ("name", ""),
        ("name", "new\nline"),
    ],
)
def test_an_address_that_is_none_of_the_web_is_refused_by_name(service: Client, field: str, value: str) -> None:
    answer = service.put("/v1/placements/refused", json={"slots": 1, "items": [{"id": "a", field: value}, "b"]})
    assert answer.status_code == 422
    assert f"items.0.{field}" in answer.text or field in answer.text
    assert service.get("/v1/placements/refused").status_code == 404


def test_pages_let_in_pictures_of_items_and_nothing_else(service: Client) -> None:
    policy = service.get("/placements/shop").headers["Content-Security-Policy"].split("; ")
    assert "img-src 'self' https: http:" in policy
    others = [rule.partition(" ")[2] for rule in policy if not rule.startswith("img-src")]
    assert set(others) == {"'none'", "'self'"}
    assert "img-src 'self'" in service.get("/docs").headers["Content-Security-Policy"].split("; ")


def test_with_a_key_for_reading_there_is_nothing_to_change(watched: Watched, service: Client) -> None:
    page = watched.open("/placements/shop", key=READ_KEY)
    drawn(page)
    expect(page.locator("#read-only")).to_be_visible()
    buttons = page.locator("main button").all_inner_texts()
    assert "Export" in buttons
    assert not {"Add items", "Settings", "Control order", "Stop exploring", "Shadow mode", "Edit", "Retire"} & {
        *buttons
    }
    page.goto(f"{watched.url}/")
    drawn(page)
    expect(page.get_by_role("button", name="New placement")).to_have_count(0)


def test_placements_are_listed_with_their_numbers_and_sorted(watched: Watched, service: Client) -> None:
    page = watched.open("/")
    drawn(page)
    state = service.get("/v1/placements/shop/state").json()
    row = page.locator("[data-placement=shop]")
    expect(row.locator("[data-label=views]")).to_have_text(f"{state['views']:,}")
    expect(row.locator("[data-label='click rate']")).to_have_text(f"{100 * state['click_rate']:.1f}\u202f%")
    expect(row.locator("[data-label=uplift]")).to_contain_text(per_thousand(state["uplift"]["difference"]))
    expect(row.locator("time")).to_have_attribute("datetime", state["last_active"])
    names = page.locator("[data-placement]").evaluate_all("rows => rows.map(row => row.dataset.placement)")
    assert names == sorted(names)
    page.get_by_role("button", name="views").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("views")
    seen = page.locator("[data-label=views]").all_inner_texts()
    assert [int(text.replace(",", "")) for text in seen] == sorted(int(text.replace(",", "")) for text in seen)[::-1]
    assert page.url.endswith("?sort=views")


def test_a_check_that_warns_is_at_the_top_with_advice_and_others_are_folded(watched: Watched, service: Client) -> None:
    page = watched.open()
    drawn(page)
    assert not page.locator("#checks").is_visible()
    expect(page.locator("#health-summary")).to_contain_text("checks OK")

    def warn(route: Any) -> None:
        answer = route.fetch()
        body = answer.json()
        body["checks"][1] |= {"level": "look", "sentence": "Late.", "advice": "Set a longer window under Settings."}
        body["best_list"][0] |= {"probability": 0.3, "runner_up": "none of these", "runner_up_probability": 0.4}
        route.fulfill(response=answer, json=body)

    page.route("**/overview*", warn)
    page.reload()
    expect(page.locator("#attention li")).to_have_text("Late. Set a longer window under Settings.")
    expect(page.locator("#health-summary")).to_contain_text("1 need attention")
    # a runner-up that is likelier than the item of the slot is explained
    expect(page.locator("#best-list .next").first).to_contain_text("likelier here, but brings less on average")


def test_times_are_those_of_the_viewer(browser: Browser, service: Client) -> None:
    viewer = Watched(browser, service, timezone_id="Asia/Kolkata")
    page = viewer.open("/placements/shop?range=28d")
    drawn(page)
    changes = service.get("/v1/placements/shop/changes").json()["changes"]
    shown = page.locator("#changes-of time").first
    assert shown.get_attribute("datetime") == changes[0]["time"]
    assert "GMT+5:30" in shown.inner_text()
    # counts by day are of days in UTC
    page.locator(".chart details summary").first.click()
    days = service.get("/v1/placements/shop/timeline?by=day").json()["starts"]
    newest = page.locator(".chart details tbody th").first.inner_text()
    assert newest.split(" ")[0] == str(int(days[-1][8:10]))
    viewer.context.close()


def test_a_broken_guardrail_is_listed_and_a_held_placement_can_go_live(watched: Watched, service: Client) -> None:
    service.define("guarded", holdout=0.1)
    service.decide("guarded")
    interval = {"low": 0.5, "high": 0.8}
    broken = {"metric": "orders", "event": "order", "worse_by": 0.1, "then": "control", "state": "broken"}
    broken |= {"sentence": "Orders are rarer.", "learned": 0.02, "holdout": 0.03, "too_early": None}
    broken["ratio"] = {"estimate": 0.67, **interval, "anytime": interval}

    def hold(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"guardrails": [broken], "mode": "held"})

    page = watched.open("/placements/shop")
    expect(page.locator("#guardrails")).to_be_empty()
    page.route("**/overview*", hold)
    page.goto(f"{watched.url}/placements/guarded")
    row = page.locator("[data-metric=orders]")
    expect(row).to_contain_text("Orders are rarer.")
    expect(row).to_contain_text("2.00\u202f% with learned lists, 3.00\u202f% in the holdout; may be lower by 10\u202f%")
    expect(page.locator("#facts")).to_contain_text("held by a guardrail")
    expect(page.get_by_role("button", name="Go live")).to_be_visible()
