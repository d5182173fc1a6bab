"""BubbleRank: swap neighbours of a base list at random, and permanently once one clearly wins; Li et al. (2019)."""

from __future__ import annotations

import math

import numpy as np

from slotwise.click_models.base import mark_one_click
from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import below, shuffle
from slotwise.core.types import NO_CLICK, BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.policies.interface import choose, learn, learn_clicks
from slotwise.policies.policy_registry import register


@record
class BubbleRank:
    """Algorithm 1. Rounds alternate between pairing the base list's neighbours from its first item and from its second.

    Let s_ij be the sum of C_i - C_j, the difference of the clicks on i and j, over the rounds in which they were a
    pair, n_ij the sum of |C_i - C_j|, and δ = T⁻⁴. A pair (i, j) is shown in random order while
    s_ij ≤ 2√(n_ij log(1/δ)). If s_ji > 2√(n_ji log(1/δ)) for the lower item j, they swap places in the base list.

    The paper re-ranks a given list with as many items as slots. Here the first base list is random, and it holds all
    items: the last item on the page may be paired with one drawn uniformly from those off the page. Each outcome must
    arrive before the next choice.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    #: rounds learned from
    rounds: int
    #: log(1/δ)
    log_odds: float
    #: all items, those on the page first, and whether they have been shuffled
    base: IntArray
    shuffled: bool
    #: s and n, items × items
    lead: FloatArray
    decided: FloatArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "bubblerank",
    name="BubbleRank",
    position_bias="ordered",
    citation="Li, Kveton, Lattimore, Markov, de Rijke, Szepesvári and Zoghi, BubbleRank: Safe Online Learning to "
    "Re-Rank via Implicit Click Feedback (2019)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the clicks of pairs of items on one list, which a tally does not have",
        "soon": "it swaps two neighbours at a time, each pair only after hundreds of clicks",
    },
    rival=True,
)
def bubblerank(task: PolicyTask) -> BubbleRank:
    """BubbleRank with δ = T⁻⁴, from a random list."""
    square = (task.items, task.items)
    return BubbleRank(
        rounds=0,
        log_odds=4.0 * math.log(task.horizon),
        base=np.arange(task.items),
        shuffled=False,
        lead=np.zeros(square),
        decided=np.zeros(square),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(BubbleRank)
def _choose(policy: BubbleRank, rng: np.random.Generator) -> Ranking:
    base, ranking = policy.base, policy.ranking
    slots, items = len(ranking), len(base)
    if not policy.shuffled:
        shuffle(base, 0, items, rng)
        policy.shuffled = True
    if items > slots:
        drawn = slots + below(items - slots, rng)
        base[slots], base[drawn] = base[drawn], base[slots]
    for slot in range(slots):
        ranking[slot] = base[slot]
    for slot in range(policy.rounds % 2, min(slots, items - 1), 2):
        upper, lower = base[slot], base[slot + 1]
        if not _leads(policy, upper, lower) and rng.random() < 0.5:
            ranking[slot] = lower
            if slot + 1 < slots:
                ranking[slot + 1] = upper
    return ranking


@inlined
def _leads(policy: BubbleRank, one: int, other: int) -> bool:
    """Whether s > 2√(n log(1/δ))."""
    ahead = policy.lead[one, other]
    return bool(ahead > 0.0 and ahead * ahead > 4.0 * policy.decided[one, other] * policy.log_odds)


@learn.register(BubbleRank)
def _learn(policy: BubbleRank, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        policy.rounds += 1
    else:
        mark_one_click(policy.clicked, clicked)
        _compare(policy, ranking, policy.clicked)


@learn_clicks.register(BubbleRank)
def _learn_clicks(policy: BubbleRank, ranking: Ranking, clicks: BoolArray) -> None:
    _compare(policy, ranking, clicks)


@inlined
def _compare(policy: BubbleRank, ranking: Ranking, clicks: BoolArray) -> None:
    base, slots, items = policy.base, len(ranking), len(policy.base)
    for slot in range(policy.rounds % 2, min(slots, items - 1), 2):
        upper, lower = base[slot], base[slot + 1]
        if ranking[slot] != upper and ranking[slot] != lower:
            continue  # a list from before the base list changed
        here, next_one = clicks[slot], slot + 1 < slots and clicks[slot + 1]
        if here == next_one:
            continue
        winner, loser = (upper, lower) if (ranking[slot] == upper) == here else (lower, upper)
        policy.lead[winner, loser] += 1.0
        policy.lead[loser, winner] -= 1.0
        policy.decided[winner, loser] += 1.0
        policy.decided[loser, winner] += 1.0
    for slot in range(min(slots, items - 1)):
        if _leads(policy, base[slot + 1], base[slot]):
            base[slot], base[slot + 1] = base[slot + 1], base[slot]
    policy.rounds += 1
