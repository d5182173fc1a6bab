"""An upper bound on the odds of each pair of slot and item, after the abstract of GP2-UCB; Chen et al. (2026)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_no_clicks
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange_pairs
from slotwise.policies.baselines.p2mle_ucb import CITATION
from slotwise.policies.interface import choose, learn, pair_lists_for, update_from_tally
from slotwise.policies.policy_registry import register


@record
class GP2UCB:
    """Assign by γ = p/(1 - p) with p = p̂ + √(2p̂(1 - p̂)x/n) + 3x/n and x = 2 log t in round t, for every pair.

    A round is a trial of the pair (k, j) if item j in slot k was clicked, or nothing was. The share p̂ of clicks among
    its n trials estimates γ/(1 + γ), whatever else was shown. γ is infinite if p ≥ 1, and before the first trial.

    Of the paper only the abstract was available. By it, every pair of slot and item has a parameter of its own, a
    decision follows every round, and lists are found by assignment. The bound is that of Saha and Gaillard, Stop
    Relying on No-Choice and Do not Repeat the Moves (2024), as it is commonly described.
    """

    #: t - 1, rounds learned from
    rounds: float
    #: slots × items: clicks, and rounds without a click
    clicks: FloatArray
    passes: FloatArray
    index: FloatArray
    lists: Any
    ranking: Ranking


@register("gp2-ucb-like", name="like GP2-UCB", position_bias="unknown", citation=CITATION, rival=True)
def gp2_ucb(task: PolicyTask) -> GP2UCB:
    """General position effects: a bound per pair, and an assignment."""
    shape = (task.slots, task.items)
    return GP2UCB(
        rounds=0.0,
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        index=np.zeros(shape),
        lists=pair_lists_for(task),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(GP2UCB)
def _choose(policy: GP2UCB, rng: np.random.Generator) -> Ranking:
    level = 2.0 * math.log(policy.rounds + 1.0)
    slots, items = policy.index.shape
    for slot in range(slots):
        for item in range(items):
            clicks, trials = policy.clicks[slot, item], policy.clicks[slot, item] + policy.passes[slot, item]
            chance = 1.0
            if trials > 0.0:
                share = clicks / trials
                chance = share + math.sqrt(2.0 * share * (1.0 - share) * level / trials) + 3.0 * level / trials
            policy.index[slot, item] = chance / (1.0 - chance) if chance < 1.0 else math.inf
    arrange_pairs(policy.lists, policy.index, policy.ranking, rng)
    return policy.ranking


@learn.register(GP2UCB)
def _learn(policy: GP2UCB, ranking: Ranking, clicked: int) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        if ranking[slot] != EMPTY:
            policy.clicks[slot, ranking[slot]] += 1.0 if slot == clicked else 0.0
            policy.passes[slot, ranking[slot]] += 1.0 if clicked == NO_CLICK else 0.0


@update_from_tally.register(GP2UCB)
def _update_from_tally(policy: GP2UCB, clicks: FloatArray, passes: FloatArray) -> None:
    policy.rounds += clicks.sum() + count_no_clicks(passes)
    add_counts(policy.clicks, policy.passes, clicks, passes)
