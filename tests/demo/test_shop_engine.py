"""The shop on a real service, its visitors let in one by one: what is asked, counted, changed and lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.demo import shop_engine
from slotwise.demo.clock import ShopClock
from slotwise.demo.demo_pages import state
from slotwise.demo.service_calls import Calls
from slotwise.demo.shop import DEVICES, FIRST, HOLDOUT, LATER, PLACEMENT
from slotwise.demo.shop_engine import Shop, definition
from tests.service.serving import Client, serving
from tests.waiting import FOR_EVER


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and nobody looks at a list for long."""
    monkeypatch.setenv("SLOTWISE_COMPILE", "never")
    monkeypatch.setattr(shop_engine, "LOOK_SECONDS", 1e-3)


@contextmanager
def service(folder: Path) -> Iterator[Client]:
    """With the shop's placement; its clock is moved by tests."""
    with serving(f"sqlite:///{folder}/store.db") as client:
        client.put(f"/v1/placements/{PLACEMENT}", json=definition()).raise_for_status()
        yield client


def shop_on(client: Client, seed: int = 1) -> Shop:
    return Shop(Calls(str(client.base_url).rstrip("/")), ShopClock(), seed=seed)


def run(shop: Shop, *steps: Callable[[], Awaitable[object]]) -> None:
    async def all_of_them() -> None:
        try:
            for step in steps:
                await step()
        finally:
            shop._calls.close()

    asyncio.run(all_of_them())


