"""The demo over HTTP: what the page asks for and sends, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry
from starlette.routing import Router

from slotwise.demo.clock import ShopClock
from slotwise.demo.demo_pages import DemoPages
from slotwise.demo.service_calls import Calls
from slotwise.demo.shop import FIRST, LATER
from slotwise.demo.shop_engine import Shop
from slotwise.service.http.error_responses import MEDIA_TYPE
from slotwise.service.http.middleware.request_metrics import Watch


@pytest.fixture
def shop() -> Shop:
    return Shop(Calls("http://127.0.0.1:9"), ShopClock(), seed=1)


class Viewer:
    """Somebody at the demo's pages alone; the service behind them is not there."""

    def __init__(self, shop: Shop) -> None:
        app = Router(routes=DemoPages(shop).routes())
        self._transport = httpx.ASGITransport(Watch(app, CollectorRegistry()))

    def get(self, path: str) -> httpx.Response:
        return self._ask("GET", path)

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self._ask("POST", path, **body)

    def _ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **body)

        return asyncio.run(ask())


@pytest.fixture
def viewer(shop: Shop) -> Viewer:
    return Viewer(shop)


def test_a_change_is_made_and_reported(shop: Shop, viewer: Viewer) -> None:
    for path, body, said in [
        ("traffic", {"visitors_per_second": 40}, "40 visitors per second"),
        ("mobile", {"share": 0.8}, "80% on mobile"),
        ("popular", {"item": "mug"}, "Harbour mug becomes popular"),
        ("swap", {"first": 1, "second": 2}, "slots 1 and 2 swap visibility"),
    ]:
        answer = viewer.post(f"/demo/{path}", json=body)
        assert (answer.status_code, answer.json()) == (200, {"said": said})
    state = viewer.get("/demo/state").json()
    assert (state["visitors_per_second"], state["mobile_share"]) == (40, 0.8)
    assert [mark["said"] for mark in state["marks"]][2:] == ["Harbour mug becomes popular", said]
    assert shop.truth.visibility[0] < shop.truth.visibility[1]


@pytest.mark.parametrize(
    ("path", "body", "status", "named"),
    [
        ("traffic", {"visitors_per_second": 1e9}, 422, ("visitors_per_second", "1000000000")),
        ("traffic", {"visitors_per_second": "many"}, 422, ("visitors_per_second", "'many'")),
        ("traffic", {}, 422, ("visitors_per_second",)),
        ("traffic", {"visitors_per_second": 5, "more": 1}, 422, ("more",)),
        ("traffic", [], 422, ("body",)),
        ("mobile", {"share": -0.5}, 422, ("share", "-0.5")),
        ("mobile", {"share": None}, 422, ("share", "None")),
        ("popular", {"item": "sofa"}, 422, ("item", "'sofa'")),
        ("popular", {"item": 7}, 422, ("item", "7")),
        ("swap", {"first": 1, "second": 1}, 422, ("second", "1")),
        ("swap", {"first": 0, "second": 1}, 422, ("first", "0")),
        ("swap", {"first": 1.5, "second": 1}, 422, ("first", "1.5")),
        ("half-life", {"half_life_seconds": 0}, 422, ("half_life_seconds", "0")),
        ("popular", {"item": "x" * 2000}, 413, ()),
    ],
)
def test_invalid_changes_are_rejected_by_name_and_have_no_effect(
    shop: Shop, viewer: Viewer, path: str, body: Any, status: int, named: tuple[str, ...]
) -> None:
    before = (shop.truth, shop.visitors_per_second, shop.mobile_share, shop.half_life_seconds)
    answer = viewer.post(f"/demo/{path}", json=body)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == MEDIA_TYPE
    for part in named:
        assert part in answer.json()["detail"]
    assert (shop.truth, shop.visitors_per_second, shop.mobile_share, shop.half_life_seconds) == before
    assert not shop.marks


def test_invalid_json_is_rejected(viewer: Viewer) -> None:
    assert viewer.post("/demo/traffic", content=b"\xff{").status_code == 422
    assert viewer.get("/demo/traffic").status_code == 405


def test_there_is_a_picture_of_every_product(viewer: Viewer) -> None:
    page = viewer.get("/demo")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    for product in (*FIRST, *LATER):
        assert f'id="picture-{product.id}"' in page.text
    assert viewer.get("/demo/static/demo.js").status_code == 200


def test_nothing_is_known_before_the_first_visitor(viewer: Viewer) -> None:
    state = viewer.get("/demo/state").json()
    assert state["visitors"] == state["latest"]["visitors"] == 0
    assert state["lists"]["mobile"]["now"] == []
    assert all(item["learned"] == {} for item in state["items"])
    assert state["uplift"] is None
