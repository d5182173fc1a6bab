"""PBM-TS: Thompson sampling under the position-based model with known position bias, Lagrée et al. (2016)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks, lists_for
from slotwise.policies.policy_registry import register

#: steps toward the mode; it need not be exact, as the draw is exact for any two tangents
MAX_STEPS = 20
STEP = 1e-2


@learns_all_clicks
@record
class PBMTS:
    """Draw each θ from its posterior; the item with the k-th largest goes to the slot with the k-th largest bias.

    An item in slot l is clicked with probability κ_lθ, independently of the others. With S clicks in total, F_l shows
    without a click in slot l, and a uniform prior, the posterior of θ is proportional to θ^S Π_l (1 - κ_lθ)^F_l. It is
    log-concave, so draws are by rejection sampling under two tangents of its logarithm; about three in four are
    accepted. The paper proposes from the posterior of one slot alone, with the same result.

    If a bias exceeds 1, all are divided by the largest, since they must be probabilities.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    #: κ, per slot
    position_bias: FloatArray
    lists: Any
    #: per item S, and items × slots F
    clicks: FloatArray
    misses: FloatArray
    #: per item: the approximate mode of its posterior, and θ as last drawn
    mode: FloatArray
    drawn: FloatArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "pbm-ts",
    name="PBM-TS",
    position_bias="known",
    citation="Lagrée, Vernade and Cappé, Multiple-Play Bandits in the Position-Based Model (2016)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the lists of rounds with a click, which a tally does not have",
    },
    rival=True,
)
def pbm_ts(task: PolicyTask) -> PBMTS:
    """PBM-TS with a uniform prior."""
    assert task.position_bias is not None
    return PBMTS(
        position_bias=task.position_bias / max(1.0, task.position_bias.max()),
        lists=lists_for(task),
        clicks=np.zeros(task.items),
        misses=np.zeros((task.items, task.slots)),
        mode=np.full(task.items, 0.5),
        drawn=np.zeros(task.items),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PBMTS)
def _choose(policy: PBMTS, rng: np.random.Generator) -> Ranking:
    clicks, misses, position_bias, mode = policy.clicks, policy.misses, policy.position_bias, policy.mode
    for item in range(len(clicks)):
        mode[item] = find_mode(clicks[item], misses[item], position_bias, mode[item])
        policy.drawn[item] = draw_posterior(clicks[item], misses[item], position_bias, mode[item], rng)
    arrange(policy.lists, policy.drawn, position_bias, policy.ranking, rng)
    return policy.ranking


@learn_clicks.register(PBMTS)
def _learn_clicks(policy: PBMTS, ranking: Ranking, clicks: BoolArray) -> None:
    for slot in range(len(ranking)):
        if clicks[slot]:
            policy.clicks[ranking[slot]] += 1.0
        else:
            policy.misses[ranking[slot], slot] += 1.0


@jit
def find_mode(clicks: float, misses: FloatArray, position_bias: FloatArray, start: float) -> float:
    """Return the approximate maximum of S log θ + Σ_l F_l log(1 - κ_lθ) over θ in [0, 1]."""
    if clicks == 0.0:
        return 0.0
    mode = min(max(start, 1e-6), 0.999999)
    for _ in range(MAX_STEPS):
        # Newton's step for θ times the derivative, which is concave and decreasing
        left, slope = clicks, 0.0
        for slot in range(len(misses)):
            seen = position_bias[slot] / (1.0 - position_bias[slot] * mode)
            left -= misses[slot] * seen * mode
            slope -= misses[slot] * seen / (1.0 - position_bias[slot] * mode)
        if slope == 0.0:
            return 1.0
        step = -left / slope
        # at most half of the way to either end
        step = min(max(step, -0.5 * mode), 0.5 * (1.0 - mode))
        mode += step
        if abs(step) < STEP * min(mode, 1.0 - mode):
            break
    return mode if mode < 0.999999 else 1.0


@inlined
def log_density(clicks: float, misses: FloatArray, position_bias: FloatArray, at: float) -> float:
    """Return S log θ + Σ_l F_l log(1 - κ_lθ)."""
    total = clicks * math.log(at) if clicks > 0.0 else 0.0
    for slot in range(len(misses)):
        if misses[slot] > 0.0:
            total += misses[slot] * math.log(1.0 - position_bias[slot] * at)
    return total


@inlined
def tangent(clicks: float, misses: FloatArray, position_bias: FloatArray, at: float) -> tuple[float, float]:
    """Return the logarithm of the density, and its derivative."""
    slope = clicks / at if clicks > 0.0 else 0.0
    for slot in range(len(misses)):
        # a slot without misses may have a pole, but contributes nothing
        if misses[slot] > 0.0:
            slope -= misses[slot] * position_bias[slot] / (1.0 - position_bias[slot] * at)
    return log_density(clicks, misses, position_bias, at), slope


@jit
def draw_posterior(
    clicks: float, misses: FloatArray, position_bias: FloatArray, mode: float, rng: np.random.Generator
) -> float:
    """Draw θ from the density proportional to θ^S Π_l (1 - κ_lθ)^F_l on [0, 1].

    By rejection sampling under the tangents of its logarithm at two points, about a standard deviation on either side
    of `mode`: exact for any two points, and efficient for these.
    """
    if clicks == 0.0 and misses.sum() == 0.0:
        return rng.random()
    curvature = clicks / (mode * mode) if clicks > 0.0 else 0.0
    for slot in range(len(misses)):
        if misses[slot] > 0.0 and position_bias[slot] * mode < 1.0:
            seen = position_bias[slot] / (1.0 - position_bias[slot] * mode)
            curvature += misses[slot] * seen * seen
    spread = 1.0 / math.sqrt(curvature)
    left = max(mode - spread, 0.1 * mode)
    right = mode + min(spread, 0.5 * (1.0 - mode))
    left_height, left_slope = tangent(clicks, misses, position_bias, left)
    right_height, right_slope = tangent(clicks, misses, position_bias, right)
    # the point at which the tangents cross, and their height; any point if they are the same line
    cross = left
    if left_slope > right_slope:
        cross = (right_height - left_height + left_slope * left - right_slope * right) / (left_slope - right_slope)
    cross = min(max(cross, left), right)
    top = left_height + left_slope * (cross - left)
    below_cross, above_cross = _area(left_slope, -cross), _area(right_slope, 1.0 - cross)
    while True:
        if rng.random() * (below_cross + above_cross) < below_cross:
            slope, end = left_slope, -cross
        else:
            slope, end = right_slope, 1.0 - cross
        away = _within(slope, end, rng.random())
        drawn = cross + away
        if 0.0 < drawn < 1.0:
            kept = log_density(clicks, misses, position_bias, drawn) - top - slope * away
            if math.log(1.0 - rng.random()) <= kept:
                return drawn


@inlined
def _area(slope: float, end: float) -> float:
    """Return the area under exp(slope · x) between 0 and `end`, which may be negative."""
    if abs(slope * end) < 1e-9:
        return abs(end)
    return abs(math.expm1(slope * end) / slope)


@inlined
def _within(slope: float, end: float, part: float) -> float:
    """Return the x up to which exp(slope · x) has this share of its area between 0 and `end`."""
    if abs(slope * end) < 1e-9:
        return part * end
    return math.log1p(part * math.expm1(slope * end)) / slope
