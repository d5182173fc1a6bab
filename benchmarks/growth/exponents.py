"""Exponents of growth, fitted to measurements, beside the orders that are stated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: what a smaller size takes is mostly a constant: only sizes within this factor of the largest are fitted
TAIL = 150.0
#: by how much a fitted exponent may exceed the stated one: over a factor of a hundred, time grows by twice as much
TOLERANCE = 0.15
#: bytes below which the allocator's own steps are larger than what is measured
LEAST_BYTES = 32e6


def exponent(sizes: Sequence[float], values: Sequence[float], least: float = 0.0) -> float:
    """The slope of a line through the logarithms of the largest sizes; values below `least` count as `least`.

    >>> round(exponent([1, 10, 100, 1000], [5.0, 20.0, 200.0, 2000.0]), 2)
    1.0
    >>> exponent([1, 10, 100, 1000], [3.0, 5.0, 4.0, 8.0], least=10.0)
    0.0
    """
    tail = [number for number, size in enumerate(sizes) if size * TAIL >= sizes[-1]]
    logs = np.log([[sizes[number], max(values[number], least)] for number in tail])
    across, up = (logs - logs.mean(axis=0)).T
    return float(across @ up / (across @ across)) + 0.0


def is_within(fitted: float, stated: float) -> bool:
    """Whether growth is of the stated order, or less."""
    return fitted <= stated + TOLERANCE
