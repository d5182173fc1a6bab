"""The shop's clock, which runs faster than the viewer's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

#: seconds in the shop for each of the viewer's: an hour takes ten seconds, a day four minutes
PACE: Final = 360.0
HOUR: Final = 3600.0


@dataclass(frozen=True)
class ShopClock:
    """The service's clock: it starts with the current time, and runs faster.

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
        """Return the viewer's seconds since the start."""
        return self.monotonic() - self.began


def in_shop(seconds: float) -> float:
    """Convert the viewer's seconds to the shop's."""
    return seconds * PACE


def hours_in_shop(seconds: float) -> float:
    """Convert the viewer's seconds to the shop's hours."""
    return in_shop(seconds) / HOUR
