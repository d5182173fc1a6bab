"""The shop: its products, and its visitors' tastes, which the service does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Device = Literal["mobile", "desktop"]
DEVICES: Final[tuple[Device, ...]] = get_args(Device)

PLACEMENT: Final = "shop"


@dataclass(frozen=True)
class Product:
    """A product; its picture has the same id."""

    id: str
    name: str
    room: str
    price: float
    #: α by device
    attractiveness: dict[Device, float]

    def item(self) -> dict[str, Any]:
        """Return the item of the placement."""
        return {"id": self.id, **self.settings()}

    def settings(self) -> dict[str, Any]:
        """Return the item's settings without its id."""
        return {"features": {"room": self.room, "price": self.price}}


def _product(id: str, name: str, room: str, price: float, mobile: float, desktop: float) -> Product:
    return Product(id, name, room, price, {"mobile": mobile, "desktop": desktop})


#: in the control order
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
#: products that the viewer may add, in order
LATER: Final = (
    _product("kite", "Paper kite", "outdoors", 24.0, 0.85, 0.25),
    _product("telescope", "Brass telescope", "outdoors", 210.0, 0.15, 0.90),
    _product("umbrella", "Yellow umbrella", "outdoors", 38.0, 0.35, 0.30),
    _product("bell", "Door bell", "living room", 12.0, 0.05, 0.05),
)
#: λ of each slot at first
VISIBILITY: Final = (1.0, 0.65, 0.45, 0.30)
#: share of the holdout
HOLDOUT: Final = 0.1
