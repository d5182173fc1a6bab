"""Routes of the demo: its page, its state, and the viewer's changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from slotwise.demo.clock import PACE
from slotwise.demo.shop import DEVICES, PLACEMENT, Device
from slotwise.demo.shop_engine import MAX_HALF_LIFE, MAX_TRAFFIC, MIN_HALF_LIFE, WINDOW_SECONDS, Shop
from slotwise.service.http.endpoint import BodyLimit, Operation
from slotwise.service.http.routes.pages import HEADERS, Assets

MAX_BYTES: Final = 1024


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Traffic(_Change):
    """Number of visitors."""

    visitors_per_second: Annotated[float, Field(ge=0.0, le=MAX_TRAFFIC)]


class Mobile(_Change):
    """Share of the visitors on a phone."""

    share: Annotated[float, Field(ge=0.0, le=1.0)]


class Popular(_Change):
    """The item that becomes popular."""

    item: str


class Swap(_Change):
    """Two slots, counted from 1."""

    first: int
    second: int


class HalfLifeChange(_Change):
    """Half-life of counts in the viewer's seconds; null for none, and "auto" for the one that predicts clicks best."""

    half_life_seconds: Annotated[float, Field(ge=MIN_HALF_LIFE, le=MAX_HALF_LIFE)] | Literal["auto"] | None


#: the change as text
Said = dict[str, str]


class DemoPages:
    """The routes under /demo."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        templates = Environment(
            loader=ChoiceLoader([PackageLoader("slotwise.demo"), PackageLoader("slotwise.service.http")]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        # there is no proxy
        templates.globals["root"] = ""
        self._page = templates.get_template("demo.html").render(
            minutes_a_second=f"{PACE / 60:g}", window=f"{WINDOW_SECONDS:g}"
        )

    def routes(self) -> list[BaseRoute]:
        """Return the routes; the OpenAPI document leaves them out."""
        changes: list[tuple[str, Any]] = [
            ("traffic", self.traffic),
            ("mobile", self.mobile),
            ("popular", self.popular),
            ("swap", self.swap),
            ("half-life", self.half_life),
            ("items", self.items),
        ]
        return [
            Route("/demo", self.page),
            Operation("GET", "/demo/state", self.state, answers={200: "The shop now."}).route(),
            *(
                Operation(
                    "POST", f"/demo/{name}", handler, answers={200: "Changed."}, body_limit=BodyLimit(MAX_BYTES)
                ).route()
                for name, handler in changes
            ),
            Mount("/demo/static", Assets(packages=[("slotwise.demo", "static")])),
        ]

    async def page(self, _: Request) -> Response:
        """Return the page, which requests its data itself."""
        return HTMLResponse(self._page, headers=HEADERS)

    async def state(self) -> tuple[int, dict[str, Any]]:
        """Return the shop's state."""
        return 200, state(self._shop)

    async def traffic(self, change: Traffic) -> tuple[int, Said]:
        """Change the number of visitors."""
        return 200, {"said": self._shop.set_traffic(change.visitors_per_second)}

    async def mobile(self, change: Mobile) -> tuple[int, Said]:
        """Change the share of visitors on a phone."""
        return 200, {"said": self._shop.set_mobile_share(change.share)}

    async def popular(self, change: Popular) -> tuple[int, Said]:
        """Make an item popular."""
        return 200, {"said": self._shop.make_popular(change.item)}

    async def swap(self, change: Swap) -> tuple[int, Said]:
        """Swap the visibility of two slots."""
        return 200, {"said": self._shop.swap(change.first, change.second)}

    async def half_life(self, change: HalfLifeChange) -> tuple[int, Said]:
        """Change the half-life of counts."""
        return 200, {"said": await self._shop.set_half_life(change.half_life_seconds)}

    async def items(self) -> tuple[int, Said]:
        """Add the next product."""
        return 200, {"said": await self._shop.add_item()}


def state(shop: Shop) -> dict[str, Any]:
    """Return the state of a shop, for the page. Times are in the viewer's seconds, except the shop's clock."""
    next_product, everybody = shop.next_product(), shop.learned.get(None)
    return {
        "placement": PLACEMENT,
        "seconds": shop.seconds(),
        "pace": PACE,
        "shop_time": shop.time(),
        "visitors": shop.visitors,
        "visitors_per_second": shop.visitors_per_second,
        "is_full": shop.is_full(),
        "mobile_share": shop.mobile_share,
        "half_life_seconds": shop.half_life_seconds,
        "next_item": None if next_product is None else next_product.name,
        "items": _items(shop),
        "slots": _slots(shop),
        "lists": {
            device: {
                "now": [{"id": place.item, "share": place.share} for place in shop.recent[device].typical()],
                "best": [*shop.truth.best_list(device)],
            }
            for device in DEVICES
        },
        "latest": shop.curve.latest()._asdict(),
        # seconds, visitors, then the regret of learned lists, of the control order and of sorting by clicks
        "curve": [
            [seconds, losses.visitors, *(round(lost, 3) for lost in (losses.learned, losses.fixed, losses.by_clicks))]
            for seconds, losses in zip(shop.curve.seconds(), shop.curve.points, strict=True)
        ],
        "marks": [{"seconds": seconds, "said": said} for seconds, said in shop.marks],
        "uplift": None if everybody is None else everybody["uplift"],
        "trouble": shop.trouble,
    }


def _items(shop: Shop) -> list[dict[str, Any]]:
    """Return products with their true and their estimated attractiveness in the first slot."""
    estimates = {
        device: {item["id"]: {**item, "estimate": item["attractiveness"]} for item in learned["items"]}
        for device, learned in _by_device(shop)
    }
    return [
        {
            "id": product.id,
            "name": product.name,
            "price": product.price,
            "truth": {device: shop.truth.attractiveness_in_first_slot(product.id, device) for device in DEVICES},
            "learned": {device: items[product.id] for device, items in estimates.items() if product.id in items},
        }
        for product in shop.products
        # a product that is just being added is missing
        if product.id in shop.truth.attractiveness
    ]


def _slots(shop: Shop) -> list[dict[str, Any]]:
    """Return slots with their true and their estimated visibility relative to the first."""
    estimates = {device: learned["position_bias"] for device, learned in _by_device(shop)}
    return [
        {
            "slot": slot,
            "truth": shop.truth.visibility_beside_first(slot),
            # by segment: if segments differ, the bias of all visitors fits none of them
            "learned": {device: slots[slot - 1] for device, slots in estimates.items() if slot <= len(slots)},
        }
        for slot in range(1, shop.truth.slots + 1)
    ]


def _by_device(shop: Shop) -> list[tuple[Device, Mapping[str, Any]]]:
    return [(device, shop.learned[device]) for device in DEVICES if device in shop.learned]
