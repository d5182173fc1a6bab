"""The position bias is learned: its posterior with attractiveness integrated out, drawn from at its mode.

With Gamma priors, and clicks taken as Poisson with mean γ·passes, attractiveness given the bias is Gamma:

    α_j | λ ~ Gamma(s + N_·j, r + Σ_k λ_kÑ_kj).

Integrated out of the likelihood it leaves a posterior of the bias alone, log-concave, in as many dimensions
as there are slots, whatever the number of items. With λ_k ~ Gamma(c, c) it is, up to a constant,

    ℓ(log λ) = Σ_k [(c + N_k·) log λ_k - cλ_k] - Σ_j (s + N_·j) log(r + Σ_k λ_kÑ_kj),

of which log λ is drawn by its normal approximation at the mode. No slot is an anchor: the priors fix the scale.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise import checks
from slotwise.belief.interface import imagine, update, update_by_tally
from slotwise.belief.sums import add_tally, expose
from slotwise.compiled import jit, record
from slotwise.linear import factorise, inverse_root, solve
from slotwise.setting import Setting
from slotwise.tally import count_no_clicks
from slotwise.typing import EMPTY, NO_CLICK, FloatArray, Ranking

#: c; the standard deviation of log λ is about 1/√c
BIAS_SHAPE = 2.0
#: the mode is found anew when the data have grown by this part; before that its shift is far below its spread
GROWTH = 0.02
#: a draw is kept for no longer than this part of the rounds so far
KEPT_PART = 0.01
#: a Newton step of log λ is cut to this length, and the last one is shorter than that
LONGEST_STEP = 1.0
SHORTEST_STEP = 0.01
MOST_STEPS = 50


@record
class LearnedBias:
    """The position bias is drawn afresh for each decision, and attractiveness has a Gamma posterior given that draw."""

    #: λ as last drawn, per slot
    position_bias: FloatArray
    #: of the posterior of α given that λ, per item
    shape: FloatArray
    rate: FloatArray
    #: r, per item
    prior_rate: FloatArray
    #: c, and by how much the spread of a draw is scaled
    bias_shape: float
    bias_spread: float
    #: N_k·, per slot, and Ñ, items × slots
    slot_clicks: FloatArray
    passes: FloatArray
    #: the mode of log λ, and a root of its covariance, scaled: upper triangular R with RRᵀ = bias_spread²·(-ℓ″)⁻¹
    mode: FloatArray
    spread: FloatArray
    #: rounds counted, and the round from which the mode is out of date
    rounds: float
    outdated: float
    #: for how many decisions a draw is kept at most, and for how many more this one is
    keep: int
    wait: int
    #: room: standard normal draws, or λ at the mode and its step; and the Cholesky factor of -ℓ″
    noise: FloatArray
    step: FloatArray
    cholesky: FloatArray


def learned_bias(
    setting: Setting, *, shape: Any, rate: Any, bias_shape: Any, bias_spread: Any = 1.0, keep: int = 1
) -> LearnedBias:
    """Before the first round, the bias to be learned.

    `bias_spread` scales the standard deviation of what is drawn. A draw is kept for up to `keep` decisions, once there
    are so many rounds that it hardly matters.
    """
    slots, items = setting.slots, setting.items
    rates = checks.per_item("rate", rate, items)
    return LearnedBias(
        position_bias=np.ones(slots),
        shape=checks.per_item("shape", shape, items),
        rate=rates.copy(),
        prior_rate=rates,
        bias_shape=checks.positive_number("bias_shape", bias_shape),
        bias_spread=checks.positive_number("bias_spread", bias_spread),
        slot_clicks=np.zeros(slots),
        passes=np.zeros((items, slots)),
        mode=np.zeros(slots),
        spread=np.zeros((slots, slots)),
        rounds=0.0,
        outdated=0.0,
        keep=keep,
        wait=0,
        noise=np.zeros(slots),
        step=np.zeros(slots),
        cholesky=np.zeros((slots, slots)),
    )


@imagine.register(LearnedBias)
def _imagine(belief: LearnedBias, rng: np.random.Generator) -> None:
    if belief.wait > 0:
        belief.wait -= 1
        return
    belief.wait = min(belief.keep, int(belief.rounds * KEPT_PART)) - 1
    if belief.rounds >= belief.outdated:
        find_mode(belief)
        belief.outdated = belief.rounds * (1.0 + GROWTH) + 1e-9
    bias, noise, spread, mode = belief.position_bias, belief.noise, belief.spread, belief.mode
    slots = len(bias)
    for slot in range(slots):
        noise[slot] = rng.standard_normal()
    for slot in range(slots):
        drawn = mode[slot]
        for other in range(slot, slots):
            drawn += spread[slot, other] * noise[other]
        bias[slot] = math.exp(drawn)
    expose(belief.position_bias, belief.passes, belief.prior_rate, belief.rate)


@update.register(LearnedBias)
def _update_learned(belief: LearnedBias, ranking: Ranking, clicked: int) -> None:
    belief.rounds += 1.0
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                belief.passes[ranking[slot], slot] += 1.0
                belief.rate[ranking[slot]] += belief.position_bias[slot]
    else:
        belief.slot_clicks[clicked] += 1.0
        belief.shape[ranking[clicked]] += 1.0


@update_by_tally.register(LearnedBias)
def _absorb_learned(belief: LearnedBias, clicks: FloatArray, passes: FloatArray) -> None:
    add_tally(belief.shape, belief.slot_clicks, belief.passes, clicks, passes)
    belief.rounds += clicks.sum() + count_no_clicks(passes)
    # now and not at the next decision, which someone waits for
    if belief.rounds >= belief.outdated:
        find_mode(belief)
        belief.outdated = belief.rounds * (1.0 + GROWTH) + 1e-9
    belief.wait = 0
    for slot in range(len(belief.mode)):
        belief.position_bias[slot] = math.exp(belief.mode[slot])
    expose(belief.position_bias, belief.passes, belief.prior_rate, belief.rate)


@jit
def find_mode(belief: LearnedBias) -> None:
    """Newton's method for the mode of log λ, from the last one, and the root of the covariance there."""
    mode = belief.mode
    for _ in range(MOST_STEPS):
        _newton_step(belief)
        longest = 0.0
        for slot in range(len(mode)):
            mode[slot] += min(LONGEST_STEP, max(-LONGEST_STEP, belief.step[slot]))
            longest = max(longest, abs(belief.step[slot]))
        if longest < SHORTEST_STEP:
            break
    # R ∝ L⁻ᵀ, the covariance being (LLᵀ)⁻¹; L is that before the last, short step
    inverse_root(belief.cholesky, belief.bias_spread, belief.spread)


