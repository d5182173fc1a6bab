"""MNL-bandit with the bounds of its own paper: Agrawal, Avadhanula, Goyal and Zeevi (2019), for slots of a page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.compiled import inlined, record
from slotwise.lists.arrange import arrange_pairs
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import absorb, choose, learn_epoch, pair_lists_for
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.tally import add_counts, count_epoch, count_no_clicks
from slotwise.typing import EMPTY, FloatArray, IntArray, Ranking

#: the factor of log(√N l + 1)/T in Algorithm 1
WIDTH = 48.0
#: what takes longer than anyone waits
WIDE = ("values", "empty slots", "chance")


@record
class MNLUCB:
    """Assign by v̄ + √(48 v̄ c/T) + 48c/T with c = log(√N l + 1) in epoch l.

    The paper chooses a set among N products and has no slots. Here every pair of slot and item is a product of its own,
    as in Algorithm 4 of Grant and Leslie, so that N = JK, and the set is a list: one item a slot, none twice. A pair
    that was never shown comes first, where the paper starts from a bound of 1, the most that it takes one to weigh.

    The text of the paper could not be had in full: this is its algorithm as it is known, not checked line by line.
    """

    #: l - 1, complete epochs
    epochs: float
    #: per slot and item, over complete epochs: V, T, their ratio v̄ (infinite before the first), and 1/T
    clicks: FloatArray
    passes: FloatArray
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "mnl-ucb",
    name="MNL-UCB",
    position_bias="unknown",
    citation="Agrawal, Avadhanula, Goyal and Zeevi, MNL-Bandit: A Dynamic Learning Approach to Assortment Selection "
    "(2019)",
    limits=dict.fromkeys(WIDE, "its bounds are so wide that it tries everything for hundreds of thousands of rounds"),
    rival=True,
)
def mnl_ucb(setting: Setting) -> Epochs:
    """Algorithm 1 on pairs."""
    shape = (setting.slots, setting.items)
    policy = MNLUCB(
        epochs=0.0,
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        mean=np.full(shape, np.inf),
        uncertainty=np.zeros(shape),
        index=np.zeros(shape),
        lists=pair_lists_for(setting),
        ranking=np.zeros(setting.slots, np.int64),
    )
    return in_epochs(policy, setting)


@choose.register(MNLUCB)
def _choose(policy: MNLUCB, rng: np.random.Generator) -> Ranking:
    index, mean, uncertainty = policy.index.ravel(), policy.mean.ravel(), policy.uncertainty.ravel()
    width = WIDTH * math.log(math.sqrt(len(index)) * (policy.epochs + 1.0) + 1.0)
    for pair in range(len(index)):
        scale = width * uncertainty[pair]
        # nothing that was never shown has a spread: infinity times 0 would be no number
        index[pair] = mean[pair] if scale == 0.0 else mean[pair] + math.sqrt(mean[pair] * scale) + scale
    arrange_pairs(policy.lists, policy.index, policy.ranking, rng)
    return policy.ranking


@learn_epoch.register(MNLUCB)
def _learn_epoch(policy: MNLUCB, ranking: Ranking, clicks: IntArray) -> None:
    policy.epochs += 1.0
    count_epoch(policy.clicks, policy.passes, ranking, clicks)
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            _estimate(policy, slot, ranking[slot])


@absorb.register(MNLUCB)
def _absorb(policy: MNLUCB, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    policy.epochs += count_no_clicks(passes)
    add_counts(policy.clicks, policy.passes, clicks, passes)
    for slot in range(slots):
        for item in range(items):
            if policy.passes[slot, item] > 0.0:
                _estimate(policy, slot, item)


@inlined
def _estimate(policy: MNLUCB, slot: int, item: int) -> None:
    policy.uncertainty[slot, item] = 1.0 / policy.passes[slot, item]
    policy.mean[slot, item] = policy.clicks[slot, item] * policy.uncertainty[slot, item]
