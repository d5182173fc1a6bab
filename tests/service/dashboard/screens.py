"""Takes pictures of the dashboard in every state that somebody may meet it in, at three widths and in both schemes.

python -m tests.service.dashboard.screens FOLDER [STATE …]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.service.browser import CHROMIUM, OPTIONS
from tests.service.dashboard.conftest import ODD
from tests.service.dashboard.picture import past
from tests.service.serving import Client, Clock, serving
from tests.service.synthetic_history import Past, write
from tests.waiting import FOR_EVER

WIDTHS: Final = (390, 820, 1400)
SCHEMES: Final = ("light", "dark")
KEY: Final = "s3cret"
READ_KEY: Final = "r3ader"
MANY: Final = 100_000


@contextmanager
def service(folder: Path) -> Iterator[Client]:
    """With a placement for each state."""
    store, clock = f"sqlite:///{folder}/store.db", Clock()
    # the browser's: the page asks for the last so many days
    clock.now = time.time()
    write(store, "home", past(), clock.now)
    odd = {"slots": 4, "items": ODD, "holdout": 0.1}
    write(store, "odd", Past(odd, dict.fromkeys(ODD, 0.2), [1.0, 0.8, 0.6, 0.4], 48, 20), clock.now)
    write(store, "one", Past({"slots": 1, "items": ["only"]}, {"only": 0.2}, [1.0], 48, 20), clock.now)
    write(store, "named", named(), clock.now)
    for name, change in (("shadow", {"mode": "shadow"}), ("steady", {"exploring": False})):
        ordinary = past()
        write(store, name, Past({**ordinary.definition, **change}, *_rest(ordinary)), clock.now)
    headers = {"Authorization": f"Bearer {KEY}"}
    with serving(store, server_key=KEY, read_key=READ_KEY, headers=headers, clock=clock) as client:
        client.define("empty", holdout=0.1, segments={"device": ["mobile", "desktop"]})
        # the service's own picture: nothing leaves the machine
        icon = [
            {**item, "image": f"{str(client.base_url).rstrip('/')}/static/icon.svg"}
            for item in named().definition["items"]
        ]
        client.patch("/v1/placements/named", json={"items": icon}).raise_for_status()
        client.define("many", items=[f"item {number}" for number in range(MANY)], slots=3)
        yield client


def named(pictures: str = "https://shop.example/") -> Past:
    """Items with names, links and pictures, of which visitors suddenly like others."""
    items = [
        {"id": id, "name": name, "url": f"https://shop.example/{id}", "image": f"{pictures}{id}.svg"}
        for id, name in (("a", "Alpine tent"), ("b", "Hiking boots"), ("c", "Rain jacket"))
    ]
    liked = {"a": 0.05, "b": 0.2, "c": 0.1}
    return Past({"slots": 2, "items": items, "holdout": 0.1}, liked, [1.0, 0.5], 24 * 14, 60, turn=(72, {"a": 0.4}))


def _rest(past: Past) -> tuple[Any, ...]:
    return past.attractiveness, past.position_bias, past.hours, past.views_per_hour, past.shares


def _charts(page: Page) -> None:
    page.locator("main[data-ready]").wait_for()
    page.locator("svg.plot path.line").first.wait_for()


def _text(page: Page) -> None:
    page.locator("main[data-ready]").wait_for()
    page.get_by_text("Loading …").wait_for(state="detached")


def _dialog(action: str) -> Callable[[Page], None]:
    def open_it(page: Page) -> None:
        _charts(page)
        page.get_by_role("button", name=action, exact=True).click()
        page.locator("dialog").wait_for()

    return open_it


def _delete(page: Page) -> None:
    _dialog("Settings")(page)
    page.get_by_role("button", name="Delete this placement …").click()
    page.get_by_role("button", name="Delete permanently").wait_for()


#: by name: an address, the key that is sent, and what is waited for
STATES: Final[dict[str, tuple[str, str, Callable[[Page], None]]]] = {
    "ordinary": ("/placements/home", KEY, _charts),
    "list": ("/", KEY, lambda page: page.locator(".sentence", has_text=".").nth(6).wait_for()),
    "no-data": ("/placements/empty", KEY, _text),
    "one-item": ("/placements/one", KEY, _charts),
    "many-items": ("/placements/many", KEY, _text),
    "wrong-key": ("/placements/home", "wrong", lambda page: page.locator("#wrong").wait_for()),
    "shadow": ("/placements/shadow", KEY, _charts),
    "exploring-off": ("/placements/steady", KEY, _charts),
    "segment": ("/placements/home?segment=device:mobile&period=28d&range=90d", KEY, _charts),
    "odd-names": ("/placements/odd", KEY, _charts),
    "settings": ("/placements/home", KEY, _dialog("Settings")),
    "delete": ("/placements/home", KEY, _delete),
    "edit": ("/placements/named", KEY, _dialog("Edit a")),
    "named": ("/placements/named", KEY, _charts),
    "read-only": ("/placements/home", READ_KEY, _charts),
}
STOPPED: Final = "stopped"


def _opened(browser: Browser, url: str, state: str, scheme: str, width: int) -> Page:
    path, key, wait = STATES[state]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(FOR_EVER * 1000)
    context.add_init_script(f"sessionStorage.setItem('slotwise-key', {key!r})")
    page = context.new_page()
    page.goto(url + path)
    wait(page)
    return page


def _shoot(page: Page, folder: Path, state: str, scheme: str, width: int) -> None:
    # of a dialog, what is seen at once
    page.screenshot(path=folder / f"{state}-{width}-{scheme}.png", full_page=page.locator("dialog").count() == 0)
    print(state, width, scheme, "wide" if page.evaluate("document.documentElement.scrollWidth > innerWidth") else "")


def main(folder: Path, wanted: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    views = [(scheme, width) for scheme in SCHEMES for width in WIDTHS]
    left: list[tuple[Page, str, int]] = []
    with tempfile.TemporaryDirectory() as store, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        with service(Path(store)) as client:
            url = str(client.base_url).rstrip("/")
            for state in wanted:
                for scheme, width in views:
                    if state == STOPPED:
                        left.append((_opened(browser, url, "ordinary", scheme, width), scheme, width))
                    else:
                        page = _opened(browser, url, state, scheme, width)
                        _shoot(page, folder, state, scheme, width)
                        page.context.close()
        for page, scheme, width in left:
            page.get_by_text("The service does not respond").wait_for()
            _shoot(page, folder, STOPPED, scheme, width)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [*STATES, STOPPED])
