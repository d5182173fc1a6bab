"""KL-UCB: bounds on a probability from successes and trials, Garivier and Cappé (2011)."""

from __future__ import annotations

import math

from slotwise.jit import inlined, jit

#: Newton's step, as a part of the bound's distance from the estimate, after which about its square is left
STEP = 1e-3
#: so near the estimate the likelihood is a parabola, and its logarithms would cancel
PARABOLA = 1e-4
MAX_STEPS = 100


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


@jit
def kl_bound(clicks: float, passes: float, level: float, start: float) -> float:
    """The largest γ with n log((1+γ)/(1+γ̂)) - N log(γ/γ̂) ≤ c, by Newton's method in log γ.

    The left side is convex in log γ: from the first step on, each is above the bound and below the one before. Clear of
    γ̂ any `start` will do, the last bound best of all; else one is made from the curvature at γ̂.
    """
    trials = clicks + passes
    mean = clicks / passes
    if clicks <= 0.0:
        return math.expm1(min(level / trials, 700.0))
    near = math.sqrt(2.0 * level * trials / (clicks * passes))
    if near < PARABOLA:
        return mean * math.exp(near)
    odds = start if mean * (1.0 + 0.5 * near) < start < math.inf else mean * math.exp(min(near, 300.0))
    for _ in range(MAX_STEPS):
        distance = math.log(odds / mean)
        excess = trials * math.log((1.0 + odds) / (1.0 + mean)) - clicks * distance - level
        step = excess / (trials * odds / (1.0 + odds) - clicks)
        odds *= math.exp(min(-step, 300.0))
        if abs(step) < STEP * distance:
            break
    return odds
