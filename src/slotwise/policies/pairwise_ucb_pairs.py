"""Pairwise-UCB on pairs: each slot-item pair an object of its own, round by round, whatever the slots do to items."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.bounds.pairwise import Bound, exploration, is_kl, upper_odds
from slotwise.compiled import record
from slotwise.lists.arrange import arrange_pairs
from slotwise.policies.interface import absorb, choose, learn, pair_lists_for
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.tally import add_counts
from slotwise.typing import EMPTY, NO_CLICK, FloatArray, Ranking


@record
class PairwiseUCBPairs:
    """Assign by an upper bound on γ_kj from the trials of that pair.

    c = log(x(1 + log²x)), x = Σ_i n_ki/(J n_kj) if that is above 1, and else 0.
    """

    kl: bool
    #: N and Ñ, slots × items
    clicks: FloatArray
    passes: FloatArray
    #: Σ_i n_ki/J, per slot
    per_item: FloatArray
    #: slots × items
    index: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "pairwise-ucb-pairs",
    name="Pairwise-UCB on pairs",
    position_bias="unknown",
    citation="slotwise; in the line of Saha and Gaillard (2024) and of Chen, Dai, Lyu and Zhou (2026)",
    try_with=[{"bound": "bernstein"}],
    limits={
        "empty slots": "it explores a pair by how often its slot was used: one left empty from the start stays so",
        "chance": "it may leave slots empty from the start that half of the value is in, and stay with that",
    },
)
def pairwise_ucb_pairs(setting: Setting, *, bound: Bound = "kl") -> PairwiseUCBPairs:
    """Pairwise-UCB on pairs with the `kl` or the `bernstein` bound."""
    shape = (setting.slots, setting.items)
    return PairwiseUCBPairs(
        kl=is_kl(bound),
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        per_item=np.zeros(setting.slots),
        index=np.full(shape, np.inf),
        lists=pair_lists_for(setting),
        ranking=np.zeros(setting.slots, np.int64),
    )


@choose.register(PairwiseUCBPairs)
def _choose(policy: PairwiseUCBPairs, rng: np.random.Generator) -> Ranking:
    clicks, passes, index = policy.clicks, policy.passes, policy.index
    slots, items = index.shape
    for slot in range(slots):
        for item in range(items):
            trials = clicks[slot, item] + passes[slot, item]
            level = exploration(policy.per_item[slot] / trials) if trials > 0.0 else 0.0
            index[slot, item] = upper_odds(policy.kl, clicks[slot, item], passes[slot, item], level, index[slot, item])
    arrange_pairs(policy.lists, index, policy.ranking, rng)
    return policy.ranking


@learn.register(PairwiseUCBPairs)
def _learn(policy: PairwiseUCBPairs, ranking: Ranking, clicked: int) -> None:
    items = policy.index.shape[1]
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                policy.passes[slot, ranking[slot]] += 1.0
                policy.per_item[slot] += 1.0 / items
    else:
        policy.clicks[clicked, ranking[clicked]] += 1.0
        policy.per_item[clicked] += 1.0 / items


@absorb.register(PairwiseUCBPairs)
def _absorb(policy: PairwiseUCBPairs, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    add_counts(policy.clicks, policy.passes, clicks, passes)
    for slot in range(slots):
        for item in range(items):
            policy.per_item[slot] += (clicks[slot, item] + passes[slot, item]) / items
