"""PBM-UCB ("PBUCB" in Grant and Leslie): known position bias under the position-based model, Lagrée et al. (2016)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.tally import count_no_clicks
from slotwise.core.types import EMPTY, BoolArray, FloatArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks, lists_for, update_from_tally
from slotwise.policies.policy_registry import register


@learns_all_clicks
@record
class PBMUCB:
    """Rank by S/E + √(n/E) √(log t/(2E)) in round t; all clicks of a visit count.

    Where users click at most once, S/E estimates α/(1+Σγ) and not α, as the other items take clicks too. The order is
    the same, but with values a list seems to have less competition than it has.
    """

    #: λ, per slot
    position_bias: FloatArray
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: per item: clicks S, rounds shown n, exposure E = Σ λ over those rounds
    clicks: FloatArray
    shows: FloatArray
    exposure: FloatArray
    #: slots × items: the part that came as tallies
    absorbed_clicks: FloatArray
    absorbed_passes: FloatArray
    #: per item: S/E (infinite before the first show), and √(n/2)/E
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "pbm-ucb",
    name="PBM-UCB",
    position_bias="known",
    citation="Lagrée, Vernade and Cappé, Multiple-Play Bandits in the Position-Based Model (2016)",
    limits={"empty slots": "it estimates α/(1+S) and not α, so it underestimates the harm of items of little value"},
)
def pbm_ucb(task: PolicyTask) -> PBMUCB:
    """PBM-UCB, with a decision in every round."""
    assert task.position_bias is not None
    return PBMUCB(
        position_bias=task.position_bias,
        lists=lists_for(task),
        rounds=0.0,
        clicks=np.zeros(task.items),
        shows=np.zeros(task.items),
        exposure=np.zeros(task.items),
        absorbed_clicks=np.zeros((task.slots, task.items)),
        absorbed_passes=np.zeros((task.slots, task.items)),
        mean=np.full(task.items, np.inf),
        uncertainty=np.zeros(task.items),
        index=np.zeros(task.items),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PBMUCB)
def _choose(policy: PBMUCB, rng: np.random.Generator) -> Ranking:
    index, mean, uncertainty, ranking = policy.index, policy.mean, policy.uncertainty, policy.ranking
    width = math.sqrt(math.log(policy.rounds + 1.0))
    for item in range(len(index)):
        index[item] = mean[item] + width * uncertainty[item]
    arrange(policy.lists, index, policy.position_bias, ranking, rng)
    return ranking


@learn_clicks.register(PBMUCB)
def _learn_clicks(policy: PBMUCB, ranking: Ranking, clicks: BoolArray) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item == EMPTY:
            continue
        policy.shows[item] += 1.0
        policy.exposure[item] += policy.position_bias[slot]
        if clicks[slot]:
            policy.clicks[item] += 1.0
        _estimate(policy, item)


@inlined
def _estimate(policy: PBMUCB, item: int) -> None:
    policy.mean[item] = policy.clicks[item] / policy.exposure[item]
    policy.uncertainty[item] = math.sqrt(policy.shows[item] / 2.0) / policy.exposure[item]


@update_from_tally.register(PBMUCB)
def _update_from_tally(policy: PBMUCB, clicks: FloatArray, passes: FloatArray) -> None:
    # A tally has no lists of the rounds with a click. An item is assumed to have been in its slot in the same share of
    # those rounds as of the rounds without a click, over all tallies so far.
    slots, items = clicks.shape
    policy.rounds += clicks.sum() + count_no_clicks(passes)
    _count_absorbed(policy, -1.0)
    for slot in range(slots):
        for item in range(items):
            policy.absorbed_clicks[slot, item] += clicks[slot, item]
            policy.absorbed_passes[slot, item] += passes[slot, item]
            policy.clicks[item] += clicks[slot, item]
    _count_absorbed(policy, 1.0)
    for item in range(items):
        if policy.shows[item] > 0.0:
            _estimate(policy, item)


@inlined
def _count_absorbed(policy: PBMUCB, sign: float) -> None:
    """Add the shows and exposure of the absorbed tally, or subtract them."""
    clicks, passes = policy.absorbed_clicks, policy.absorbed_passes
    slots, items = clicks.shape
    all_clicks = clicks.sum()
    for slot in range(slots):
        slot_passes = passes[slot].sum()
        elsewhere = (all_clicks - clicks[slot].sum()) / slot_passes if slot_passes > 0.0 else 0.0
        for item in range(items):
            shows = sign * (clicks[slot, item] + passes[slot, item] * (1.0 + elsewhere))
            policy.shows[item] += shows
            policy.exposure[item] += shows * policy.position_bias[slot]
