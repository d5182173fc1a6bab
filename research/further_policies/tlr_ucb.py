"""Truncated linear regression on the clicks of epochs, after the abstract of TLR-UCB, Luo, Sun and Liu (2025)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_no_clicks
from slotwise.core.types import EMPTY, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.optimize.round_robin import RoundRobin, fill_round_robin, round_robin_order
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import choose, learn_epoch, lists_for, update_from_tally
from slotwise.policies.policy_registry import register

CITATION = "Luo, Sun and Liu, Rate-Optimal Online Learning for Dynamic Assortment Selection with Positioning (2025)"
LIMITS = {
    "goal": "it maximises clicks, and supports neither values nor constraints",
    "tally": "it needs the clicks of each epoch, which a tally does not have",
}
#: the maximum variance of an epoch's clicks on an item, if the product λv is at most 1
VARIANCE = 2.0


@record
class TLRUCB:
    """Rank by v̂ + √(4c/V) with v̂ = Σλy/V, V = Σλ² and c = log(Jl²/2) in epoch l.

    A list is shown until a round without a click. The clicks y on an item in slot k are then geometric with mean λ_k v,
    linear in v like the rewards of a linear bandit. The sums are over the epochs that showed the item. A y above
    2 log₂(l + 1) counts as 0; that happens less than once in l² epochs if λv ≤ 1.

    Only the abstract of the paper was available. It has epochs, geometric responses that are linear in the bias of the
    slot, truncation before regression, and an upper confidence bound. The level of truncation and the bound are our
    own. The bound is that for a variance proxy of 2, the largest variance of y if λv ≤ 1.
    """

    #: λ, per slot, known or estimated
    position_bias: FloatArray
    lists: Any
    #: l - 1, complete epochs; the number of them that estimate λ; and whether λ is estimated or known
    epochs: float
    exploring: float
    knows_bias: bool
    #: slots × items: truncated clicks of epochs, and epochs
    clicks: FloatArray
    shows: FloatArray
    #: per item: Σλy, V, and its index
    weighted: FloatArray
    squares: FloatArray
    index: FloatArray
    #: the lists of the epochs that estimate λ
    first_lists: RoundRobin
    ranking: Ranking


@register("tlr-ucb-like", name="like TLR-UCB", position_bias="known", citation=CITATION, limits=LIMITS, rival=True)
def tlr_ucb(task: PolicyTask) -> Epochs:
    """In the manner of TLR-UCB, for slots with a known bias."""
    assert task.position_bias is not None
    return start(task, task.position_bias, exploring=0.0)


def start(task: PolicyTask, position_bias: FloatArray, exploring: float) -> Epochs:
    """Return TLR-UCB that estimates the bias in the first `exploring` epochs."""
    shape = (task.slots, task.items)
    policy = TLRUCB(
        position_bias=position_bias.copy(),
        lists=lists_for(task),
        epochs=0.0,
        exploring=exploring,
        knows_bias=exploring == 0.0,
        clicks=np.zeros(shape),
        shows=np.zeros(shape),
        weighted=np.zeros(task.items),
        squares=np.zeros(task.items),
        index=np.zeros(task.items),
        first_lists=round_robin_order(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(TLRUCB)
def _choose(policy: TLRUCB, rng: np.random.Generator) -> Ranking:
    index, ranking, items = policy.index, policy.ranking, len(policy.index)
    if not policy.knows_bias:
        fill_round_robin(policy.first_lists, int(policy.epochs), ranking, rng)
        return ranking
    epoch = policy.epochs + 1.0
    level = 2.0 * VARIANCE * max(0.0, math.log(items * epoch * epoch / 2.0))
    for item in range(items):
        index[item] = math.inf
        if policy.squares[item] > 0.0:
            index[item] = policy.weighted[item] / policy.squares[item] + math.sqrt(level / policy.squares[item])
    arrange(policy.lists, index, policy.position_bias, ranking, rng)
    return ranking


@learn_epoch.register(TLRUCB)
def _learn_epoch(policy: TLRUCB, ranking: Ranking, clicks: IntArray) -> None:
    policy.epochs += 1.0
    most = 2.0 * math.log(policy.epochs + 1.0) / math.log(2.0)
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item == EMPTY:
            continue
        counted = float(clicks[slot]) if clicks[slot] <= most else 0.0
        policy.clicks[slot, item] += counted
        policy.shows[slot, item] += 1.0
        policy.weighted[item] += policy.position_bias[slot] * counted
        policy.squares[item] += policy.position_bias[slot] * policy.position_bias[slot]
    if not policy.knows_bias and policy.epochs >= policy.exploring:
        _find_bias(policy)


@update_from_tally.register(TLRUCB)
def _update_from_tally(policy: TLRUCB, clicks: FloatArray, passes: FloatArray) -> None:
    # a tally does not have the total of each epoch, so nothing can be truncated
    policy.epochs += count_no_clicks(passes)
    add_counts(policy.clicks, policy.shows, clicks, passes)
    slots, items = clicks.shape
    for slot in range(slots):
        bias = policy.position_bias[slot]
        for item in range(items):
            policy.weighted[item] += bias * clicks[slot, item]
            policy.squares[item] += bias * bias * passes[slot, item]
    if not policy.knows_bias and policy.epochs >= policy.exploring:
        _find_bias(policy)


@inlined
def _find_bias(policy: TLRUCB) -> None:
    """Estimate λ by the clicks on each slot, relative to the most clicked one, and redo the regressions with it.

    In every J epochs each item was in each slot once, so the expected clicks on slot k are proportional to λ_k.
    """
    slots, items = policy.clicks.shape
    largest, policy.knows_bias = 0.0, True
    for slot in range(slots):
        # plus half a click: a slot without clicks must not get a bias of 0, which could never be corrected
        policy.position_bias[slot] = 0.5 + policy.clicks[slot].sum()
        largest = max(largest, policy.position_bias[slot])
    for slot in range(slots):
        policy.position_bias[slot] /= largest
    for item in range(items):
        policy.weighted[item], policy.squares[item] = 0.0, 0.0
        for slot in range(slots):
            bias = policy.position_bias[slot]
            policy.weighted[item] += bias * policy.clicks[slot, item]
            policy.squares[item] += bias * bias * policy.shows[slot, item]
