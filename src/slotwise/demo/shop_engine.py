"""Runs the shop: simulated visitors request lists and click; the viewer changes their tastes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

import numpy as np

from slotwise.client import ClientError, ServiceProblem
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.demo.clock import ShopClock, hours_in_shop, in_shop
from slotwise.demo.ground_truth import Truth
from slotwise.demo.recent_lists import RecentLists
from slotwise.demo.regret_curve import Curve, Losses, PopularitySort
from slotwise.demo.service_calls import Calls
from slotwise.demo.shop import DEVICES, FIRST, HOLDOUT, LATER, PLACEMENT, VISIBILITY, Device, Product
from slotwise.service.schemas.definition import PlacementDefinition

#: in the viewer's seconds, like the other times here
WINDOW_SECONDS: Final = 5.0
#: time that a visitor looks at the list: mean and maximum
LOOK_SECONDS, MAX_LOOK_SECONDS = 0.4, 1.2
MIN_HALF_LIFE, MAX_HALF_LIFE = 10.0, 3600.0
FIRST_TRAFFIC, MAX_TRAFFIC = 40.0, 100.0
#: seconds between two arrivals, points of the regret curve, and requests for estimates
ARRIVE_SECONDS: Final = 0.05
POINT_SECONDS: Final = 0.5
LEARNED_SECONDS: Final = 0.8
#: half-life of counts; None for none
HalfLifeSeconds = float | Literal["auto"] | None
#: maximum number of pending requests; on a slow machine further visitors are turned away
MAX_UNANSWERED: Final = 20
#: seconds after a visitor was turned away for which the shop counts as full
FULL_SECONDS: Final = 3.0
#: statuses of late reports, by API key and by token
LATE: Final = frozenset({403, 410})
#: changes that the chart marks
MAX_MARKS: Final = 50


def definition() -> dict[str, Any]:
    """Return the placement's definition when the shop opens; what is not here has the product's default."""
    return {
        "slots": len(VISIBILITY),
        "items": [product.item() for product in FIRST],
        "segments": {"device": [*DEVICES]},
        "window_seconds": in_shop(WINDOW_SECONDS),
        "holdout": HOLDOUT,
    }


class Shop:
    """Simulated visitors and the service's estimates. Times are in the viewer's seconds."""

    def __init__(self, calls: Calls, clock: ShopClock, *, seed: int | None = None) -> None:
        self._calls, self._clock = calls, clock
        self._rng = np.random.default_rng(seed)
        self._visits: set[asyncio.Task[None]] = set()
        #: when a visitor was turned away last
        self._turned_away: float | None = None
        self.truth = Truth.at_first(seed)
        self.products: list[Product] = [*FIRST]
        self.visitors_per_second = FIRST_TRAFFIC
        self.mobile_share = 0.5
        self.half_life_seconds: HalfLifeSeconds = PlacementDefinition.model_fields["half_life"].default
        #: number of visitors
        self.visitors = 0
        #: losses of visitors who saw learned lists
        self.losses = Losses()
        self.popularity = PopularitySort()
        self.curve = Curve()
        self.recent = {device: RecentLists() for device in DEVICES}
        #: changes by the viewer, with their times
        self.marks: list[tuple[float, str]] = []
        #: the latest estimates by device; None: of all visitors
        self.learned: dict[Device | None, Mapping[str, Any]] = {}
        #: the last error of a visit
        self.trouble: str | None = None

    def is_full(self) -> bool:
        """Return whether visitors were turned away recently, because this machine is too slow."""
        return self._turned_away is not None and self.seconds() - self._turned_away < FULL_SECONDS

    def seconds(self) -> float:
        """Return the seconds since the shop opened."""
        return self._clock.seconds()

    def time(self) -> float:
        """Return the time of the shop's clock, in seconds since 1970."""
        return self._clock()

    async def is_ready(self) -> bool:
        """Return whether the service is ready."""
        try:
            await self._calls.ask("GET", "/readyz")
        except ClientError:
            return False
        return True

    async def stay_open(self) -> None:
        """Simulate visitors until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._let_in())
                tasks.create_task(self._keep_points())
                tasks.create_task(self._keep_reading())
        finally:
            for visit in self._visits:
                visit.cancel()
            self._calls.close()

    def set_traffic(self, visitors_per_second: float) -> str:
        """Change the number of visitors, and return the change as text."""
        if not 0.0 <= visitors_per_second <= MAX_TRAFFIC:
            raise InvalidInput(f"visitors_per_second must be from 0 to {MAX_TRAFFIC:g}, got {visitors_per_second!r}")
        self.visitors_per_second = visitors_per_second
        return self._mark(f"{visitors_per_second:g} visitors per second")

    def set_mobile_share(self, share: float) -> str:
        """Change the share of visitors on a phone."""
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(f"share must be from 0 to 1, got {share!r}")
        self.mobile_share = share
        return self._mark(f"{share:.0%} on mobile")

    def make_popular(self, item: str) -> str:
        """Make an item the most attractive."""
        self.truth = self.truth.made_popular(item)
        return self._mark(f"{self._name(item)} becomes popular")

    def swap(self, first: int, second: int) -> str:
        """Swap the visibility of two slots."""
        self.truth = self.truth.swapped(first, second)
        return self._mark(f"slots {first} and {second} swap visibility")

    async def add_item(self) -> str:
        """Add the next product to the placement."""
        product = self.next_product()
        if product is None:
            raise InvalidInput(f"all {len(self.products)} products are in the shop already")
        # before the request, so that a second one adds another product
        self.products.append(product)
        try:
            await self._change("PUT", f"{_PATH}/items/{quote(product.id, safe='')}", product.settings())
        except SlotwiseError:
            self.products.remove(product)
            raise
        self.truth = self.truth.with_product(product)
        return self._mark(f"new: {product.name}")

    async def _change(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Change the placement; an error of the service is an error of the viewer's request."""
        try:
            await self._calls.ask(method, path, body)
        except ClientError as error:
            raise SlotwiseError(str(error)) from error

    async def set_half_life(self, half_life_seconds: HalfLifeSeconds) -> str:
        """Change the half-life of counts; None for none."""
        half_life: float | str | None
        if half_life_seconds is None:
            half_life, text = None, "no half-life"
        elif half_life_seconds == "auto":
            half_life, text = "auto", "automatic half-life"
        elif MIN_HALF_LIFE <= half_life_seconds <= MAX_HALF_LIFE:
            half_life, text = hours_in_shop(half_life_seconds), f"half-life {half_life_seconds:g} s"
        else:
            raise InvalidInput(
                f"half_life_seconds must be null, auto or from {MIN_HALF_LIFE:g} to {MAX_HALF_LIFE:g}, "
                f"got {half_life_seconds!r}"
            )
        await self._change("PATCH", _PATH, {"half_life": half_life})
        self.half_life_seconds = half_life_seconds
        return self._mark(text)

    def next_product(self) -> Product | None:
        """Return the next product that may be added."""
        return next((product for product in LATER if product not in self.products), None)

    def _name(self, item: str) -> str:
        return next(product.name for product in self.products if product.id == item)

    def _mark(self, text: str) -> str:
        self.marks = [*self.marks, (self.seconds(), text)][-MAX_MARKS:]
        return text

    async def _let_in(self) -> None:
        before = self.seconds()
        while True:
            await asyncio.sleep(ARRIVE_SECONDS)
            now = self.seconds()
            arriving = int(self._rng.poisson(self.visitors_per_second * (now - before)))
            before, room = now, MAX_UNANSWERED - self._calls.unanswered
            if arriving > room:
                # their reports would be late, and count as no clicks
                arriving, self._turned_away = max(0, room), now
            for _ in range(arriving):
                visit = asyncio.create_task(self._visit())
                self._visits.add(visit)
                visit.add_done_callback(self._visits.discard)

    async def _visit(self) -> None:
        """Simulate a visit, and keep its error."""
        try:
            await self.visit("mobile" if self._rng.random() < self.mobile_share else "desktop")
        except ServiceProblem as problem:
            # on a slow machine a report may be late
            if problem.status not in LATE:
                self.trouble = str(problem)
        except ClientError as problem:
            self.trouble = str(problem)

    async def visit(self, device: Device) -> None:
        """Simulate a visit: request a list, look at it, and report a click or no click."""
        decision = await self._calls.ask("POST", f"{_PATH}/decisions", {"context": {"device": device}})
        shown = tuple(decision["items"])
        visit = self.truth.visitors(device).visit(shown)
        self.visitors += 1
        if decision["arm"] == "learned":
            self.recent[device].add(shown)
            if visit.seen:
                by_clicks = self.popularity.lose(self.truth, device)
                self.losses = self.losses.plus(self.truth, device, shown, by_clicks)
        for outcome in visit.reports:
            await asyncio.sleep(min(self._rng.exponential(LOOK_SECONDS), MAX_LOOK_SECONDS / len(visit.reports)))
            if visit.browser:
                await self._calls.ask("POST", "/v1/outcomes", {"token": decision["token"], **outcome})
            else:
                await self._calls.ask("PUT", f"/v1/decisions/{decision['id']}/outcome", outcome)

    async def _keep_points(self) -> None:
        while True:
            self.curve.add(self.seconds(), self.losses)
            await asyncio.sleep(POINT_SECONDS)

    async def _keep_reading(self) -> None:
        for device in itertools.cycle((None, *DEVICES)):
            began = self.seconds()
            with contextlib.suppress(ClientError):
                await self.read_learned(device)
            # estimates take as long as a hundred decisions: leave half of the time for those
            await asyncio.sleep(max(LEARNED_SECONDS, 2.0 * (self.seconds() - began)))

    async def read_learned(self, device: Device | None) -> None:
        """Read the service's estimates for a device, or for all visitors."""
        segment = "" if device is None else f"?segment=device:{device}"
        self.learned[device] = await self._calls.ask("GET", f"{_PATH}/estimates{segment}")


_PATH: Final = f"/v1/placements/{PLACEMENT}"
