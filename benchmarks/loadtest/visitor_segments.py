"""Segments of the visitors: the context of a request, and the segment in which the service must count it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: the service's segment of visitors without a listed value
OTHER: Final = "other"
#: values of a key that visitors have: the check requests estimates of each
MAX_VALUES: Final = 10

#: a value for each key of the segments
Segment = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Audience:
    """Visitors by segment. All values of a key are equally frequent, except *other*.

    >>> Audience({"device": ["mobile", "desktop"]}, other=0.2).shares()
    {(('device', 'mobile'),): 0.4, (('device', 'desktop'),): 0.4, (('device', 'other'),): 0.2}
    """

    segments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: share of the visitors without a listed value, for each key
    other: float = 0.2

    def draw(self, rng: random.Random) -> tuple[dict[str, str], Segment]:
        """Draw the context of the next request, and its segment."""
        context: dict[str, str] = {}
        segment = []
        for key, listed in self.segments.items():
            value = OTHER
            if rng.random() >= self.other:
                value = context[key] = rng.choice(listed[:MAX_VALUES])
            elif rng.random() < 0.5:
                context[key] = _unlisted(listed)
            segment.append((key, value))
        return context, tuple(segment)

    def shares(self) -> dict[Segment, float]:
        """Return the share of the visitors in each segment."""
        each = []
        for key, listed in self.segments.items():
            values = listed[:MAX_VALUES]
            share = (1.0 - self.other) / len(values)
            each.append([*(((key, value), share) for value in values), ((key, OTHER), self.other)])
        shares = {}
        for combination in itertools.product(*each):
            share = 1.0
            for _, factor in combination:
                share *= factor
            shares[tuple(pair for pair, _ in combination)] = share
        return shares

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield each key with each value of the visitors."""
        for key, listed in self.segments.items():
            for value in (*listed[:MAX_VALUES], OTHER):
                yield key, value

    def is_whole(self, key: str) -> bool:
        """Return whether visitors have all values of this key."""
        return len(self.segments[key]) <= MAX_VALUES


#: segments of a temporary placement
DEVICES: Final = Audience({"device": ("mobile", "desktop")})


def _unlisted(listed: Sequence[str]) -> str:
    return next(name for name in map("unlisted-{}".format, itertools.count()) if name not in listed)
