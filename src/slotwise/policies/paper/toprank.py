"""TopRank: assumes only that slots are in decreasing order of bias; Lattimore, Kveton, Li and Szepesvári (2018)."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import below
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks
from slotwise.policies.policy_registry import register

#: c of the paper's Algorithm 1
C = 4.0 * math.sqrt(2.0 / math.pi) / math.erf(math.sqrt(2.0))


@learns_all_clicks
@record
class TopRank:
    """Show items in random order within blocks, and demote an item when another of its block clearly beats it.

    i beats j when S_ij ≥ √(2 N_ij log(c √N_ij / δ)), where S_ij sums the differences C_i - C_j of their clicks over
    the rounds in which both were in one block, N_ij sums |C_i - C_j|, and δ = 1/T.
    """

    #: S and N, items × items
    lead: FloatArray
    decided: FloatArray
    #: whether the row's item beats the column's
    beats: IntArray
    #: log(c/δ)
    log_scale: float
    #: items by block; per item, where its block starts and stops therein
    item_order: IntArray
    start: IntArray
    stop: IntArray
    #: scratch: whether each slot was clicked, and each item
    clicked: BoolArray
    item_clicked: BoolArray
    ranking: Ranking


@register(
    "toprank",
    name="TopRank",
    position_bias="ordered",
    citation="Lattimore, Kveton, Li and Szepesvári, TopRank: A Practical Algorithm for Online Stochastic Ranking "
    "(2018)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the clicks of pairs of items on one list, which a tally does not have",
    },
)
def toprank(task: PolicyTask) -> TopRank:
    """TopRank with δ = 1/T."""
    square = (task.items, task.items)
    return TopRank(
        lead=np.zeros(square),
        decided=np.zeros(square),
        beats=np.zeros(square, np.int64),
        log_scale=math.log(C * task.horizon),
        item_order=np.arange(task.items),
        start=np.zeros(task.items, np.int64),
        stop=np.full(task.items, task.items),
        clicked=np.zeros(task.slots, np.bool_),
        item_clicked=np.zeros(task.items, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(TopRank)
def _choose(policy: TopRank, rng: np.random.Generator) -> Ranking:
    order, ranking = policy.item_order, policy.ranking
    for slot in range(len(ranking)):
        # one step of a shuffle of this slot's block; the block's later items are those not drawn yet
        drawn = slot + below(policy.stop[order[slot]] - slot, rng)
        order[slot], order[drawn] = order[drawn], order[slot]
        ranking[slot] = order[slot]
    return ranking


@learn_clicks.register(TopRank)
def _learn_clicks(policy: TopRank, ranking: Ranking, clicks: BoolArray) -> None:
    for slot in range(len(ranking)):
        policy.item_clicked[ranking[slot]] = clicks[slot]
    demoted = False
    for slot in range(len(ranking)):
        if clicks[slot] and _beats_another(policy, ranking[slot]):
            demoted = True
    for slot in range(len(ranking)):
        policy.item_clicked[ranking[slot]] = False
    if demoted:
        partition(policy)


@inlined
def _beats_another(policy: TopRank, winner: int) -> bool:
    """Count a click against the items of its block without one; return whether the winner now beats one of them."""
    lead, decided, order = policy.lead, policy.decided, policy.item_order
    found = False
    for place in range(policy.start[winner], policy.stop[winner]):
        other = order[place]
        if policy.item_clicked[other]:
            continue
        lead[winner, other] += 1.0
        lead[other, winner] -= 1.0
        decided[winner, other] += 1.0
        decided[other, winner] += 1.0
        ahead, played = lead[winner, other], decided[winner, other]
        # without the logarithm first: it decides almost always
        if ahead > 0.0 and ahead * ahead >= 2.0 * played * policy.log_scale:
            if ahead * ahead >= 2.0 * played * (policy.log_scale + 0.5 * math.log(played)):
                policy.beats[winner, other] = 1
                found = True
    return found


@jit
def partition(policy: TopRank) -> None:
    """Divide the items into blocks: each block has the remaining items that no remaining item beats."""
    order, start, stop, beats = policy.item_order, policy.start, policy.stop, policy.beats
    items = len(order)
    placed = 0
    while placed < items:
        block = placed
        for place in range(placed, items):
            beaten = False
            for other in range(placed, items):
                beaten = beaten or beats[order[other], order[place]] == 1
            # moved to the block only after the whole pass: it must still count as left
            start[order[place]] = -1 if beaten else placed
        for place in range(placed, items):
            if start[order[place]] == placed:
                order[block], order[place] = order[place], order[block]
                block += 1
        if block == placed:
            block = items  # a cycle: the remaining items are one block
        for place in range(placed, block):
            start[order[place]] = placed
            stop[order[place]] = block
        placed = block
