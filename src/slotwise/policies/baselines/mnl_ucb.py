"""MNL-UCB: a bound per item on the odds of its choice, after Agrawal, Avadhanula, Goyal and Zeevi (2019)."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_no_clicks
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.top_k import select_best
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.indices.epoch_index import agrawal_bounds
from slotwise.policies.interface import choose, learn_epoch, update_from_tally
from slotwise.policies.paper.mnl_bandit import AGRAWAL_WIDTH, start
from slotwise.policies.policy_registry import register

CITATION = (
    "Agrawal, Avadhanula, Goyal and Zeevi, MNL-Bandit: A Dynamic Learning Approach to Assortment Selection (2019)"
)
#: of a policy on items: the papers choose a set
NO_SLOTS = "it chooses a set, without slots for values and constraints"
WIDE = "its bounds are so wide that it tries everything for hundreds of thousands of rounds"


@record
class MNLUCB:
    """Algorithm 1: show the items with the largest v̄ + √(48 v̄ c/T) + 48c/T, c = log(√J l + 1) in epoch l.

    The item was shown in T epochs, and v̄ is its clicks per epoch. The paper chooses a set and has no slots: here the
    items are shown in decreasing order of the bound. An item that was never shown comes first. The paper starts from a
    bound of 1 instead, its assumed maximum.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    #: l - 1, complete epochs
    epochs: float
    #: per item, over complete epochs: clicks, T, their ratio v̄ (infinite before the first), and 1/T
    clicks: FloatArray
    passes: FloatArray
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    #: items by decreasing index, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@register(
    "mnl-ucb",
    name="MNL-UCB",
    position_bias="ordered",
    citation=CITATION,
    limits={"goal": NO_SLOTS},
    rival=True,
)
def mnl_ucb(task: PolicyTask) -> Epochs:
    """Algorithm 1, on items."""
    policy = MNLUCB(
        epochs=0.0,
        clicks=np.zeros(task.items),
        passes=np.zeros(task.items),
        mean=np.full(task.items, np.inf),
        uncertainty=np.zeros(task.items),
        index=np.zeros(task.items),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@register(
    "mnl-ucb-pairs",
    name="MNL-UCB on pairs",
    position_bias="unknown",
    citation=CITATION,
    limits=dict.fromkeys(("values", "empty slots", "chance"), WIDE),
    rival=True,
)
def mnl_ucb_pairs(task: PolicyTask) -> Epochs:
    """The bounds of Algorithm 1 for every pair of slot and item, as in Algorithm 4 of Grant and Leslie: N = JK."""
    return start(task, agrawal=True)


@choose.register(MNLUCB)
def _choose(policy: MNLUCB, rng: np.random.Generator) -> Ranking:
    width = AGRAWAL_WIDTH * math.log(math.sqrt(len(policy.index)) * (policy.epochs + 1.0) + 1.0)
    agrawal_bounds(policy.mean, policy.uncertainty, width, policy.index)
    ranking = policy.ranking
    select_best(policy.index, policy.item_order, len(ranking), rng)
    for slot in range(len(ranking)):
        ranking[slot] = policy.item_order[slot]
    return ranking


@learn_epoch.register(MNLUCB)
def _learn_epoch(policy: MNLUCB, ranking: Ranking, clicks: IntArray) -> None:
    policy.epochs += 1.0
    for slot in range(len(ranking)):
        _count(policy, ranking[slot], clicks[slot], 1.0)


@update_from_tally.register(MNLUCB)
def _update_from_tally(policy: MNLUCB, clicks: FloatArray, passes: FloatArray) -> None:
    policy.epochs += count_no_clicks(passes)
    for item in range(len(policy.clicks)):
        _count(policy, item, clicks[:, item].sum(), passes[:, item].sum())


@inlined
def _count(policy: MNLUCB, item: int, clicks: float, passes: float) -> None:
    policy.clicks[item] += clicks
    policy.passes[item] += passes
    if policy.passes[item] > 0.0:
        policy.uncertainty[item] = 1.0 / policy.passes[item]
        policy.mean[item] = policy.clicks[item] * policy.uncertainty[item]
