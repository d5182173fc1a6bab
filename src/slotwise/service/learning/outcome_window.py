"""The outcome window that adapts to the delays of clicks.

A click after its decision's deadline is not counted, so decisions with a short window do not show how many clicks come
later. A random share of decisions always waits for the maximum: the window is chosen from the delays of their clicks
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slotwise.service.schemas.definition import FollowingWindow, PlacementDefinition
from slotwise.service.storage import Store
from slotwise.service.storage.accumulator import delay_class_end

#: the share of decisions that wait for the maximum
FULL_SHARE: Final = 0.05
#: the minimum of an adaptive window in seconds, unless its maximum is smaller
MIN_SECONDS: Final = 60.0
#: the minimum number of expected clicks beyond the window
MIN_BEYOND: Final = 10


def window_of(delays: Mapping[int, int], options: FollowingWindow) -> float:
    """The shortest window that catches the share of clicks; `at_most` until there are enough clicks.

    `delays` are clicks by the class of their delay, of decisions that waited for `at_most`.

    >>> options = FollowingWindow(at_most=1800.0, catch=0.9)
    >>> window_of({0: 9}, options), window_of({0: 900}, options)
    (1800.0, 60.0)
    >>> round(window_of({100: 950, 120: 50}, options)), round(window_of({100: 800, 120: 200}, options))
    (132, 349)
    """
    clicks = sum(delays.values())
    if clicks * (1.0 - options.catch) < MIN_BEYOND:
        return options.at_most
    caught = 0
    for number, count in sorted(delays.items()):
        caught += count
        if caught >= options.catch * clicks:
            return min(options.at_most, max(MIN_SECONDS, delay_class_end(number)))
    return options.at_most


def window_now(store: Store, name: str, definition: PlacementDefinition) -> float:
    """The current outcome window of a placement, for decisions that do not wait for the maximum."""
    window = definition.window_seconds
    return window_of(store.delays(name, window.at_most), window) if isinstance(window, FollowingWindow) else window