@jit
def _newton_step(belief: LearnedBias) -> None:
    """step = (-ℓ″)⁻¹ ℓ′ at the mode so far, by Cholesky; all terms of -ℓ″ are written for γÑ/E, the items' shares."""
    mode, step, matrix, bias = belief.mode, belief.step, belief.cholesky, belief.noise
    passes, shape, prior_rate = belief.passes, belief.shape, belief.prior_rate
    items, slots = passes.shape
    share = belief.position_bias  # it is drawn anew after this
    matrix[:, :] = 0.0
    for slot in range(slots):
        bias[slot] = math.exp(mode[slot])
        step[slot] = belief.bias_shape + belief.slot_clicks[slot] - belief.bias_shape * bias[slot]
        matrix[slot, slot] = belief.bias_shape * bias[slot]
    for item in range(items):
        exposure = 0.0
        for slot in range(slots):
            share[slot] = bias[slot] * passes[item, slot]
            exposure += share[slot]
        if exposure > 0.0:
            weight = shape[item] / (exposure + prior_rate[item])
            for slot in range(slots):
                drop = weight * share[slot]
                step[slot] -= drop
                matrix[slot, slot] += drop
                for other in range(slot + 1):
                    matrix[slot, other] -= drop * share[other] / (exposure + prior_rate[item])
    share[:] = 0.0
    # cλ on the diagonal: no pivot is anywhere near 0
    factorise(matrix, share, 0)
    solve(matrix, step, 0)
