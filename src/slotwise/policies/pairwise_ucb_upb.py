"""Pairwise-UCB UPB: unknown position bias, round by round; an upper bound on each pair's odds, a product λ_kα_j."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.bounds.pairwise import Bound, exploration, is_kl, upper_odds
from slotwise.compiled import record
from slotwise.estimate.pairwise import PairwiseModel, improve, pairwise_model, weigh_evidence
from slotwise.lists.arrange import arrange_pairs
from slotwise.policies.interface import absorb, choose, learn, pair_lists_for
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.typing import EMPTY, NO_CLICK, FloatArray, Ranking

#: in log α: what is left after a step this short, a decision's own step takes
SHORTEST_STEP = 0.01
MOST_STEPS = 50


@record
class PairwiseUCBUnknownBias:
    """Assign by an upper bound on γ_kj = λ_kα_j, as if from n_kj trials of that pair alone with mean γ̂_kj.

    γ̂ and n come from logistic regression on slots and items: n_kj = (1+γ̂)²/(γ̂v), v the variance of log γ̂, so that what
    is not known of λ counts against a pair that was not shown, and it is tried.
    c = log(x(1 + log²x)), x = Σ_i n_ki/(J n_kj) if that is above 1, and else 0.
    """

    model: PairwiseModel
    kl: bool
    #: trials, per item
    item_trials: FloatArray
    #: slots × items
    index: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "pairwise-ucb-upb",
    name="Pairwise-UCB UPB",
    position_bias="unknown",
    citation="slotwise; in the line of Saha and Gaillard (2024) and of Chen, Dai, Lyu and Zhou (2026)",
    try_with=[{"bound": "bernstein"}],
    limits={"empty slots": "it explores a pair by how often its slot was used: one left empty from the start stays so"},
    also_compared=[{}],
)
def pairwise_ucb_upb(setting: Setting, *, bound: Bound = "kl") -> PairwiseUCBUnknownBias:
    """Pairwise-UCB for unknown bias with the `kl` or the `bernstein` bound."""
    slots, items = setting.slots, setting.items
    return PairwiseUCBUnknownBias(
        model=pairwise_model(slots, items),
        kl=is_kl(bound),
        item_trials=np.zeros(items),
        index=np.full((slots, items), np.inf),
        lists=pair_lists_for(setting),
        ranking=np.zeros(slots, np.int64),
    )


@choose.register(PairwiseUCBUnknownBias)
def _choose(policy: PairwiseUCBUnknownBias, rng: np.random.Generator) -> Ranking:
    model, index = policy.model, policy.index
    improve(model)
    weigh_evidence(model)
    slots, items = index.shape
    for slot in range(slots):
        per_item = 0.0
        for item in range(items):
            per_item += model.effective_trials[slot, item] / items
        for item in range(items):
            if policy.item_trials[item] > 0.0:
                trials = model.effective_trials[slot, item]
                level = exploration(per_item / trials)
                passes = trials / (1.0 + model.position_bias[slot] * model.attractiveness[item])
                index[slot, item] = upper_odds(policy.kl, trials - passes, passes, level, index[slot, item])
            else:
                index[slot, item] = math.inf
    arrange_pairs(policy.lists, index, policy.ranking, rng)
    return policy.ranking


@learn.register(PairwiseUCBUnknownBias)
def _learn(policy: PairwiseUCBUnknownBias, ranking: Ranking, clicked: int) -> None:
    model = policy.model
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                model.trials[slot, ranking[slot]] += 1.0
                policy.item_trials[ranking[slot]] += 1.0
    else:
        model.trials[clicked, ranking[clicked]] += 1.0
        model.clicks[clicked, ranking[clicked]] += 1.0
        policy.item_trials[ranking[clicked]] += 1.0


@absorb.register(PairwiseUCBUnknownBias)
def _absorb(policy: PairwiseUCBUnknownBias, clicks: FloatArray, passes: FloatArray) -> None:
    model = policy.model
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            trials = clicks[slot, item] + passes[slot, item]
            model.clicks[slot, item] += clicks[slot, item]
            model.trials[slot, item] += trials
            policy.item_trials[item] += trials
    # a decision takes one step, which is enough for one round more, but not for so many
    for _ in range(MOST_STEPS):
        improve(model)
        longest = 0.0
        for item in range(items):
            longest = max(longest, abs(model.item_step[item]))
        if longest < SHORTEST_STEP:
            break
