"""MNL-TS: Thompson sampling with a Beta posterior per item, after Agrawal, Avadhanula, Goyal and Zeevi (2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_epoch
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange_pairs
from slotwise.optimize.top_k import select_best
from slotwise.policies.baselines.mnl_ucb import NO_SLOTS
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import choose, learn_epoch, pair_lists_for, update_from_tally
from slotwise.policies.policy_registry import register

CITATION = "Agrawal, Avadhanula, Goyal and Zeevi, Thompson Sampling for the MNL-Bandit (2017)"


@record
class MNLTS:
    """Algorithm 1: draw θ ~ Beta(1 + n, 1 + V) for every item, and show the items with the largest v = 1/θ - 1.

    The item was shown in n epochs and clicked V times. The clicks of an epoch are geometric and stop with probability
    1/(1 + v), so the Beta posterior is exact for a uniform prior on that probability. The paper chooses a set and has
    no slots: here the items are shown in decreasing order of v.

    This is the algorithm with independent draws. The paper proves its bound for a variant that widens the draws and
    correlates those of an epoch; it is not implemented.
    """

    #: per item, over complete epochs: V, n
    clicks: FloatArray
    passes: FloatArray
    #: v as last drawn
    drawn: FloatArray
    #: items by decreasing v, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@record
class MNLTSPairs:
    """Algorithm 1 with a posterior for every pair of slot and item, as in Algorithm 4 of Grant and Leslie."""

    #: per slot and item, over complete epochs: V, n
    clicks: FloatArray
    passes: FloatArray
    #: v as last drawn
    drawn: FloatArray
    lists: Any
    ranking: Ranking


@register("mnl-ts", name="MNL-TS", position_bias="ordered", citation=CITATION, limits={"goal": NO_SLOTS}, rival=True)
def mnl_ts(task: PolicyTask) -> Epochs:
    """Algorithm 1, on items."""
    policy = MNLTS(
        clicks=np.zeros(task.items),
        passes=np.zeros(task.items),
        drawn=np.zeros(task.items),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@register("mnl-ts-pairs", name="MNL-TS on pairs", position_bias="unknown", citation=CITATION, rival=True)
def mnl_ts_pairs(task: PolicyTask) -> Epochs:
    """Algorithm 1 on pairs of slot and item, assigned by v."""
    shape = (task.slots, task.items)
    policy = MNLTSPairs(
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        drawn=np.zeros(shape),
        lists=pair_lists_for(task),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@inlined
def _draw(clicks: FloatArray, passes: FloatArray, drawn: FloatArray, rng: np.random.Generator) -> None:
    """θ = G/(G + G') for Gamma variables, so v = 1/θ - 1 = G'/G."""
    for i in range(len(drawn)):
        none = rng.standard_gamma(1.0 + passes[i])
        drawn[i] = rng.standard_gamma(1.0 + clicks[i]) / none


@choose.register(MNLTS)
def _choose(policy: MNLTS, rng: np.random.Generator) -> Ranking:
    _draw(policy.clicks, policy.passes, policy.drawn, rng)
    ranking = policy.ranking
    select_best(policy.drawn, policy.item_order, len(ranking), rng)
    for slot in range(len(ranking)):
        ranking[slot] = policy.item_order[slot]
    return ranking


@learn_epoch.register(MNLTS)
def _learn_epoch(policy: MNLTS, ranking: Ranking, clicks: IntArray) -> None:
    for slot in range(len(ranking)):
        policy.clicks[ranking[slot]] += clicks[slot]
        policy.passes[ranking[slot]] += 1.0


@update_from_tally.register(MNLTS)
def _update_from_tally(policy: MNLTS, clicks: FloatArray, passes: FloatArray) -> None:
    for item in range(len(policy.clicks)):
        policy.clicks[item] += clicks[:, item].sum()
        policy.passes[item] += passes[:, item].sum()


@choose.register(MNLTSPairs)
def _choose_pairs(policy: MNLTSPairs, rng: np.random.Generator) -> Ranking:
    _draw(policy.clicks.ravel(), policy.passes.ravel(), policy.drawn.ravel(), rng)
    arrange_pairs(policy.lists, policy.drawn, policy.ranking, rng)
    return policy.ranking


@learn_epoch.register(MNLTSPairs)
def _learn_epoch_pairs(policy: MNLTSPairs, ranking: Ranking, clicks: IntArray) -> None:
    count_epoch(policy.clicks, policy.passes, ranking, clicks)


@update_from_tally.register(MNLTSPairs)
def _update_from_tally_pairs(policy: MNLTSPairs, clicks: FloatArray, passes: FloatArray) -> None:
    add_counts(policy.clicks, policy.passes, clicks, passes)
