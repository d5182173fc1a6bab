"""Gamma priors of attractiveness and position bias before any data, and the functions that fitting them takes."""

from __future__ import annotations

import math

from slotwise.jit import jit

#: s and r of an item before any data: a prior that is worth a tenth of a click
ATTRACTIVENESS_SHAPE = 0.1
ATTRACTIVENESS_RATE = 0.1
#: c of the position bias, λ_k ~ Gamma(c, c); the standard deviation of log λ is about 1/√c
BIAS_SHAPE = 2.0
#: a Newton step of log λ, and of a weight of a feature, is cut to this length
MAX_STEP = 1.0
#: with few clicks a smaller shape would put all attractiveness into one item, and the others would not be shown
MIN_SHAPE = 0.05
#: exposure below this is rounding error
NO_EXPOSURE = 1e-6
#: pseudo-items among those that the prior is fitted to
EXTRA_ITEMS = 2.0
#: ½ log 2π, of Stirling's series
LOG_ROOT_TWO_PI = 0.9189385332046728
#: -ψ(1)
EULER = 0.5772156649015329


@jit
def shape_of(gap: float) -> float:
    """Return the s with log s - ψ(s) = gap, for a positive gap.

    >>> round(shape_of(math.log(2.5) - digamma(2.5)), 9)
    2.5
    """
    # within 1.5 % (Minka 2002); Newton's method on 1/s from there
    s = (3.0 - gap + math.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(4):
        error = math.log(s) - digamma(s) - gap
        s = 1.0 / (1.0 / s - error / (s * s * (trigamma(s) - 1.0 / s)))
    return s


@jit
def log_gamma(x: float) -> float:
    """Return log Γ(x) for positive x, moved up to 10: compiled and plain alike, unlike `math.lgamma`.

    >>> round(log_gamma(0.1) - math.lgamma(0.1), 12)
    0.0
    """
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x
    return (x - 0.5) * math.log(x) - x + LOG_ROOT_TWO_PI + series - math.log(product)


@jit
def digamma(x: float) -> float:
    """Return ψ(x) for positive x: moved up to 10, then its asymptotic series.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    return result + math.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))


@jit
def trigamma(x: float) -> float:
    """Return ψ′(x) for positive x, likewise.

    >>> round(trigamma(1.0) * 6 / math.pi**2, 12)
    1.0
    """
    result = 0.0
    while x < 10.0:
        result += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    return result + 1.0 / x + 0.5 * y + y / x * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
