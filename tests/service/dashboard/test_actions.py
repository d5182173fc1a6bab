"""Every action is asked first, done with the key, refused without it and listed; two tabs do not undo each other."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.service.dashboard.conftest import KEY, Watched
from tests.service.serving import Client
from tests.waiting import wait_for

ITEMS = ["tea", "coffee", "juice"]
TEA = {"id": "tea", "value": 2.5, "name": "Green tea", "url": "https://shop.example/tea"}


@pytest.fixture
def bar(service: Client, request: pytest.FixtureRequest) -> str:
    """The name of a placement of this test's own."""
    name = f"bar of {request.node.name}"[:200].replace("/", " ")
    service.define(name, items=ITEMS, slots=2)
    return name


def definition(service: Client, name: str) -> dict[str, Any]:
    found: dict[str, Any] = service.get(f"/v1/placements/{name}").json()
    return found


def begin(page: Page, action: str) -> Locator:
    """Press a button, and the dialog that asks; *Delete* is at the end of the settings."""
    page.get_by_role("button", name="Settings" if action == "Delete" else action, exact=True).click()
    dialog = page.locator("dialog")
    dialog.wait_for()
    if action == "Delete":
        dialog.get_by_role("button", name="Delete this placement …").click()
        page.get_by_role("dialog", name="Delete").wait_for()
    return dialog


def refused_without_key(page: Page, dialog: Locator, verb: str, is_untouched: Callable[[], bool]) -> Locator:
    """Without a key, and with a wrong one, nothing is done; then the right one is typed, and this button confirms."""
    page.evaluate("sessionStorage.removeItem('slotwise-key')")
    confirm = dialog.get_by_role("button", name=verb, exact=True)
    confirm.click()
    expect(dialog.locator(".problem")).to_have_text("This needs the API key.")
    assert is_untouched()
    dialog.get_by_label("Key").fill("wrong")
    confirm.click()
    expect(dialog.locator(".problem")).to_have_text("This API key is wrong.")
    assert is_untouched()
    dialog.get_by_label("Key").fill(KEY)
    return confirm


def add(dialog: Locator) -> None:
    dialog.get_by_label("Items, one a line").fill("tea\nmilk\n\n  milk ")


def change_settings(dialog: Locator) -> None:
    dialog.get_by_label("Holdout, % of views").fill("25")
    dialog.get_by_text("More settings").click()
    dialog.get_by_label("Segments").fill("device: mobile, desktop")
    dialog.get_by_label("Reward", exact=True).fill("purchase: value\nsaved: 0.5")
    dialog.get_by_label("Reward window, days").fill("7")


def reorder(dialog: Locator) -> None:
    dialog.get_by_label("Items, one a line").fill("juice\ntea\ncoffee")


def edit(dialog: Locator) -> None:
    dialog.get_by_label("Name").fill("Green tea")
    dialog.get_by_label("Link").fill("https://shop.example/tea")
    dialog.get_by_label("Value of a click").fill("2.5")
    dialog.get_by_label("Pinned to").select_option("Slot 2")


def nothing(_: Locator) -> None:
    """It only asks."""


#: what an action is called, what is filled in, what confirms it, and what it makes of the placement
ACTIONS: dict[str, tuple[Callable[[Locator], None], str, Callable[[dict[str, Any]], bool]]] = {
    "Add items": (add, "Add", lambda now: now["items"] == [*ITEMS, "milk"]),
    "Settings": (
        change_settings,
        "Save",
        lambda now: (
            now.items()
            >= {
                "holdout": 0.25,
                "segments": {"device": ["mobile", "desktop"]},
                "reward": {"purchase": "value", "saved": 0.5},
                "reward_days": 7.0,
            }.items()
        ),
    ),
    "Control order": (reorder, "Save", lambda now: now["items"] == ["juice", "tea", "coffee"]),
    "Edit tea": (edit, "Save", lambda now: TEA in now["items"] and now["pin"] == {"tea": 2}),
    "Retire tea": (nothing, "Retire", lambda now: now["items"] == ["coffee", "juice"]),
    "Stop exploring": (nothing, "Stop exploring", lambda now: now["exploring"] is False),
    "Shadow mode": (nothing, "Shadow mode", lambda now: now["mode"] == "shadow"),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_it_is_asked_first_then_done_and_listed(watched: Watched, service: Client, bar: str, action: str) -> None:
    fill, verb, done = ACTIONS[action]
    page, before = watched.open(f"/placements/{bar}"), definition(service, bar)
    dialog = begin(page, action)
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="detached")
    assert definition(service, bar) == before
    dialog = begin(page, action)
    fill(dialog)
    dialog.get_by_role("button", name=verb, exact=True).click()
    dialog.wait_for(state="detached")
    after = definition(service, bar)
    assert done(after), after
    expect(page.locator("#changes-of > li")).to_have_count(2)
    expect(page.locator("#result")).not_to_be_empty()


