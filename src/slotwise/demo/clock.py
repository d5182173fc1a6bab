"""Time goes by faster in the shop, so that days can be watched in minutes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

#: seconds in the shop for each of the viewer's: an hour goes by in ten seconds, a day in four minutes
PACE: Final = 360.0
HOUR: Final = 3600.0


@dataclass(frozen=True)
class ShopClock:
    """The service's clock: it shows the right time in the beginning, and runs ahead from then on.

    >>> seconds = iter([100.0, 110.0])
    >>> clock = ShopClock(0.0, lambda: next(seconds), began=100.0)
    >>> clock(), clock() / HOUR
    (0.0, 1.0)
    """

    #: in seconds since 1970
    opened: float = field(default_factory=time.time)
    monotonic: Callable[[], float] = time.monotonic
    began: float = field(default_factory=time.monotonic)

    def __call__(self) -> float:
        return self.opened + PACE * self.seconds()

    def seconds(self) -> float:
        """How long the viewer has been watching."""
        return self.monotonic() - self.began


def in_shop(seconds: float) -> float:
    """How long that is in the shop, in seconds."""
    return seconds * PACE


def hours_in_shop(seconds: float) -> float:
    """The same in hours."""
    return in_shop(seconds) / HOUR
