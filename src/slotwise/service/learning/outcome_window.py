"""How long to wait for an outcome, where the window follows the delays of clicks.

A click that comes after its decision's deadline is not counted, so decisions with a short window cannot tell how many
clicks come later. Some decisions, chosen at random, always wait as long as any may: the delays of their clicks, and of
no others, say how short the window can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slotwise.service.schemas.definition import FollowingWindow, PlacementDefinition
from slotwise.service.storage import Store
from slotwise.service.storage.delay_histogram import end_of

#: the share of decisions that wait as long as any may
WHOLE_SHARE: Final = 0.05
#: no window that follows is shorter, in seconds, unless it may not be so long
SHORTEST: Final = 60.0
#: so many clicks must be expected beyond the window before it is believed
MIN_BEYOND: Final = 10


def window_of(delays: Mapping[int, int], wanted: FollowingWindow) -> float:
    """The shortest window that catches the wanted share of clicks; `at_most` until enough is known.

    `delays` are clicks by the number of their delay, of decisions that waited for `at_most`.

    >>> wanted = FollowingWindow(at_most=1800.0, catch=0.9)
    >>> window_of({0: 9}, wanted), window_of({0: 900}, wanted)
    (1800.0, 60.0)
    >>> round(window_of({100: 950, 120: 50}, wanted)), round(window_of({100: 800, 120: 200}, wanted))
    (132, 349)
    """
    clicks = sum(delays.values())
    if clicks * (1.0 - wanted.catch) < MIN_BEYOND:
        return wanted.at_most
    caught = 0
    for number, more in sorted(delays.items()):
        caught += more
        if caught >= wanted.catch * clicks:
            return min(wanted.at_most, max(SHORTEST, end_of(number)))
    return wanted.at_most


def window_now(store: Store, name: str, definition: PlacementDefinition) -> float:
    """How long decisions of a placement wait, but for those that tell of delays."""
    wanted = definition.window_seconds
    return window_of(store.delays(name, wanted.at_most), wanted) if isinstance(wanted, FollowingWindow) else wanted
