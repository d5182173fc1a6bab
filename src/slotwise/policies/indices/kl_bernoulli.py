"""KL-UCB: bounds on a probability from successes and trials, Garivier and Cappé (2011)."""

from __future__ import annotations

import math

from slotwise.jit import inlined
from slotwise.policies.indices.pairwise_bounds import kl_bound


@inlined
def level_at(time: float) -> float:
    """The level of exploration log t + 3 log log t, not below 0; log log t counts from t = e on."""
    if time <= 1.0:
        return 0.0
    log = math.log(time)
    return log + 3.0 * math.log(max(1.0, log))


@inlined
def upper_probability(successes: float, trials: float, level: float) -> float:
    """The largest q with n kl(p̂, q) ≤ level, p̂ = successes/n; 1 without trials.

    >>> round(upper_probability(3.0, 10.0, 2.0), 4)
    0.6126
    >>> upper_probability(0.0, 0.0, 2.0), upper_probability(3.0, 10.0, 0.0)
    (1.0, 0.3)
    """
    failures = trials - successes
    if failures <= 0.0:
        return 1.0
    if level <= 0.0:
        return successes / trials
    # the bound on the odds q/(1 - q) of success against failure
    odds = kl_bound(successes, failures, level, math.inf)
    return odds / (1.0 + odds)


@inlined
def lower_probability(successes: float, trials: float, level: float) -> float:
    """The smallest q with n kl(p̂, q) ≤ level; 0 without trials.

    >>> round(lower_probability(3.0, 10.0, 2.0), 4)
    0.0818
    """
    return 1.0 - upper_probability(trials - successes, trials, level)