@pytest.mark.parametrize("action", [*ACTIONS, "Delete"])
def test_without_the_key_it_is_refused_and_with_it_done(
    watched: Watched, service: Client, bar: str, action: str
) -> None:
    fill, verb, done = ACTIONS.get(action, (nothing, "Delete permanently", None))
    page, before = watched.open(f"/placements/{bar}"), definition(service, bar)
    dialog = begin(page, action)
    fill(dialog)
    if action == "Delete":
        dialog.get_by_label("Type the placement's name").fill(bar)
    confirm = refused_without_key(page, dialog, verb, lambda: definition(service, bar) == before)
    confirm.click()
    dialog.wait_for(state="detached")
    if done is None:
        page.wait_for_url(f"{watched.url}/")
        assert service.get(f"/v1/placements/{bar}").status_code == 404
    else:
        assert done(definition(service, bar))
        # the page itself was refused meanwhile, perhaps, and is there again
        page.locator("#sentence").wait_for()
    # of what was deleted, the page may ask once more before it is left
    _expect_only(watched, 401, *([404] if done is None else []))


def test_a_refusal_from_before_the_key_was_typed_does_not_take_it_away(
    watched: Watched, service: Client, bar: str
) -> None:
    page = watched.open(f"/placements/{bar}")
    dialog = begin(page, "Stop exploring")
    questions: list[Route] = []
    changes: list[Route] = []

    def hold_without_key(route: Route) -> None:
        if "authorization" in route.request.headers:
            route.continue_()
        else:
            questions.append(route)

    def came(held: list[Route]) -> bool:
        # what happened meanwhile is noticed while it waits
        page.wait_for_timeout(20)
        return bool(held)

    page.route("**/overview*", hold_without_key)
    page.evaluate("sessionStorage.removeItem('slotwise-key')")
    confirm = dialog.get_by_role("button", name="Stop exploring", exact=True)
    confirm.click()
    expect(dialog.locator(".problem")).to_have_text("This needs the API key.")
    wait_for(lambda: came(questions), "a question without the key")
    page.route(re.compile(r"/v1/placements/[^/]+$"), lambda route: changes.append(route))
    dialog.get_by_label("Key").fill(KEY)
    confirm.click()
    wait_for(lambda: came(changes), "the change")
    with page.expect_response("**/overview*"):
        questions[0].continue_()
    changes[0].continue_()
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="Start exploring", exact=True).wait_for()
    assert definition(service, bar)["exploring"] is False
    _expect_only(watched, 401)


def _expect_only(watched: Watched, *statuses: int) -> None:
    """The browser says by itself, as an error, that a request was refused; nothing else may have gone wrong."""
    watched.close()
    said = [f"the server responded with a status of {status} " for status in statuses]
    assert watched.errors
    assert all(any(one in error for one in said) for error in watched.errors), watched.errors
    watched.errors.clear()


@pytest.mark.parametrize(("pause", "resume"), [("Stop exploring", "Start exploring"), ("Shadow mode", "Go live")])
def test_exploring_is_paused_and_resumed(watched: Watched, service: Client, bar: str, pause: str, resume: str) -> None:
    page = watched.open(f"/placements/{bar}")
    for action in (pause, resume):
        begin(page, action).get_by_role("button", name=action, exact=True).click()
        page.get_by_role("button", name=resume if action == pause else pause, exact=True).wait_for()
    assert (definition(service, bar)["mode"], definition(service, bar)["exploring"]) == ("live", True)


def describe_new(page: Page, name: str, *, slots: str, items: str) -> Locator:
    """Fill in what a new placement is to be."""
    dialog = begin(page, "New placement")
    for label, text in (("Name", name), ("Slots", slots), ("Items, one a line", items)):
        dialog.get_by_label(label).fill(text)
    return dialog


def test_a_placement_is_made_and_deleted(watched: Watched, service: Client) -> None:
    page = watched.open("/")
    dialog = describe_new(page, "made/here", slots="2", items="a\nb\nc")
    make = dialog.get_by_role("button", name="Create")
    make.click()
    expect(dialog.locator(".problem")).to_have_text("A name must not contain a slash.")
    # what is there already is not replaced
    dialog.get_by_label("Name").fill("shop")
    make.click()
    expect(dialog.locator(".problem")).not_to_be_empty()
    assert definition(service, "shop")["slots"] == 3
    page.reload()
    dialog = describe_new(page, "made here 🎪", slots="2", items="a\nb\nc")
    dialog.get_by_role("button", name="Create").click()
    page.wait_for_url("**/placements/made*")
    expect(page.locator("h1")).to_have_text("made here 🎪")
    made = definition(service, "made here 🎪")
    assert (made["items"], made["holdout"], made["window_seconds"]) == (["a", "b", "c"], 0.1, 1800)
    dialog = begin(page, "Delete")
    dialog.get_by_label("Type the placement's name").fill("another")
    dialog.get_by_role("button", name="Delete permanently").click()
    expect(dialog.locator(".problem")).to_have_text("This is not the placement's name.")
    dialog.get_by_label("Type the placement's name").fill("made here 🎪")
    dialog.get_by_role("button", name="Delete permanently").click()
    page.wait_for_url(f"{watched.url}/")
    assert service.get("/v1/placements/made here 🎪").status_code == 404
    _expect_only(watched, 412)


