"""Classes of the delays of clicks, each 5 % wider than the one before."""

from __future__ import annotations

import math
from typing import Final

#: the ratio of a class's end to its start
RATIO: Final = 1.05


def number_of(seconds: float) -> int:
    """The class of a delay: the first class whose end is not below it; class 0 has delays below a second.

    >>> number_of(0.2), number_of(1.0), number_of(60.0), number_of(1800.0)
    (0, 0, 84, 154)
    """
    return max(0, math.ceil(math.log(max(seconds, 1.0)) / math.log(RATIO) - 1e-9))


def end_of(number: int) -> float:
    """The longest delay of a class, in seconds.

    >>> end_of(0), round(end_of(84), 1)
    (1.0, 60.2)
    """
    return RATIO**number
