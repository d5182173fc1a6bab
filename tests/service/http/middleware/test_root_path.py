"""A service under a path of a proxy's, and what it believes of what a proxy says."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from slotwise.service import http
from slotwise.service.http.middleware.auth import FORWARDED
from tests.plain_python import nothing_is_compiled
from tests.service.serving import Client, serving

__all__ = ["nothing_is_compiled"]

KEY = "s3cret"
FOR_A_KEY = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('proxies')}/store.db"
    with serving(store, server_key=KEY, root_path="/shop/slotwise", headers=FOR_A_KEY) as found:
        found.define()
        yield found


@pytest.mark.parametrize("prefix", ["", "/shop/slotwise"])
def test_a_proxy_may_take_its_path_off_or_leave_it(client: Client, prefix: str) -> None:
    for path in ("/", "/docs", "/openapi.json", "/healthz", "/slotwise.js", "/static/page.css", "/placements/home"):
        assert client.get(prefix + path, headers={"Authorization": ""}).status_code == 200, path
    assert client.get(f"{prefix}/v1/placements", headers={"Authorization": ""}).status_code == 401
    decision = client.post(f"{prefix}/v1/placements/home/decisions", json={}).json()
    reported = client.post(
        f"{prefix}/v1/outcomes",
        json={"token": decision["token"], "clicked": decision["items"][0]},
        headers={"Authorization": "", "Origin": "https://elsewhere.example"},
    )
    assert reported.json() == {"duplicate": False}
    assert reported.headers["access-control-allow-origin"] == "https://elsewhere.example"


def test_the_path_alone_leads_to_the_dashboard(client: Client) -> None:
    answer = client.get("/shop/slotwise")
    assert (answer.status_code, answer.headers["location"]) == (308, "/shop/slotwise/")


@pytest.mark.parametrize("path", ["/shop", "/shop/", "/shop/slotwisely", "/shop/slotwise/shop/slotwise/healthz"])
def test_a_path_that_only_resembles_the_root_is_not_found(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_pages_and_the_document_lead_below_the_path(client: Client) -> None:
    for page in ("/", "/docs"):
        led = re.findall(r'(?:href|src)="(/[^"]*)"', client.get(page).text)
        assert led
        assert all(address.startswith("/shop/slotwise/") for address in led), page
    assert client.get("/openapi.json").json()["servers"] == [{"url": "/shop/slotwise"}]


def test_pages_use_only_relative_addresses() -> None:
    """Under a path, a module that is imported from the top of the host, or a link that leads there, is not found."""
    package = Path(http.__file__).parent
    for script in package.glob("static/**/*.js"):
        assert not re.search(r'(from|import|import\() ?"/', script.read_text()), script.name
    for template in package.glob("templates/**/*.html"):
        assert not re.search(r'(href|src|action)="/', template.read_text()), template.name


@pytest.mark.parametrize("header", sorted(FORWARDED))
def test_without_a_key_a_proxy_passes_nothing_on(tmp_path: Path, header: str) -> None:
    """Many proxies name as the host where they pass a request on to, which is this machine."""
    with serving(f"sqlite:///{tmp_path}/store.db", wait=False) as client:
        assert client.get("/v1/placements").status_code != 403
        refused = client.get("/v1/placements", headers={header: "for=203.0.113.9"})
        assert refused.status_code == 403
        assert "SLOTWISE_SERVER_KEY" in refused.json()["detail"]


@pytest.mark.parametrize(("trusted", "believed"), [("127.0.0.0/8", "203.0.113.9"), ("198.51.100.7", "127.0.0.1")])
def test_only_a_trusted_proxys_headers_are_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, trusted: str, believed: str
) -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "Host": "shop.example"}
    store = f"sqlite:///{tmp_path}/store.db"
    with (
        serving(store, server_key=KEY, trusted_proxies=trusted, wait=False) as client,
        caplog.at_level(logging.WARNING, "slotwise.service"),
    ):
        assert client.get("/v1/placements", headers={**forwarded, "Authorization": "Bearer wr0ng"}).status_code == 401
        assert client.get("/v1/placements", headers=forwarded).status_code == 401
    # the one that had no key at all is not worth a line
    (logged,) = [record.__dict__ for record in caplog.records if record.message == "wrong key"]
    expected = {"client": believed, "host": "shop.example", "path": "/v1/placements"}
    assert {name: logged[name] for name in expected} == expected
    assert logged["scheme"] == ("https" if believed == "203.0.113.9" else "http")
    assert "wr0ng" not in caplog.text
