"""GRAB: climb from the best list so far along exchanges of neighbouring slots; Gauthier et al. (2021)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange_pairs
from slotwise.optimize.top_k import select_best
from slotwise.policies.indices.kl_bernoulli import level_at, upper_probability
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks, pair_lists_for
from slotwise.policies.policy_registry import register
from slotwise.posterior.list_counts import ListCounts, empty_list_counts, evict, find_or_add, rarity_threshold

#: the number of leaders that are remembered; the rarest make room
ROOM = 1_024


@learns_all_clicks
@record
class GRAB:
    """Show the list with the largest sum of upper bounds among the leader and its neighbours.

    ρ̂_kj is the click rate of item j in slot k. The leader is the list with the largest Σ_k ρ̂, and its slots are taken
    in decreasing order of ρ̂. A neighbour exchanges the items of two consecutive slots in that order, or puts an item
    that is not shown into the last one. Bounds are those of KL-UCB at level log l + 3 log log l, where l - 1 counts the
    rounds in which this list has led. In every (J - K)-th of them the leader itself is shown, as in the authors'
    experiments, but at most in every other: else nothing would be explored if J - K < 2.

    The text of the paper was not available. This is the algorithm as it is commonly described, after that of Combes and
    Proutière (2014) for unimodal bandits, not checked line by line against the paper.
    """

    #: rounds of a leader from one time that it is shown itself to the next
    period: float
    #: slots × items: clicks, shows, and their ratio ρ̂, 0 before the first
    clicks: FloatArray
    shows: FloatArray
    mean: FloatArray
    lists: Any
    leaders: ListCounts
    leader: Ranking
    #: slots in decreasing order of ρ̂ in the leader, and that ρ̂
    slot_order: IntArray
    leader_mean: FloatArray
    #: per item, whether the leader has it
    leads: BoolArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "grab",
    name="GRAB",
    position_bias="unknown",
    citation="Gauthier, Gaudel, Fromont and Lompo, Parametric Graph for Unimodal Ranking Bandit (2021)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the lists of rounds with a click, which a tally does not have",
    },
    rival=True,
)
def grab(task: PolicyTask) -> GRAB:
    """GRAB for slots in any order."""
    shape = (task.slots, task.items)
    return GRAB(
        period=float(max(2, task.items - task.slots)),
        clicks=np.zeros(shape),
        shows=np.zeros(shape),
        mean=np.zeros(shape),
        lists=pair_lists_for(task),
        leaders=empty_list_counts(ROOM, task.slots, 1),
        leader=np.zeros(task.slots, np.int64),
        slot_order=np.arange(task.slots),
        leader_mean=np.zeros(task.slots),
        leads=np.zeros(task.items, np.bool_),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(GRAB)
def _choose(policy: GRAB, rng: np.random.Generator) -> Ranking:
    leader, ranking, leader_mean, order = policy.leader, policy.ranking, policy.leader_mean, policy.slot_order
    slots = len(ranking)
    arrange_pairs(policy.lists, policy.mean, leader, rng)
    number = find_or_add(policy.leaders, 0, leader)
    if number < 0:
        evict(policy.leaders, 0, rarity_threshold(policy.leaders, 0))
        number = find_or_add(policy.leaders, 0, leader)
    led = policy.leaders.rounds[0, number]
    policy.leaders.rounds[0, number] += 1.0
    for slot in range(slots):
        ranking[slot] = leader[slot]
    if led % policy.period == 0.0:
        return ranking
    for slot in range(slots):
        leader_mean[slot] = policy.mean[slot, leader[slot]]
    select_best(leader_mean, order, slots, rng)
    _explore(policy, level_at(led + 1.0), rng)
    return ranking


@inlined
def _explore(policy: GRAB, level: float, rng: np.random.Generator) -> None:
    """Replace the leader in `ranking` by the neighbour with the largest gain in bounds, if any; ties at random."""
    leader, ranking, order, leads = policy.leader, policy.ranking, policy.slot_order, policy.leads
    slots, items = policy.mean.shape
    most, equal, best_place, best_item = 0.0, 1.0, -1, -1
    for place in range(slots - 1):
        one, two = order[place], order[place + 1]
        gain = (
            _bound(policy, one, leader[two], level)
            + _bound(policy, two, leader[one], level)
            - _bound(policy, one, leader[one], level)
            - _bound(policy, two, leader[two], level)
        )
        if gain > most:
            most, equal, best_place, best_item = gain, 1.0, place, -1
        elif gain == most:
            equal += 1.0
            if rng.random() * equal < 1.0:
                best_place, best_item = place, -1
    last = order[slots - 1]
    now = _bound(policy, last, leader[last], level)
    for slot in range(slots):
        leads[leader[slot]] = True
    for item in range(items):
        if leads[item]:
            leads[item] = False
            continue
        gain = _bound(policy, last, item, level) - now
        if gain > most:
            most, equal, best_place, best_item = gain, 1.0, -1, item
        elif gain == most:
            equal += 1.0
            if rng.random() * equal < 1.0:
                best_place, best_item = -1, item
    if best_place >= 0:
        one, two = order[best_place], order[best_place + 1]
        ranking[one], ranking[two] = leader[two], leader[one]
    elif best_item >= 0:
        ranking[last] = best_item


@inlined
def _bound(policy: GRAB, slot: int, item: int, level: float) -> float:
    return upper_probability(policy.clicks[slot, item], policy.shows[slot, item], level)


@learn_clicks.register(GRAB)
def _learn_clicks(policy: GRAB, ranking: Ranking, clicks: BoolArray) -> None:
    for slot in range(len(ranking)):
        item = ranking[slot]
        policy.shows[slot, item] += 1.0
        if clicks[slot]:
            policy.clicks[slot, item] += 1.0
        policy.mean[slot, item] = policy.clicks[slot, item] / policy.shows[slot, item]
