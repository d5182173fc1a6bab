"""Pages with nothing, little, much or odd things on them, with a wrong key, or with a service that is gone."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.service.dashboard.conftest import KEY, ODD, Watched
from tests.service.process import free_port
from tests.service.serving import Client, serving
from tests.waiting import wait_for


def test_where_nothing_is_known_no_number_is_shown(watched: Watched, service: Client) -> None:
    service.define("empty", holdout=0.1)
    page = watched.open("/placements/empty")
    assert page.locator("#sentence").inner_text() == "Waiting for the first decision: connect your page."
    rows = page.locator("#items-table tbody tr")
    expect(rows).to_have_count(3)
    for row in rows.all():
        assert row.locator("td").all_inner_texts()[:5] == ["not known yet", "", "not known yet", "0", "0"]
    assert page.locator("#slots-table, #best-list, #uplift-card, #charts, #checks").count() == 0
    # from the first decision on there is a place for each number
    service.decide("empty")
    expect(page.locator("#slots-table .unknown")).to_have_count(2)
    expect(page.locator("#best-list .unknown")).to_have_count(2)
    assert page.locator("#pays .figure").count() == 0
    assert page.locator("#pays .unknown").count() == 1


def test_a_placement_of_one_item_has_nothing_to_choose(watched: Watched) -> None:
    page = watched.open("/placements/one")
    assert page.locator("#sentence").inner_text() == "There is one item, so there is nothing to choose between."
    assert page.locator("#best-list .name").all_inner_texts() == ["only"]


def test_any_name_is_shown_as_it_is_and_none_of_them_is_run(watched: Watched, service: Client) -> None:
    page = watched.open("/placements/odd")
    shown = page.locator("#items-table bdi").all_text_contents()
    assert sorted(shown) == sorted(ODD)
    assert page.title() == "odd · slotwise"
    assert page.locator("main script").count() == 0
    name = "<b>&amp;<b> “%2F” #?"
    service.define(quote(name, safe=""))
    page = watched.open("/")
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("h1")).to_have_text(name)
    page.set_viewport_size({"width": 390, "height": 800})
    wait_for(lambda: page.evaluate("innerWidth") == 390, "the smaller window")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("count", [500, pytest.param(100_000, marks=pytest.mark.long)])
def test_of_many_items_the_most_relevant_are_listed_and_the_others_searched(
    watched: Watched, service: Client, count: int
) -> None:
    name = f"many {count}"
    service.define(name, items=[f"item {number}" for number in range(count)], slots=3)
    page = watched.open(f"/placements/{name}")
    rows = page.locator("#items-table tbody tr")
    expect(rows).to_have_count(12)
    expect(page.get_by_text(f"The 12 most relevant of {count:,} items.")).to_be_visible()
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows).to_have_count(62)
    page.get_by_label("Find an item").fill("ITEM 49")
    expect(page.get_by_text(f"{sum('item 49' in f'item {n}' for n in range(count)):,} items with")).to_be_visible()
    page.get_by_label("Find an item").fill("item 499")
    first = rows.first.locator("bdi")
    expect(first).to_contain_text("item 499")
    page.get_by_label("Find an item").fill("nothing of the kind")
    expect(rows).to_have_count(0)
    # first: of what is deleted it would ask once more, and be refused
    page.close()
    service.delete(f"/v1/placements/{name}", params={"confirm": name})


def test_a_wrong_key_is_reported_and_shows_nothing(watched: Watched) -> None:
    page = watched.open(key="wrong")
    expect(page.locator("h1")).to_have_text("API key required")
    expect(page.locator("#wrong")).to_have_text("This API key is wrong.")
    assert page.locator("#sentence").count() == 0
    page.get_by_label("Key").fill("wrong again")
    page.get_by_role("button", name="Open").click()
    expect(page.locator("#wrong")).to_be_visible()
    page.get_by_label("Key").fill(KEY)
    page.get_by_role("button", name="Open").click()
    page.locator("#sentence").wait_for()
    watched.close()
    assert all("status of 401" in error for error in watched.errors)
    watched.errors.clear()


def test_without_a_key_it_asks_for_one(watched: Watched) -> None:
    page = watched.open("/", key=None)
    expect(page.locator("h1")).to_have_text("API key required")
    assert page.locator("#wrong").count() == 0
    assert page.get_by_role("button", name="New placement").count() == 0
    page.get_by_label("Key").fill(KEY)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="shop", exact=True).wait_for()
    watched.close()
    watched.errors.clear()


def test_an_unknown_placement_is_reported(watched: Watched) -> None:
    page = watched.context.new_page()
    page.add_init_script(f"sessionStorage.setItem('slotwise-key', {KEY!r})")
    page.goto(f"{watched.url}/placements/nobody")
    expect(page.locator("h1")).to_have_text("Placement not found")
    # what the charts ask for may be refused after what the page asks for
    watched.close()
    watched.errors.clear()


def test_a_stopped_service_is_reported_and_its_return_noticed(browser: Browser, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    port = free_port()
    with serving(store, on_port=port) as client:
        client.define("home", items=["a", "b"], slots=1)
        watched = Watched(browser, client)
        page = watched.open("/placements/home", key=None)
        page.locator("#sentence").wait_for()
        expect(page.locator("#live")).to_have_text("Live")
    expect(page.locator("#banner")).to_contain_text("The service does not respond.")
    expect(page.locator("#live")).to_have_text("No response")
    # what was there stays
    assert page.locator("#items-table .name").count() == 2
    page.get_by_role("button", name="Stop exploring").click()
    expect(page.locator("#result")).to_have_text("The service does not respond.")
    with serving(store, on_port=port) as client:
        client.define("home", items=["a", "b", "c"], slots=1)
        expect(page.locator("#banner")).to_be_hidden()
        expect(page.locator("#items-table tbody tr")).to_have_count(3)
        watched.context.close()
