"""Environments drawn at random, to compare policies in: pages that stay as they are, and changing ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.click_models import MNL
from slotwise.core.types import FloatArray
from slotwise.environments import Churn, Cycle, Delay, Jump, Problem, Segment, Walk, World

DELAYS = ("none", "fixed", "geometric", "batches")
DRIFTS = ("none", "walk", "jumps", "cycle")


def random_problem(rng: np.random.Generator) -> Problem:
    """Return a random problem of a wide family, to compare policies: sizes, scales, spreads and slots are drawn.

    2 to 40 items, at most 8 slots; attractiveness log-normal around 0.03 to 1, its logarithm spread by 0.2 to 1.2;
    slots that decay geometrically, or are uniform on (0.1, 1), shuffled every other time; 5,000 to 50,000 rounds.

    Parameters
    ----------
    rng
        The source of randomness.
    """
    items = int(np.exp(rng.uniform(np.log(2.0), np.log(41.0))))
    slots = int(rng.integers(1, min(items, 8) + 1))
    middle, spread = np.exp(rng.uniform(np.log(0.03), 0.0)), rng.uniform(0.2, 1.2)
    attractiveness = middle * np.exp(spread * rng.standard_normal(items))
    decay = rng.uniform(0.4, 0.95)
    position_bias = decay ** np.arange(slots) if rng.random() < 0.5 else np.sort(rng.uniform(0.1, 1.0, slots))[::-1]
    if rng.random() < 0.5:
        position_bias = rng.permutation(position_bias)
    rounds = round(float(np.exp(rng.uniform(np.log(5_000.0), np.log(50_000.0)))))
    users = MNL(position_bias=position_bias, attractiveness=attractiveness)
    return Problem("random", users, rounds)


def random_changing_problem(rng: np.random.Generator) -> Problem:
    """Return a random changing environment of a wide family.

    Items, slots, biases, and the middle and spread of attractiveness are drawn as by `random_problem`; T is 5,000 to
    40,000 rounds. Times are log-uniform, everything else is uniform.

    - Segments, with probability 1/2: 2 to 6, with uniform shares; the logarithms of attractiveness correlate by 0.3
      to 1.
    - Delay: none, fixed, geometric, or in batches, equally likely, of 10 to 2,000 rounds.
    - Churn, with probability 1/2: items stay for T/4 to 2T rounds on average, and as many arrive as leave. Half of
      these worlds have 7 to 10 features, which explain 0.2 to 0.9 of the variance.
    - Tastes stay, walk (standard deviation 0.1 to 0.5, correlation time T/4 to 4T), jump (1 to 4 times, to another
      order of the items) or cycle (amplitude 0.1 to 0.5, period 1,000 to T), equally likely. With churn they walk
      instead of jumping.

    Parameters
    ----------
    rng
        The source of randomness.

    Examples
    --------
    >>> problem = random_changing_problem(np.random.default_rng(1))
    >>> 5_000 <= problem.rounds <= 40_000
    True
    """
    page = random_problem(rng).users
    # drawn again: a problem has its items, and not what they were drawn from
    middle, spread = _log_uniform(rng, 0.03, 1.0), float(rng.uniform(0.2, 1.2))
    rounds = round(_log_uniform(rng, 5_000.0, 40_000.0))
    segments = int(rng.integers(2, 7)) if rng.random() < 0.5 else 1
    shares = rng.dirichlet(np.ones(segments))
    agreement = float(rng.uniform(0.3, 1.0)) if segments > 1 else 1.0
    delay = _delay(rng)
    churns = rng.random() < 0.5
    drift = str(rng.choice(DRIFTS))
    changes: dict[str, Any] = {}
    if drift == "walk" or (drift == "jumps" and churns):
        changes["walk"] = Walk(sd=rng.uniform(0.1, 0.5), rounds=_log_uniform(rng, rounds / 4.0, rounds * 4.0))
    elif drift == "cycle":
        changes["cycle"] = Cycle(amplitude=rng.uniform(0.1, 0.5), period=_log_uniform(rng, 1_000.0, rounds))
    if churns:
        lifetime = _log_uniform(rng, rounds / 4.0, rounds * 2.0)
        has_features = rng.random() < 0.5
        changes["churn"] = Churn(
            middle=middle,
            spread=spread,
            arrivals=1_000.0 * page.items / lifetime,
            every=1_000,
            lifetime=lifetime,
            start=page.items,
            agreement=agreement,
            features=int(rng.integers(7, 11)) if has_features else 0,
            explained=float(rng.uniform(0.2, 0.9)) if has_features else 0.0,
        )
        parts = [Segment(float(share)) for share in shares]
    else:
        tastes = _tastes(rng, middle, spread, agreement, segments, page.items)
        parts = [Segment(float(share), taste) for share, taste in zip(shares, tastes, strict=True)]
        if drift == "jumps":
            times = np.unique(rng.integers(1, rounds, size=int(rng.integers(1, 5))))
            changes["drift"] = [Jump(int(time), tastes[:, rng.permutation(page.items)].tolist()) for time in times]
    world = World(position_bias=page.position_bias, segments=parts, delay=delay, **changes)
    return Problem("random changing", world, rounds)


def _delay(rng: np.random.Generator) -> Delay:
    kind, time = str(rng.choice(DELAYS)), _log_uniform(rng, 10.0, 2_000.0)
    if kind == "fixed":
        return Delay(rounds=round(time))
    if kind == "geometric":
        return Delay(mean_rounds=time)
    return Delay(every=round(time)) if kind == "batches" else Delay()


def _tastes(
    rng: np.random.Generator, middle: float, spread: float, agreement: float, segments: int, items: int
) -> FloatArray:
    """Attractiveness, segments × items: log-normal, the logarithms of two segments correlated by `agreement`."""
    common, own = rng.standard_normal(items), rng.standard_normal((segments, items))
    tastes: FloatArray = middle * np.exp(spread * (np.sqrt(agreement) * common + np.sqrt(1.0 - agreement) * own))
    return tastes


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
