"""What is learned of all items, crowds and slots together: the prior of each cell, and the mode of the bias.

With Gamma priors, and clicks taken as Poisson with mean γ·passes, attractiveness given the bias is Gamma:

    α_j | λ ~ Gamma(s + N_·j, r + Σ_k λ_kÑ_kj).

Integrated out of the likelihood it leaves a posterior of the bias alone, log-concave, with one dimension per slot for
any number of items. With λ_k ~ Gamma(c, c) it is, up to a constant,

    ℓ(log λ) = Σ_k [(c + N_k·) log λ_k - cλ_k] - Σ_j (s + N_·j) log(r + Σ_k λ_kÑ_kj).

A draw of log λ is from the normal approximation at the mode. No slot is an anchor: the priors fix the scale. With
several segments the second sum is over segments and items.
"""

from __future__ import annotations

import math
from typing import Any

from slotwise.core.small_linalg import factorise, inverse_root, solve
from slotwise.core.types import EMPTY, FloatArray
from slotwise.jit import inlined, jit
from slotwise.posterior.feature_regression import learn_items
from slotwise.posterior.gamma_prior import MAX_STEP, MIN_SHAPE, NO_EXPOSURE, digamma, shape_of

#: how often, each time, lists are weighed and all is learned, one after the other; the next time goes on from there
TIMES = 2
#: EM steps each time
STEPS = 3
#: Newton's method for the mode of log λ ends with a step shorter than this, or after so many
MIN_STEP = 0.01
MAX_STEPS = 50
#: κ and τ before anything is known, when crowds are taken to be alike, and of the made-up cells and slots that they are
#: learned from besides the real ones
OWN_TASTE = 20.0
OWN_SLOTS = 200.0
EXTRA_CELLS = 2.0
EXTRA_SLOTS = 2.0
#: κ and τ are no larger: crowds are then alike for all that matters
MAX_ALIKE = 1e4


@jit
def refresh(belief: Any) -> None:
    """Learn everything anew from the counts in use, beginning with what was learned last."""
    for _ in range(TIMES):
        fit_bias(belief)
        for _ in range(STEPS):
            learn_levels(belief)
            learn_items(belief)
        if belief.passes.shape[0] > 1:
            # from the means of now: those of before a whole tally are far from what it says
            take_means(belief)
            _learn_slots(belief)
            _expose(belief)
        take_means(belief)


@jit
def fit_bias(belief: Any) -> None:
    """Weigh lists at the means, find the mode of the bias and its spread, and what items were exposed to."""
    if belief.seen.count > 0:
        weigh_lists(belief, 0, belief.passes)
    if not belief.is_told:
        find_mode(belief, belief.mode, belief.clicks[0], belief.slot_clicks[0], belief.passes)
        inverse_root(belief.cholesky, belief.bias_spread, belief.spread)
    _expose(belief)


@jit
def take_means(belief: Any) -> None:
    """The means of α and of λδ in each cell, given all that is learned of all."""
    segments, items = belief.mean.shape
    for segment in range(segments):
        for slot in range(len(belief.mode)):
            belief.mean_bias[segment, slot] = math.exp(belief.mode[slot]) * belief.slot_level[segment, slot]
        for item in range(items):
            shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
            if segments > 1:
                shape, rate = belief.own_taste, belief.own_taste / (belief.level[item] * belief.own_mean[segment, item])
            belief.mean[segment, item] = (shape + belief.clicks[0, segment, item]) / (
                rate + belief.exposure[segment, item]
            )


@jit
def weigh_lists(belief: Any, kind: int, passes: FloatArray) -> None:
    """Passes by segment, item and slot: Σ_A T_A/(1+S_A) over the lists, and those that are in no list."""
    seen = belief.seen
    segments, items, slots = passes.shape
    for segment in range(segments):
        for item in range(items):
            for slot in range(slots):
                passes[segment, item, slot] = belief.folded[kind, segment, item, slot]
    for number in range(seen.count):
        rounds = seen.rounds[kind, number]
        if rounds > 0.0:
            segment, total = seen.lists[number, 0], weight_of(belief, number)
            for slot in range(slots):
                item = seen.lists[number, slot + 1]
                if item != EMPTY:
                    passes[segment, item, slot] += rounds / total


@inlined
def weight_of(belief: Any, number: int) -> float:
    """1 + S_A of a list in the table, at the means."""
    lists, total = belief.seen.lists, 1.0
    segment = lists[number, 0]
    for slot in range(lists.shape[1] - 1):
        item = lists[number, slot + 1]
        if item != EMPTY:
            total += belief.mean_bias[segment, slot] * belief.mean[segment, item]
    return total


@jit
def find_mode(belief: Any, mode: FloatArray, clicks: FloatArray, slot_clicks: FloatArray, passes: FloatArray) -> None:
    """Newton's method for the mode of log λ given these counts, from the last one on; leaves L with LLᵀ = -ℓ″."""
    for _ in range(MAX_STEPS):
        _newton_step(belief, mode, clicks, slot_clicks, passes)
        longest = 0.0
        for slot in range(len(mode)):
            mode[slot] += min(MAX_STEP, max(-MAX_STEP, belief.step[slot]))
            longest = max(longest, abs(belief.step[slot]))
        if longest < MIN_STEP:
            break


