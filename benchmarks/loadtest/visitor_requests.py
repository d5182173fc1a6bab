"""Requests of the simulated visitors: their segment, their idempotency key, and whether they repeat the request."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.loadtest.visitor_segments import Audience, Segment

#: share of all visitors who send an idempotency key
KEYED = 0.3
#: share of those with a key who repeat the request, half of them at once and half after their reports
REPEATING = 0.2


@dataclass(frozen=True)
class Request:
    """A visitor's request for a decision."""

    context: dict[str, str]
    #: the segment in which the service must count it
    segment: Segment
    #: idempotency key
    key: str | None
    again: Literal["never", "at once", "after reports"]


@dataclass
class VisitorRequests:
    """Draws requests."""

    rng: random.Random
    audience: Audience = field(default_factory=Audience)
    #: prefix of the idempotency keys, new for each load test
    keys: str = ""
    keyed: float = KEYED
    repeating: float = REPEATING
    _drawn: int = 0

    def draw(self) -> Request:
        """Draw the next visitor's request."""
        rng = self.rng
        context, segment = self.audience.draw(rng)
        self._drawn += 1
        if rng.random() >= self.keyed:
            return Request(context, segment, None, "never")
        key = f"{self.keys}-{self._drawn}"
        if rng.random() >= self.repeating:
            return Request(context, segment, key, "never")
        return Request(context, segment, key, "at once" if rng.random() < 0.5 else "after reports")