def test_the_service_counts_exactly_the_visitors_actions(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        shop = shop_on(client)
        run(shop, *[partial(shop.visit, device) for device in DEVICES for _ in range(40)])
        found = client.settle(PLACEMENT, definition()["window_seconds"] + 1.0)
        assert shop.visitors == found["decisions"]["issued"] == found["decisions"]["final"] == 80
        counted = {segment["segment"]["device"]: segment["decisions"]["issued"] for segment in found["by_segment"]}
        assert counted == {"mobile": 40, "desktop": 40}
        # who was shown what was learned, and saw it
        assert shop.losses.visitors <= found["uplift"]["learned"]["shown"] + found["uplift"]["holdout"]["shown"]
        assert shop.losses.visitors == found["uplift"]["learned"]["shown"]
        truth = shop.truth
        fixed = {device: truth.lost_by_fixed(device) for device in DEVICES}
        assert min(fixed.values()) < shop.losses.fixed / shop.losses.visitors < max(fixed.values())
        assert 0.0 < shop.losses.learned < shop.losses.best
        assert shop.trouble is None


def test_the_holdout_sees_the_list_that_never_changes(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        client.patch(f"/v1/placements/{PLACEMENT}", json={"holdout": 1.0}).raise_for_status()
        assert tuple(client.decide(PLACEMENT)["items"]) == shop_on(client).truth.fixed_list
    assert 0.0 < HOLDOUT < 1.0


def test_a_new_product_is_in_the_shop_and_in_the_truth_and_there_is_an_end_of_them(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        shop = shop_on(client)
        # two at once are two products
        run(shop, lambda: asyncio.gather(shop.add_item(), shop.add_item()))
        listed = client.get(f"/v1/placements/{PLACEMENT}").json()["items"]
        assert {item["id"] for item in listed} == {*shop.truth.items} == {*(one.id for one in (*FIRST, *LATER[:2]))}
        assert {item["id"]: item["features"] for item in listed}["kite"] == {"room": "outdoors", "price": 24.0}
        run(shop, shop.add_item, shop.add_item)
        assert shop.next_product() is None
        with pytest.raises(InvalidInput, match="all 12 products are in the shop already"):
            run(shop, shop.add_item)
        assert sorted(said for _, said in shop.marks)[:2] == ["new: Brass telescope", "new: Door bell"]


def test_a_product_that_the_service_refuses_is_not_in_the_shop(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        shop = shop_on(client)
        client.delete(f"/v1/placements/{PLACEMENT}", params={"confirm": PLACEMENT}).raise_for_status()
        with pytest.raises(SlotwiseError, match="404"):
            run(shop, shop.add_item)
        assert shop.next_product() == LATER[0]
        assert [item["id"] for item in state(shop)["items"]] == [product.id for product in FIRST]


def test_the_shop_runs_with_the_defaults_of_the_product(tmp_path: Path) -> None:
    assert set(definition()) == {"slots", "items", "segments", "window_seconds", "holdout"}
    with service(tmp_path) as client:
        shop = shop_on(client)
        assert client.get(f"/v1/placements/{PLACEMENT}").json()["half_life"] == shop.half_life_seconds


def test_half_life_is_that_of_the_placement(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        shop = shop_on(client)
        run(shop, lambda: shop.set_half_life(20.0))
        # 20 of the viewer's seconds are two hours in the shop
        assert client.get(f"/v1/placements/{PLACEMENT}").json()["half_life"] == 2.0
        run(shop, lambda: shop.set_half_life("auto"))
        assert client.get(f"/v1/placements/{PLACEMENT}").json()["half_life"] == "auto"
        run(shop, lambda: shop.set_half_life(None))
        assert client.get(f"/v1/placements/{PLACEMENT}").json()["half_life"] is None
        with pytest.raises(InvalidInput, match="half_life_seconds must be null, auto or from 10 to 3600, got 9"):
            run(shop, lambda: shop.set_half_life(9.0))
        assert shop.half_life_seconds is None


def test_changes_are_changes_of_the_truth_and_are_marked(tmp_path: Path) -> None:
    shop = Shop(Calls("http://127.0.0.1:9"), ShopClock(), seed=1)
    before = shop.truth
    assert shop.make_popular("mug") == "Harbour mug becomes popular"
    assert shop.truth == before.made_popular("mug")
    shop.swap(1, 4)
    assert shop.truth == before.made_popular("mug").swapped(1, 4)
    shop.set_traffic(0.0)
    shop.set_mobile_share(1.0)
    assert len(shop.marks) == 4
    for wrong in (-1.0, 101.0, float("nan")):
        with pytest.raises(InvalidInput, match="visitors_per_second must be from 0 to 100, got"):
            shop.set_traffic(wrong)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput, match="share must be from 0 to 1, got"):
            shop.set_mobile_share(wrong)
    assert (shop.visitors_per_second, shop.mobile_share, len(shop.marks)) == (0.0, 1.0, 4)


def test_visitors_come_by_themselves_and_appear_in_the_state(tmp_path: Path) -> None:
    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(FOR_EVER):
            while not condition():
                await asyncio.sleep(0.02)

    async def watched(shop: Shop) -> None:
        shop.set_traffic(100.0)
        shop.set_mobile_share(1.0)
        working = asyncio.create_task(shop.stay_open())
        await until(lambda: shop.losses.visitors > 30 and len(shop.learned) == 3)
        # those who come from now on are all on desktop
        shop.set_mobile_share(0.0)
        await until(lambda: bool(shop.recent["desktop"].typical()))
        shop.set_traffic(0.0)
        await until(lambda: not shop._visits)
        came = shop.visitors
        await asyncio.sleep(0.3)
        assert shop.visitors == came
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    with service(tmp_path) as client:
        shop = shop_on(client)
        asyncio.run(watched(shop))
        found = state(shop)
        assert found["visitors"] == client.estimates(PLACEMENT)["decisions"]["issued"]
        assert found["curve"][-1][1] <= shop.losses.visitors
        for device in DEVICES:
            assert len({place["id"] for place in found["lists"][device]["now"]}) == 4
        assert {item["id"] for item in found["items"] if set(item["learned"]) == set(DEVICES)} == {*shop.truth.items}
        assert shop.trouble is None


def test_no_visitor_enters_while_too_many_wait_for_a_response(tmp_path: Path) -> None:
    async def crowded(shop: Shop) -> None:
        shop._calls.unanswered += shop_engine.MAX_UNANSWERED
        working = asyncio.create_task(shop.stay_open())
        async with asyncio.timeout(FOR_EVER):
            while not shop.is_full():
                await asyncio.sleep(0.02)
            assert not shop._visits
            assert state(shop)["is_full"]
            shop._calls.unanswered -= shop_engine.MAX_UNANSWERED
            while not shop.visitors:
                await asyncio.sleep(0.02)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    with service(tmp_path) as client:
        asyncio.run(crowded(shop_on(client)))


def test_changes_on_the_dashboard_do_no_harm(tmp_path: Path) -> None:
    """It is a real one, with a link to it on the page."""
    with service(tmp_path) as client:
        shop = shop_on(client)
        client.put(f"/v1/placements/{PLACEMENT}/items/sofa", json={}).raise_for_status()
        client.delete(f"/v1/placements/{PLACEMENT}/items/lamp").raise_for_status()
        client.patch(f"/v1/placements/{PLACEMENT}", json={"slots": 2}).raise_for_status()
        visits = [partial(shop.visit, device) for device in DEVICES for _ in range(20)]
        run(shop, *visits, *[partial(shop.read_learned, device) for device in (None, *DEVICES)])
        found = state(shop)
        assert found["visitors"] == 40
        assert [len(slot["learned"]) for slot in found["slots"]] == [2, 2, 0, 0]
        assert [item["id"] for item in found["items"]] == [product.id for product in FIRST]
        client.delete(f"/v1/placements/{PLACEMENT}", params={"confirm": PLACEMENT}).raise_for_status()
        run(shop, shop._visit)
        assert "there is no placement 'shop'" in str(state(shop)["trouble"])


def test_a_service_that_is_gone_is_trouble_and_no_more(tmp_path: Path) -> None:
    shop = Shop(Calls("http://127.0.0.1:9"), ShopClock(), seed=1)
    run(shop, shop._visit)
    assert shop.trouble is not None
    assert shop.visitors == 0
