"""MNL-UCB that decides in every round from the outcomes that have come in, after the abstract of Bekci (2024)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_no_clicks
from slotwise.core.types import NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.top_k import select_best
from slotwise.policies.baselines.mnl_ucb import NO_SLOTS
from slotwise.policies.interface import choose, learn, update_from_tally
from slotwise.policies.paper.mnl_bandit import AGRAWAL_WIDTH
from slotwise.policies.policy_registry import register


@record
class DelayedMNLUCB:
    """Show the items with the largest v̄ + √(48 v̄ c/T) + 48c/T, with T and v̄ of the rounds whose outcome is known.

    T counts the item's rounds without a click, v̄ is its clicks per such round, and c = log(√J l + 1) where l - 1 rounds
    without a click are known. E[click on j - v_j · no click] = 0 in every round, whatever was shown: no epoch has to be
    completed, and an outcome counts when it comes in. A click after the threshold is never told: it is a round without
    a click then, and v is the attraction that is seen in time.

    Of the paper only the abstract was available. By it, feedback that comes in after a threshold is censored, and the
    algorithm is optimistic with confidence bounds. The estimator is ours, and the bounds are those of MNL-UCB.
    """

    #: l - 1, rounds without a click
    no_clicks: float
    #: per item: clicks and T
    clicks: FloatArray
    passes: FloatArray
    index: FloatArray
    #: items by decreasing index, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@register(
    "delayed-mnl-ucb-like",
    name="like delayed MNL-UCB",
    position_bias="ordered",
    citation="after Bekci, Online Learning of Delayed Choices (2024)",
    limits={"goal": NO_SLOTS},
    rival=True,
)
def delayed_mnl_ucb(task: PolicyTask) -> DelayedMNLUCB:
    """MNL-UCB by rounds, for late outcomes."""
    return DelayedMNLUCB(
        no_clicks=0.0,
        clicks=np.zeros(task.items),
        passes=np.zeros(task.items),
        index=np.zeros(task.items),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(DelayedMNLUCB)
def _choose(policy: DelayedMNLUCB, rng: np.random.Generator) -> Ranking:
    return choose_by_bounds(policy, policy.no_clicks, rng)


@inlined
def choose_by_bounds(policy: Any, epochs: float, rng: np.random.Generator) -> Ranking:
    """Fill the policy's ranking with the items of the largest bounds of MNL-UCB, largest first, after `epochs`."""
    index, ranking = policy.index, policy.ranking
    width = AGRAWAL_WIDTH * math.log(math.sqrt(len(index)) * (epochs + 1.0) + 1.0)
    for item in range(len(index)):
        passes = policy.passes[item]
        index[item] = math.inf
        if passes > 0.0:
            mean, scale = policy.clicks[item] / passes, width / passes
            index[item] = mean + math.sqrt(mean * scale) + scale
    select_best(index, policy.item_order, len(ranking), rng)
    for slot in range(len(ranking)):
        ranking[slot] = policy.item_order[slot]
    return ranking  # type: ignore[no-any-return]


@learn.register(DelayedMNLUCB)
def _learn(policy: DelayedMNLUCB, ranking: Ranking, clicked: int) -> None:
    if clicked != NO_CLICK:
        policy.clicks[ranking[clicked]] += 1.0
    else:
        policy.no_clicks += 1.0
        for slot in range(len(ranking)):
            policy.passes[ranking[slot]] += 1.0


@update_from_tally.register(DelayedMNLUCB)
def _update_from_tally(policy: DelayedMNLUCB, clicks: FloatArray, passes: FloatArray) -> None:
    policy.no_clicks += count_no_clicks(passes)
    for item in range(len(policy.clicks)):
        policy.clicks[item] += clicks[:, item].sum()
        policy.passes[item] += passes[:, item].sum()
