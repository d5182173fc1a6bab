"""The site in docs/example_site.py, as a process of its own, asked over HTTP and by a browser."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.plain_python import nothing_is_compiled
from tests.service.browser import Tab, needs_a_browser, opened
from tests.service.process import free_port
from tests.service.serving import Client, serving
from tests.waiting import FOR_EVER, wait_for

__all__ = ["nothing_is_compiled"]

EXAMPLE = Path(__file__).parents[1] / "docs" / "example_site.py"
FALLBACK = ["tea", "coffee", "milk"]
WINDOW = 600.0

#: once it is known whether the list is in view
SEEN = """new Promise(function (done) {
  new IntersectionObserver(function (_, watch) { watch.disconnect(); done(true); })
    .observe(document.querySelector("[data-item]"));
})"""


@contextlib.contextmanager
def site(service: str, **environment: str) -> Iterator[str]:
    """The address of the example, which asks that service."""
    told = {**os.environ, "SLOTWISE_URL": service, "SLOTWISE_TIMEOUT": str(FOR_EVER), "PORT": "0", **environment}
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE)], env=told, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module")
def one_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db") as client:
        yield client


@pytest.fixture
def service(one_service: Client) -> Client:
    """As on the first day: nobody has made the placement yet."""
    one_service.delete("/v1/placements/drinks", params={"confirm": "drinks"})
    return one_service


def visitor(address: str) -> httpx.Client:
    """Somebody with cookies of their own."""
    return httpx.Client(base_url=address, timeout=FOR_EVER)


def listed(page: httpx.Response) -> list[str]:
    assert page.status_code == 200
    return [unescape(item) for item in re.findall(r'data-item="([^"]+)"', page.text)]


def token(page: httpx.Response) -> str:
    found = re.search(r'data-token="([^"]*)"', page.text)
    assert found is not None
    return found[1]


def counted(service: Client) -> dict[str, int]:
    found: dict[str, int] = service.estimates("drinks")["decisions"]
    return found


def reports(service: Client) -> dict[str, int]:
    """How many there were so far, by what became of them."""
    found = re.findall(r'^slotwise_reports_total\{verdict="(\w+)"\} (\S+)$', service.get("/metrics").text, re.MULTILINE)
    return {verdict: int(float(count)) for verdict, count in found}


def address_of(service: Client) -> str:
    return str(service.base_url).rstrip("/")


def test_a_visit_of_several_pages_is_one_decision(service: Client) -> None:
    with site(address_of(service)) as address, visitor(address) as somebody:
        page = somebody.get("/")
        assert len(listed(page)) == 3
        assert f"{address_of(service)}/slotwise.js" in page.text
        assert page.headers["cache-control"] == "no-store"
        links = re.findall(r'href="(/drinks/[^"]+)"', page.text)
        elsewhere = ["/favicon.ico", "/robots.txt", "/drinks/", "/drinks/wine", "/index.html"]
        # without the cookie, which would make all of it one decision
        asked = [httpx.get(address + path, timeout=FOR_EVER).status_code for path in (*links, *elsewhere)]
        assert asked == [200] * len(links) + [404] * len(elsewhere)
        assert httpx.head(address, timeout=FOR_EVER).status_code == 501
        assert counted(service)["issued"] == 1


def test_a_visitor_who_comes_back_sees_the_same_list_and_clicks_once(service: Client) -> None:
    with site(address_of(service)) as address, visitor(address) as somebody, visitor(address) as another:
        page = somebody.get("/")
        clicked, instead, _ = listed(page)
        report = {"token": token(page), "clicked": clicked}
        assert service.post("/v1/outcomes", json=report).json() == {"duplicate": False}
        again = somebody.get("/?from=back")
        assert (listed(again), token(again)) == (listed(page), token(page))
        assert service.post("/v1/outcomes", json=report).json() == {"duplicate": True}
        assert service.post("/v1/outcomes", json={**report, "clicked": instead}).status_code == 409
        assert counted(service)["issued"] == 1
        assert token(another.get("/")) != token(page)
        assert counted(service)["issued"] == 2
    found = service.settle("drinks", seconds=WINDOW + 1.0)["decisions"]
    assert (found["clicked"], found["no_click"]) == (1, 1)


def test_many_first_visitors_at_once_each_get_a_decision(service: Client) -> None:
    with site(address_of(service)) as address, ThreadPoolExecutor(8) as visitors:
        pages = [*visitors.map(lambda _: httpx.get(address, timeout=FOR_EVER), range(8))]
        assert len({token(page) for page in pages} - {""}) == counted(service)["issued"] == 8


def test_a_prefetch_is_no_page_view(service: Client) -> None:
    with site(address_of(service)) as address, visitor(address) as somebody:
        assert somebody.get("/", headers={"Sec-Purpose": "prefetch"}).status_code == 503
        assert somebody.get("/").status_code == 200
        assert counted(service)["issued"] == 1


@pytest.mark.parametrize("cookie", ["view=", "view=zz", "view=" + "a" * 33, 'view="\\', "=;=", "x" * 4000])
def test_a_cookie_that_is_not_ours_is_replaced(service: Client, cookie: str) -> None:
    with site(address_of(service)) as address:
        page = httpx.get(address, headers={"Cookie": cookie}, timeout=FOR_EVER)
        assert len(listed(page)) == 3
        assert re.match("view=[0-9a-f]{32};", page.headers["set-cookie"])


def test_an_existing_placement_stays_unchanged(service: Client) -> None:
    service.define("drinks", items=["<b>&", "tea"], slots=2)
    with site(address_of(service)) as address, visitor(address) as somebody:
        page = somebody.get("/")
        assert sorted(listed(page)) == ["<b>&", "tea"]
        assert "<b>&" not in page.text
        assert 'href="/drinks/%3Cb%3E%26"' in page.text


def test_while_the_service_is_down_the_page_shows_its_own_list_and_later_the_learned_one(tmp_path: Path) -> None:
    port = free_port()
    with site(f"http://127.0.0.1:{port}") as address, visitor(address) as somebody:
        page = somebody.get("/")
        assert listed(page) == FALLBACK
        assert "<script" not in page.text
        with serving(f"sqlite:///{tmp_path}/store.db", on_port=port) as service:
            assert token(somebody.get("/"))
            assert counted(service)["issued"] == 1
        assert listed(somebody.get("/")) == FALLBACK


def test_a_service_that_does_not_answer_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address_of_silent = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with site(address_of_silent, SLOTWISE_TIMEOUT="0.1") as address, visitor(address) as somebody:
            assert listed(somebody.get("/")) == FALLBACK


def click(tab: Tab, slot: int) -> None:
    """On the link in that slot, and wait for the page that it leads to."""
    link = f"document.querySelectorAll('[data-item]')[{slot - 1}]"
    drink = tab.run(f"{link}.dataset.item")
    tab.run(f"{link}.click()")
    tab.wait_for(f"location.pathname === '/drinks/{drink}' && document.readyState === 'complete'")


@needs_a_browser
def test_a_browser_reports_one_outcome_for_all_that_a_visitor_does(service: Client, tmp_path: Path) -> None:
    """They leave without a click, come back and click, go back and click on something else."""
    before = reports(service)

    def came(verdict: str, count: int) -> None:
        wait_for(lambda: reports(service).get(verdict, 0) - before.get(verdict, 0) == count, f"{verdict} {count}")

    with site(address_of(service)) as address, opened(tmp_path / "browser") as tab:
        tab.open(f"{address}/")
        tab.run(SEEN)
        tab.open("about:blank")
        came("recorded", 1)
        tab.open(f"{address}/")
        click(tab, slot=1)
        came("recorded", 2)
        tab.run("history.back()")
        tab.wait_for("location.pathname === '/' && document.readyState === 'complete'")
        click(tab, slot=2)
        came("conflict", 1)
        found = service.settle("drinks", seconds=WINDOW + 1.0)
    assert (found["decisions"]["issued"], found["decisions"]["clicked"]) == (1, 1)
    # the first click is the one that stands
    assert [sum(slot) for slot in found["tally"]["clicks"]] == [1, 0, 0]


@needs_a_browser
def test_a_browser_reports_a_seen_list_without_a_click(service: Client, tmp_path: Path) -> None:
    with site(address_of(service)) as address, opened(tmp_path / "browser") as tab:
        tab.open(f"{address}/")
        tab.run(SEEN)
        tab.open("about:blank")
        wait_for(lambda: counted(service)["reported"] == 1, "the report")
        found = service.settle("drinks", seconds=WINDOW + 1.0)["decisions"]
    assert (found["issued"], found["no_click"], found["not_shown"]) == (1, 1, 0)
