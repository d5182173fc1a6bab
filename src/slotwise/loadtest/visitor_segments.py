"""Who visits: what a request says of a visitor, and so the segment in which the service must count them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: where the service counts visitors of whom a key says nothing, or nothing that is listed
OTHER: Final = "other"
#: values of a key that visitors have, so that a check asks for few segments whatever the placement lists
MAX_VALUES: Final = 10

#: a value for each key of the segments
Segment = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Audience:
    """Visitors by segment. Each value of a key is as frequent as the next, but for *other*.

    >>> Audience({"device": ["mobile", "desktop"]}, other=0.2).shares()
    {(('device', 'mobile'),): 0.4, (('device', 'desktop'),): 0.4, (('device', 'other'),): 0.2}
    """

    segments: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: per key, the share of the visitors of whom nothing is said, or what is not listed
    other: float = 0.2

    def draw(self, rng: random.Random) -> tuple[dict[str, str], Segment]:
        """What the next visitor's request says, and their segment."""
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
        """Which share of the visitors is in each segment."""
        each = []
        for key, listed in self.segments.items():
            known = listed[:MAX_VALUES]
            share = (1.0 - self.other) / len(known)
            each.append([*(((key, value), share) for value in known), ((key, OTHER), self.other)])
        found = {}
        for combination in itertools.product(*each):
            share = 1.0
            for _, one in combination:
                share *= one
            found[tuple(pair for pair, _ in combination)] = share
        return found

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each key with each value that a visitor may have."""
        for key, listed in self.segments.items():
            for value in (*listed[:MAX_VALUES], OTHER):
                yield key, value

    def is_whole(self, key: str) -> bool:
        """Whether the values of this key that visitors may have are all that there are."""
        return len(self.segments[key]) <= MAX_VALUES


#: of the placement that a drive makes
DEVICES: Final = Audience({"device": ("mobile", "desktop")})


def _unlisted(listed: Sequence[str]) -> str:
    return next(name for name in map("unlisted-{}".format, itertools.count()) if name not in listed)
