"""Attractiveness and position bias from pairwise trials, kept up to date by the round, and how sure each pair is.

The rounds in which the item in a slot was clicked or nothing was are Bernoulli trials with log-odds log α_j + log λ_k:
logistic regression on slots and items. Its score is Σ (N - nγ/(1+γ)) over an item's or a slot's pairs, which has mean
zero however the rankings were chosen. Every item and every slot is given one trial of its own, half a click, at γ = α_j
or γ = λ_k: the estimate then always exists, and no slot has to be held at 1. With W = nγ/(1+γ)², d_j and D_k its sums
over an item and over a slot, their own trial included, U_j = W_·j/d_j and H = diag(D) - Σ_j W_·jW_·jᵀ/d_j, the variance
of log γ_kj, from direct evidence and from that by way of other pairs, is

    v_kj = 1/d_j + (e_k - U_j)ᵀ H⁻¹ (e_k - U_j).

Where the items never change their slots a pair that was not shown has a large one, however well the others are known:
what a point estimate of the bias would take for granted. (The trials of one round end together if nothing is clicked;
their covariance, γ_kγ_m a round, is not in v.)
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.compiled import jit, record
from slotwise.linear import invert
from slotwise.typing import FloatArray

#: the trial that every item and every slot is given, and the part of it that is a click
OWN_TRIAL = 1.0
OWN_CLICK = 0.5
#: the longest step in log α and log λ: further away the likelihood is nothing like its parabola
LONGEST_STEP = 1.0


@record
class PairwiseModel:
    """The counts, the estimate, and the room to improve it in."""

    #: N and n, slots × items
    clicks: FloatArray
    trials: FloatArray
    #: α, per item, and λ, per slot, on a common scale that only the trials of their own decide
    attractiveness: FloatArray
    position_bias: FloatArray
    #: W, slots × items
    weight: FloatArray
    #: d, per item; U, items × slots; H and then its inverse, slots × slots
    total: FloatArray
    share: FloatArray
    inverse: FloatArray
    #: the scores, which become the steps
    item_step: FloatArray
    slot_step: FloatArray
    #: room, per slot
    vector: FloatArray
    #: (1+γ)²/(γv): so many trials of the pair alone would say as much of it, slots × items
    effective_trials: FloatArray


def pairwise_model(slots: int, items: int) -> PairwiseModel:
    """No trials yet."""
    return PairwiseModel(
        clicks=np.zeros((slots, items)),
        trials=np.zeros((slots, items)),
        attractiveness=np.ones(items),
        position_bias=np.ones(slots),
        weight=np.zeros((slots, items)),
        total=np.zeros(items),
        share=np.zeros((items, slots)),
        inverse=np.zeros((slots, slots)),
        item_step=np.zeros(items),
        slot_step=np.zeros(slots),
        vector=np.zeros(slots),
        effective_trials=np.zeros((slots, items)),
    )


@jit
def improve(model: PairwiseModel) -> None:
    """Take one Newton step; from the last estimate, with a round more, one is enough."""
    _linearise(model)
    invert(model.inverse)
    slots, items = model.trials.shape
    share, item_step, slot_step, step = model.share, model.item_step, model.slot_step, model.vector
    longest = LONGEST_STEP
    for row in range(slots):
        step[row] = 0.0
        for column in range(slots):
            step[row] += model.inverse[row, column] * slot_step[column]
        longest = max(longest, abs(step[row]))
    for item in range(items):
        item_step[item] /= model.total[item]
        for slot in range(slots):
            item_step[item] -= share[item, slot] * step[slot]
        longest = max(longest, abs(item_step[item]))
    for slot in range(slots):
        model.position_bias[slot] *= math.exp(step[slot] * LONGEST_STEP / longest)
    for item in range(items):
        model.attractiveness[item] *= math.exp(item_step[item] * LONGEST_STEP / longest)


@jit
def weigh_evidence(model: PairwiseModel) -> None:
    """Set `effective_trials` from v at the estimate, with W and H as the last step left them."""
    slots, items = model.trials.shape
    share, inverse, spread = model.share, model.inverse, model.vector
    for item in range(items):
        own = 1.0 / model.total[item]
        for row in range(slots):
            spread[row] = 0.0
            for column in range(slots):
                spread[row] += inverse[row, column] * share[item, column]
            own += share[item, row] * spread[row]
        for slot in range(slots):
            variance = own + inverse[slot, slot] - 2.0 * spread[slot]
            odds = model.position_bias[slot] * model.attractiveness[item]
            model.effective_trials[slot, item] = (1.0 + odds) * (1.0 + odds) / (odds * variance)


@jit
def _linearise(model: PairwiseModel) -> None:
    """The scores with those of the items eliminated, W, d, U and H."""
    slots, items = model.trials.shape
    weight, share, matrix = model.weight, model.share, model.inverse
    item_score, slot_score = model.item_step, model.slot_step
    for slot in range(slots):
        chance = model.position_bias[slot] / (1.0 + model.position_bias[slot])
        slot_score[slot] = OWN_CLICK - OWN_TRIAL * chance
        for other in range(slots):
            matrix[slot, other] = 0.0
        matrix[slot, slot] = OWN_TRIAL * chance * (1.0 - chance)
    for item in range(items):
        chance = model.attractiveness[item] / (1.0 + model.attractiveness[item])
        item_score[item] = OWN_CLICK - OWN_TRIAL * chance
        model.total[item] = OWN_TRIAL * chance * (1.0 - chance)
        for slot in range(slots):
            weight[slot, item] = 0.0
            trials = model.trials[slot, item]
            if trials > 0.0:
                odds = model.position_bias[slot] * model.attractiveness[item]
                chance = odds / (1.0 + odds)
                score = model.clicks[slot, item] - trials * chance
                weight[slot, item] = trials * chance * (1.0 - chance)
                item_score[item] += score
                slot_score[slot] += score
                model.total[item] += weight[slot, item]
                matrix[slot, slot] += weight[slot, item]
        for row in range(slots):
            share[item, row] = weight[row, item] / model.total[item]
            slot_score[row] -= share[item, row] * item_score[item]
            for column in range(row + 1):
                matrix[row, column] -= share[item, row] * weight[column, item]
    for row in range(slots):
        for column in range(row):
            matrix[column, row] = matrix[row, column]
