"""The shop: what it sells, and what its visitors like. Nobody tells the service the latter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Device = Literal["mobile", "desktop"]
DEVICES: Final[tuple[Device, ...]] = get_args(Device)

PLACEMENT: Final = "shop"


@dataclass(frozen=True)
class Product:
    """Something to show; there is a picture of it under its id."""

    id: str
    name: str
    room: str
    price: float
    #: to visitors on each device: α
    attractiveness: dict[Device, float]

    def item(self) -> dict[str, Any]:
        """As the placement lists it."""
        return {"id": self.id, **self.settings()}

    def settings(self) -> dict[str, Any]:
        """What the service is told of it beside its id."""
        return {"features": {"room": self.room, "price": self.price}}


def _product(id: str, name: str, room: str, price: float, mobile: float, desktop: float) -> Product:
    return Product(id, name, room, price, {"mobile": mobile, "desktop": desktop})


#: in the order in which somebody once put them, which is what the holdout sees
FIRST: Final = (
    _product("candle", "Storm candle", "living room", 9.0, 0.10, 0.08),
    _product("blanket", "Wool blanket", "living room", 89.0, 0.16, 0.30),
    _product("mug", "Harbour mug", "kitchen", 14.0, 0.22, 0.14),
    _product("radio", "Kitchen radio", "kitchen", 129.0, 0.12, 0.38),
    _product("kettle", "Whistling kettle", "kitchen", 45.0, 0.30, 0.22),
    _product("teapot", "Round teapot", "kitchen", 52.0, 0.08, 0.18),
    _product("plant", "Windowsill plant", "living room", 19.0, 0.55, 0.26),
    _product("lamp", "Reading lamp", "living room", 75.0, 0.40, 0.62),
)
#: what may be added, one after the other
LATER: Final = (
    _product("kite", "Paper kite", "outdoors", 24.0, 0.85, 0.25),
    _product("telescope", "Brass telescope", "outdoors", 210.0, 0.15, 0.90),
    _product("umbrella", "Yellow umbrella", "outdoors", 38.0, 0.35, 0.30),
    _product("bell", "Door bell", "living room", 12.0, 0.05, 0.05),
)
#: λ: how visible each slot is at first
VISIBILITY: Final = (1.0, 0.65, 0.45, 0.30)
#: the share of the visitors who see the list as somebody once put it
HOLDOUT: Final = 0.1