@jit
def _newton_step(
    belief: Any, mode: FloatArray, clicks: FloatArray, slot_clicks: FloatArray, passes: FloatArray
) -> None:
    """step = (-ℓ″)⁻¹ ℓ′ at the mode so far, by Cholesky; all terms of -ℓ″ are written for γÑ/E, the cells' shares."""
    segments, items, slots = passes.shape
    step, matrix, bias, share = belief.step, belief.cholesky, belief.noise, belief.share
    for slot in range(slots):
        for other in range(slots):
            matrix[slot, other] = 0.0
        bias[slot] = math.exp(mode[slot])
        step[slot] = belief.bias_shape - belief.bias_shape * bias[slot]
        matrix[slot, slot] = belief.bias_shape * bias[slot]
        for segment in range(segments):
            step[slot] += slot_clicks[segment, slot]
    for segment in range(segments):
        for item in range(items):
            # most of very many items were never seen
            if belief.counted[item] == 0.0:
                continue
            exposure = 0.0
            for slot in range(slots):
                share[slot] = bias[slot] * belief.slot_level[segment, slot] * passes[segment, item, slot]
                exposure += share[slot]
            if exposure > 0.0:
                shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
                if segments > 1:
                    own = belief.own_mean[segment, item]
                    shape, rate = belief.own_taste, belief.own_taste / (belief.level[item] * own)
                exposure += rate
                weight = (shape + clicks[segment, item]) / exposure
                for slot in range(slots):
                    drop = weight * share[slot]
                    if drop > 0.0:
                        step[slot] -= drop
                        matrix[slot, slot] += drop
                        for other in range(slot + 1):
                            matrix[slot, other] -= drop * share[other] / exposure
    for slot in range(slots):
        share[slot] = 0.0
    factorise(matrix, share, 0)
    solve(matrix, step, 0)


@jit
def _expose(belief: Any) -> None:
    """E_sj = Σ_k λ_k δ_sk Ñ_sjk at the mode."""
    segments, items, slots = belief.passes.shape
    for segment in range(segments):
        for slot in range(slots):
            belief.share[slot] = math.exp(belief.mode[slot]) * belief.slot_level[segment, slot]
        for item in range(items):
            if belief.counted[item] > 0.0:
                exposure = 0.0
                for slot in range(slots):
                    exposure += belief.share[slot] * belief.passes[segment, item, slot]
                belief.exposure[segment, item] = exposure


@jit
def learn_levels(belief: Any) -> None:
    """m and ε at their means, and κ by EM: log κ - ψ(κ) = mean(E ε - E log ε) - 1 over cells with exposure."""
    segments, items = belief.exposure.shape
    if segments == 1:
        return
    own = belief.own_taste
    # cells more, as alike as crowds are taken to be before anything is known
    count, gap = EXTRA_CELLS, EXTRA_CELLS * (math.log(OWN_TASTE) - digamma(OWN_TASTE) + 1.0)
    for item in range(items):
        shape, rate = belief.item_shape, belief.item_shape / belief.item_mean[item]
        for segment in range(segments):
            shape += belief.clicks[0, segment, item]
            rate += belief.exposure[segment, item] * belief.own_level[segment, item]
        level = shape / rate
        belief.level[item] = level
        for segment in range(segments):
            exposure, mean = belief.exposure[segment, item], belief.own_mean[segment, item]
            if exposure > NO_EXPOSURE:
                # of ε/ν
                a, b = own + belief.clicks[0, segment, item], own + level * mean * exposure
                belief.own_level[segment, item] = mean * a / b
                count += 1.0
                gap += a / b - digamma(a) + math.log(b)
            else:
                belief.own_level[segment, item] = mean
    belief.own_taste = min(MAX_ALIKE, max(MIN_SHAPE, shape_of(max(1e-5, gap / count - 1.0))))


@jit
def _learn_slots(belief: Any) -> None:
    """δ at its mean, and τ by EM likewise."""
    segments, items, slots = belief.passes.shape
    own = belief.own_slots
    count, gap = EXTRA_SLOTS, EXTRA_SLOTS * (math.log(OWN_SLOTS) - digamma(OWN_SLOTS) + 1.0)
    for segment in range(segments):
        for slot in range(slots):
            expected = 0.0
            for item in range(items):
                expected += belief.passes[segment, item, slot] * belief.mean[segment, item]
            expected *= math.exp(belief.mode[slot])
            if expected > NO_EXPOSURE:
                a, b = own + belief.slot_clicks[0, segment, slot], own + expected
                belief.slot_level[segment, slot] = a / b
                count += 1.0
                gap += a / b - digamma(a) + math.log(b)
    belief.own_slots = min(MAX_ALIKE, max(1.0, shape_of(max(1e-5, gap / count - 1.0))))