def test_without_the_key_nothing_is_made(watched: Watched, service: Client) -> None:
    page = watched.open("/")
    dialog = describe_new(page, "made with a key", slots="1", items="a\nb")

    def is_missing() -> bool:
        return service.get("/v1/placements/made with a key").status_code == 404

    refused_without_key(page, dialog, "Create", is_missing).click()
    page.wait_for_url("**/placements/made*")
    assert definition(service, "made with a key")["items"] == ["a", "b"]
    _expect_only(watched, 401)


def test_without_the_key_nothing_is_exported(watched: Watched, service: Client, bar: str) -> None:
    page = watched.open(f"/placements/{bar}")
    saved: list[str] = []
    page.on("download", lambda download: saved.append(download.suggested_filename))
    dialog = begin(page, "Export")
    dialog.get_by_label("Data").select_option("Definition, JSON, for PUT")
    confirm = refused_without_key(page, dialog, "Download", lambda: saved == [])
    with page.expect_download() as download:
        confirm.click()
    assert json.loads(Path(download.value.path()).read_text())["items"] == ITEMS
    dialog.wait_for(state="detached")
    assert len(saved) == 1
    _expect_only(watched, 401)


def test_estimates_are_exported_as_files(watched: Watched, service: Client, tmp_path: Path) -> None:
    page = watched.open()
    for what, ending in (("Items with their estimates, CSV", "csv"), ("All estimates and the tally, JSON", "json")):
        dialog = begin(page, "Export")
        dialog.get_by_label("Data").select_option(what)
        with page.expect_download() as saved:
            dialog.get_by_role("button", name="Download").click()
        dialog.wait_for(state="detached")
        saved.value.save_as(tmp_path / f"file.{ending}")
    estimates = service.estimates("shop")
    assert json.loads((tmp_path / "file.json").read_text()) == estimates
    head, *rows = (tmp_path / "file.csv").read_text().splitlines()
    assert head.split(",")[:2] == [*estimates["items"][0]][:2]
    assert [row.split(",")[0] for row in rows] == [item["id"] for item in estimates["items"]]


def test_the_csv_file_has_no_estimate_of_an_item_that_was_never_shown(
    watched: Watched, service: Client, bar: str
) -> None:
    service.define(bar, items=ITEMS, slots=1, window_seconds=60.0)
    decision = service.decide(bar)
    service.report(decision, clicked=decision["items"][0])
    service.settle(bar)
    page = watched.open(f"/placements/{bar}")
    dialog = begin(page, "Export")
    dialog.get_by_label("Data").select_option("Items with their estimates, CSV")
    with page.expect_download() as saved:
        dialog.get_by_role("button", name="Download").click()
    rows = [*csv.DictReader(Path(saved.value.path()).read_text().splitlines())]
    assert {row["id"]: bool(row["attractiveness"]) for row in rows} == {
        item: item == decision["items"][0] for item in ITEMS
    }


def test_of_two_tabs_the_one_with_an_old_state_is_refused(watched: Watched, service: Client, bar: str) -> None:
    first, second = watched.open(f"/placements/{bar}"), watched.open(f"/placements/{bar}")
    one, other = begin(first, "Settings"), begin(second, "Add items")
    one.get_by_label("Holdout, % of views").fill("30")
    add(other)
    one.get_by_role("button", name="Save", exact=True).click()
    one.wait_for(state="detached")
    other.get_by_role("button", name="Add", exact=True).click()
    expect(other.locator(".problem")).to_contain_text("Somebody else changed this placement in the meantime")
    assert other.get_by_role("button", name="Add", exact=True).is_disabled()
    after = definition(service, bar)
    assert (after["holdout"], after["items"]) == (0.3, ITEMS)
    # looked at anew, it is done
    other.get_by_role("button", name="Cancel").click()
    other.wait_for(state="detached")
    other = begin(second, "Add items")
    add(other)
    other.get_by_role("button", name="Add", exact=True).click()
    other.wait_for(state="detached")
    after = definition(service, bar)
    assert (after["holdout"], after["items"]) == (0.3, [*ITEMS, "milk"])
    _expect_only(watched, 412)


def test_a_rejected_change_is_explained_in_the_dialog_which_keeps_the_input(
    watched: Watched, service: Client, bar: str
) -> None:
    page = watched.open(f"/placements/{bar}")
    dialog = begin(page, "Settings")
    dialog.get_by_label("Slots", exact=True).fill("7")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.locator(".problem")).to_contain_text("slots")
    assert dialog.get_by_label("Slots", exact=True).input_value() == "7"
    assert definition(service, bar)["slots"] == 2
    _expect_only(watched, 422)
