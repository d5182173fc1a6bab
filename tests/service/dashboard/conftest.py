"""One browser and one service for all tests of the dashboard: a shop with ten days behind it, and odd neighbours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.service.browser import CHROMIUM, OPTIONS
from tests.service.serving import Client, Clock, serving
from tests.service.synthetic_history import Past, write
from tests.waiting import FOR_EVER

KEY = "s3cret"
READ_KEY = "r3ader"
LIKED = {"boots": 0.4, "jacket": 0.25, "tent": 0.15, "torch": 0.08, "stove": 0.05, "map": 0.03}
SHOP: dict[str, Any] = {
    "slots": 3,
    "items": ["map", "stove", "torch", "tent", "jacket", "boots"],
    "holdout": 0.2,
    "segments": {"device": ["mobile", "desktop"]},
    "window_seconds": 60.0,
}
#: names that somebody may give to things
ODD = [
    "<script>document.title = 'pwned'</script>",
    "كتاب الطبخ العربي الكبير",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "Lebensmittelgeschäftsinhaberin" * 6,
    "x" * 200,
    "=1+1",
]


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('dashboard')}/store.db"
    clock = Clock()
    # the browser's: the page asks for the last so many days
    clock.now = time.time()
    days = 24 * 10
    shares = {"mobile": 0.6, "desktop": 0.4}
    changes = [(24 * 3, {"holdout": 0.1}), (24 * 6, {"items": SHOP["items"][:-1]})]
    write(store, "shop", Past(SHOP, LIKED, [1.0, 0.6, 0.4], days, 60, shares, changes=changes), clock.now)
    odd = {"slots": 4, "items": ODD, "holdout": 0.1}
    write(store, "odd", Past(odd, dict.fromkeys(ODD, 0.2), [1.0, 0.8, 0.6, 0.4], 48, 20), clock.now)
    write(store, "one", Past({"slots": 1, "items": ["only"]}, {"only": 0.2}, [1.0], 48, 20), clock.now)
    headers = {"Authorization": f"Bearer {KEY}"}
    with serving(store, server_key=KEY, read_key=READ_KEY, headers=headers, clock=clock) as client:
        yield client


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt install chromium, or any Chrome")
    expect.set_options(timeout=FOR_EVER * 1000)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield launched
        launched.close()


class Watched:
    """Tabs of one visitor, of which everything is noted that went wrong, and every address that was asked for."""

    def __init__(self, browser: Browser, service: Client, **options: Any) -> None:
        self.url = str(service.base_url).rstrip("/")
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(FOR_EVER * 1000)
        self.errors: list[str] = []
        self.asked: list[str] = []
        #: a page that stays
        self.kept: Page | None = None
        self.context.on("console", self._said)
        self.context.on("weberror", lambda problem: self.errors.append(str(problem.error)))
        self.context.on("request", self._requested)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.asked.append(request.url)

    def open(self, path: str = "/placements/shop", *, key: str | None = KEY) -> Page:
        """A tab, with all of its first numbers."""
        page = self.context.new_page()
        if key is not None:
            # at the first page only: a test may take it away
            page.add_init_script(
                f"sessionStorage.getItem('there') || (sessionStorage.setItem('slotwise-key', {key!r}),"
                " sessionStorage.setItem('there', 'yes'))"
            )
        page.goto(self.url + path)
        if key in (KEY, READ_KEY):
            page.locator("main[data-ready]").wait_for()
        return page

    def close(self) -> None:
        """Leave all pages: nothing is noted after that."""
        for page in self.context.pages:
            if page is not self.kept:
                page.close()


def drawn(page: Page) -> None:
    """Wait for what is read after the first numbers: charts and changes, or the sentences of all placements."""
    page.locator("main[data-ready]").wait_for()
    expect(page.get_by_text("Loading …")).to_have_count(0)
    expect(page.locator("#changes-list:empty, svg.plot:empty")).to_have_count(0)
    expect(page.get_by_text("…", exact=True)).to_have_count(0)


@pytest.fixture(scope="package")
def desk(browser: Browser, service: Client) -> Iterator[Watched]:
    """A desk, in the light, for one test after the other: a context of its own would double what a test costs."""
    visitor = Watched(browser, service, viewport={"width": 1280, "height": 900}, color_scheme="light")
    # while a page of the service is open, the next one need not start a process
    visitor.kept = visitor.context.new_page()
    visitor.kept.goto(f"{visitor.url}/docs")
    yield visitor
    visitor.context.close()


@pytest.fixture
def watched(desk: Watched) -> Iterator[Watched]:
    """Tabs at the desk; afterwards: nothing went wrong, and nothing left the machine."""
    desk.close()
    desk.errors.clear()
    desk.asked.clear()
    yield desk
    desk.close()
    assert desk.errors == []
    assert all(address.startswith(f"{desk.url}/") for address in desk.asked), desk.asked
