"""The KL-UCB bound of a Poisson mean: the largest mean within a divergence from the estimate."""

from __future__ import annotations

import math

from slotwise.jit import inlined

#: Newton's method for the bound stops after a step this small, relative to the bonus; about its square remains as error
TOLERANCE = 1e-3
MAX_STEPS = 20
#: up to the first the series for the bound is accurate to five digits; beyond the second it is a poor start
NEAR = 0.5
FAR = 3.0


@inlined
def upper_ratio(goal: float) -> float:
    """The bound as a multiple of the mean: 1 + x with x - log(1 + x) = goal and x positive, by Newton's method."""
    root = math.sqrt(2.0 * goal)
    if root < FAR:
        # the series of the positive root
        x = root * (1.0 + root * (1.0 / 3.0 + root * (1.0 / 36.0 - root / 270.0)))
        if root < NEAR:
            return 1.0 + x
    else:
        # kl(m, q) ≥ (q - m)²/(2q) puts the root below this
        x = goal + math.sqrt(goal * (goal + 2.0))
    for _ in range(MAX_STEPS):
        step = (x - math.log1p(x) - goal) * (1.0 + x) / x
        x -= step
        if abs(step) <= TOLERANCE * x:
            break
    return 1.0 + x
