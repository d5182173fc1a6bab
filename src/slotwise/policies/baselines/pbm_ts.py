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

#: steps to the mode, which need not be exact: the draw is, wherever its two tangents are
MAX_STEPS = 20
STEP = 1e-2


@learns_all_clicks
@record
class PBMTS:
    """Draw each θ from its posterior, and show the largest, the k-th in the slot of the k-th largest bias.

    An item that is shown in slot l is clicked with probability κ_lθ, independently of the others. With S clicks in
    all, F_l shows without one in slot l and a uniform prior, the posterior of θ is in proportion to
    θ^S Π_l (1 - κ_lθ)^F_l. Its
    logarithm is concave: two tangents make a hat to draw from and reject under, about three draws in four being kept.
    The paper proposes from the posterior of one slot alone, to the same end.

    A bias above 1, which is no probability, is taken relative to the largest.

    The text of the paper could not be had in full: this is its algorithm as it is known, not checked line by line.
    """

    #: κ, per slot
    position_bias: FloatArray
    lists: Any
    #: per item S, and items × slots F
    clicks: FloatArray
    misses: FloatArray
    #: per item: about where its posterior is highest, and θ as last drawn
    mode: FloatArray
    drawn: FloatArray
    #: room for one click or none
    clicked: BoolArray
    ranking: Ranking


@register(
    "pbm-ts",
    name="PBM-TS",
    position_bias="known",
    citation="Lagrée, Vernade and Cappé, Multiple-Play Bandits in the Position-Based Model (2016)",
    limits={
        "goal": "it knows no values and no constraints",
        "tally": "what it remembers, who was shown when others were clicked, does not follow from a tally",
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
    """About the θ in [0, 1] at which S log θ + Σ_l F_l log(1 - κ_lθ) is largest."""
    if clicks == 0.0:
        return 0.0
    mode = min(max(start, 1e-6), 0.999999)
    for _ in range(MAX_STEPS):
        # of θ times the derivative, which is concave and falls
        left, slope = clicks, 0.0
        for slot in range(len(misses)):
            seen = position_bias[slot] / (1.0 - position_bias[slot] * mode)
            left -= misses[slot] * seen * mode
            slope -= misses[slot] * seen / (1.0 - position_bias[slot] * mode)
        if slope == 0.0:
            return 1.0
        step = -left / slope
        # half way to either end at most
        step = min(max(step, -0.5 * mode), 0.5 * (1.0 - mode))
        mode += step
        if abs(step) < STEP * min(mode, 1.0 - mode):
            break
    return mode if mode < 0.999999 else 1.0


@inlined
def log_density(clicks: float, misses: FloatArray, position_bias: FloatArray, at: float) -> float:
    """S log θ + Σ_l F_l log(1 - κ_lθ)."""
    total = clicks * math.log(at) if clicks > 0.0 else 0.0
    for slot in range(len(misses)):
        if misses[slot] > 0.0:
            total += misses[slot] * math.log(1.0 - position_bias[slot] * at)
    return total


@inlined
def tangent(clicks: float, misses: FloatArray, position_bias: FloatArray, at: float) -> tuple[float, float]:
    """The logarithm of the density, and its derivative."""
    slope = clicks / at if clicks > 0.0 else 0.0
    for slot in range(len(misses)):
        # without a miss there may be a pole, which nothing is in proportion to
        if misses[slot] > 0.0:
            slope -= misses[slot] * position_bias[slot] / (1.0 - position_bias[slot] * at)
    return log_density(clicks, misses, position_bias, at), slope


@jit
def draw_posterior(
    clicks: float, misses: FloatArray, position_bias: FloatArray, mode: float, rng: np.random.Generator
) -> float:
    """θ drawn from the density in proportion to θ^S Π_l (1 - κ_lθ)^F_l on [0, 1].

    By rejection under the tangents of its logarithm at two points, about a standard deviation on either side of `mode`:
    exact for any two points, and quick for these.
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
    # where the tangents cross, and how high; if they are one line, anywhere
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
    """Of exp(slope · x) between 0 and `end`, on either side."""
    if abs(slope * end) < 1e-9:
        return abs(end)
    return abs(math.expm1(slope * end) / slope)


@inlined
def _within(slope: float, end: float, part: float) -> float:
    """The x up to which exp(slope · x) has this part of its area between 0 and `end`."""
    if abs(slope * end) < 1e-9:
        return part * end
    return math.log1p(part * math.expm1(slope * end)) / slope
