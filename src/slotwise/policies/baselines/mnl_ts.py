"""MNL-bandit by Thompson sampling, for the slots of a page; Agrawal, Avadhanula, Goyal and Zeevi (2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import add_counts, count_epoch
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange_pairs
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import choose, learn_epoch, pair_lists_for, update_from_tally
from slotwise.policies.policy_registry import register


@record
class MNLTS:
    """Draw θ ~ Beta(1 + n, 1 + V) for every pair of slot and item, and assign by v = 1/θ - 1.

    The pair was shown in n epochs and clicked V times. The clicks of an epoch are geometric and stop with probability
    1/(1 + v), so the Beta posterior is exact for a uniform prior on that probability.

    This is the algorithm with independent draws. The paper proves its bound for a variant that widens the draws and
    correlates those of an epoch. The available text lacks its constants, so the variant is not implemented. The paper
    chooses a set and has no slots: here every pair of slot and item is a product, as in Algorithm 4 of Grant and
    Leslie, and the set is a list.
    """

    #: per slot and item, over complete epochs: V, n
    clicks: FloatArray
    passes: FloatArray
    #: v as last drawn
    drawn: FloatArray
    lists: Any
    ranking: Ranking


@register(
    "mnl-ts",
    name="MNL-TS",
    position_bias="unknown",
    citation="Agrawal, Avadhanula, Goyal and Zeevi, Thompson Sampling for the MNL-Bandit (2017)",
    rival=True,
)
def mnl_ts(task: PolicyTask) -> Epochs:
    """Thompson sampling on pairs, with independent draws."""
    shape = (task.slots, task.items)
    policy = MNLTS(
        clicks=np.zeros(shape),
        passes=np.zeros(shape),
        drawn=np.zeros(shape),
        lists=pair_lists_for(task),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(MNLTS)
def _choose(policy: MNLTS, rng: np.random.Generator) -> Ranking:
    slots, items = policy.drawn.shape
    for slot in range(slots):
        for item in range(items):
            # θ = G/(G + G') for Gamma variables, so 1/θ - 1 = G'/G
            none = rng.standard_gamma(1.0 + policy.passes[slot, item])
            policy.drawn[slot, item] = rng.standard_gamma(1.0 + policy.clicks[slot, item]) / none
    arrange_pairs(policy.lists, policy.drawn, policy.ranking, rng)
    return policy.ranking


@learn_epoch.register(MNLTS)
def _learn_epoch(policy: MNLTS, ranking: Ranking, clicks: IntArray) -> None:
    count_epoch(policy.clicks, policy.passes, ranking, clicks)


@update_from_tally.register(MNLTS)
def _update_from_tally(policy: MNLTS, clicks: FloatArray, passes: FloatArray) -> None:
    add_counts(policy.clicks, policy.passes, clicks, passes)
