"""The state of the shop for the demo's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# pydantic reads the one in `typing` from Python 3.12 on only
from typing_extensions import TypedDict

from slotwise.demo.clock import PACE
from slotwise.demo.regret_curve import Losses
from slotwise.demo.shop import DEVICES, PLACEMENT, Device
from slotwise.demo.shop_engine import (
    MAX_HALF_LIFE,
    MAX_TRAFFIC,
    MIN_HALF_LIFE,
    WINDOW_SECONDS,
    Shop,
)


class Learned(TypedDict):
    """An estimate of the service with its 95 % credible interval."""

    estimate: float
    low: float
    high: float


class LearnedOfItem(Learned):
    """An estimate of an item."""

    probability_in_best_list: float
    shown: int


class ItemState(TypedDict):
    """A product with its true and its estimated attractiveness in the first slot."""

    id: str
    name: str
    price: float
    truth: dict[Device, float]
    learned: dict[Device, LearnedOfItem]


class SlotState(TypedDict):
    """A slot with its true and its estimated visibility relative to the first."""

    slot: int
    truth: float
    learned: dict[Device, Learned]


class PlaceState(TypedDict):
    """An item in a slot, with its share of the recent lists there."""

    id: str
    share: float


class ListState(TypedDict):
    """The typical recent list on a device, and the best list."""

    now: list[PlaceState]
    best: list[str]


class LossState(TypedDict):
    """Expected clicks of the best lists, and the regret of each way to choose lists."""

    visitors: int
    best: float
    learned: float
    fixed: float
    at_random: float


class MarkState(TypedDict):
    """A change by the viewer."""

    seconds: float
    said: str


class State(TypedDict):
    """The state of the shop."""

    placement: str
    seconds: float
    """The viewer's seconds since the shop opened."""
    pace: float
    shop_time: float
    """Time of the shop's clock, in seconds since 1970."""
    window_seconds: float
    visitors: int
    visitors_per_second: float
    is_full: bool
    """Whether fewer visitors come because this machine is too slow."""
    most_visitors_per_second: float
    mobile_share: float
    half_life_seconds: float | None
    half_life_from: float
    half_life_to: float
    next_item: str | None
    items: list[ItemState]
    slots: list[SlotState]
    lists: dict[Device, ListState]
    losses: LossState
    latest: LossState
    curve: list[list[float]]
    """Seconds, visitors, then the regret of learned lists, of the control order and of random lists."""
    marks: list[MarkState]
    uplift: dict[str, Any] | None
    trouble: str | None


def state(shop: Shop) -> State:
    """Return the state of a shop."""
    next_product, everybody = shop.next_product(), shop.learned.get(None)
    return {
        "placement": PLACEMENT,
        "seconds": shop.seconds(),
        "pace": PACE,
        "shop_time": shop.time(),
        "window_seconds": WINDOW_SECONDS,
        "visitors": shop.visitors,
        "visitors_per_second": shop.visitors_per_second,
        "is_full": shop.is_full(),
        "most_visitors_per_second": MAX_TRAFFIC,
        "mobile_share": shop.mobile_share,
        "half_life_seconds": shop.half_life_seconds,
        "half_life_from": MIN_HALF_LIFE,
        "half_life_to": MAX_HALF_LIFE,
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
        "losses": _losses(shop.losses),
        "latest": _losses(shop.curve.latest()),
        "curve": [
            [seconds, losses.visitors, *(round(lost, 3) for lost in (losses.learned, losses.fixed, losses.at_random))]
            for seconds, losses in zip(shop.curve.seconds(), shop.curve.points, strict=True)
        ],
        "marks": [{"seconds": seconds, "said": said} for seconds, said in shop.marks],
        "uplift": None if everybody is None else everybody["uplift"],
        "trouble": shop.trouble,
    }


def _items(shop: Shop) -> list[ItemState]:
    estimates: dict[Device, dict[str, LearnedOfItem]] = {
        device: {
            item["id"]: {
                "estimate": item["attractiveness"],
                "low": item["low"],
                "high": item["high"],
                "probability_in_best_list": item["probability_in_best_list"],
                "shown": item["shown"],
            }
            for item in learned["items"]
        }
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


def _slots(shop: Shop) -> list[SlotState]:
    estimates: dict[Device, list[Learned]] = {
        device: [
            {"estimate": slot["estimate"], "low": slot["low"], "high": slot["high"]}
            for slot in learned["position_bias"]
        ]
        for device, learned in _by_device(shop)
    }
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


def _losses(losses: Losses) -> LossState:
    return {
        "visitors": losses.visitors,
        "best": losses.best,
        "learned": losses.learned,
        "fixed": losses.fixed,
        "at_random": losses.at_random,
    }
