"""UniRank: an ordered partition of the items, whose sets are merged if a bound allows it; Gauthier et al. (2022)."""

from __future__ import annotations

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import shuffle
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.policies.indices.kl_bernoulli import level_at, upper_probability
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks
from slotwise.policies.policy_registry import register
from slotwise.posterior.list_counts import ListCounts, empty_list_counts, evict, find_or_add, rarity_threshold

#: the number of leaders that are remembered; the rarest make room
ROOM = 1_024


@learns_all_clicks
@record
class UniRank:
    """Algorithms 1 and 2. An ordered partition of the items leads; it or one of its neighbours is shown.

    ŝ_ij is the mean of C_i - C_j, the difference of the items' clicks, over the rounds in which both were in one subset
    of the partition shown and one of them was clicked. Each subset of the leader is the smallest set of the remaining
    items such that ŝ_ij > 0 for every i in it and every other j; once they fill the page, the others form the last one.

    A neighbour merges two consecutive subsets on the page, or adds an item of the last subset to the one before. Its
    index is the largest s̄_ji over those pairs, with j the lower item. s̄ is the KL-UCB bound, scaled from [0, 1] to
    [-1, 1], at level log t + 3 log log t, with t the rounds in which this partition has led. The neighbour with the
    largest index is shown if that is above 0, and otherwise the leader: its subsets in order, each in random order.

    Each outcome must arrive before the next choice.
    """

    #: Σ(C_i - C_j) and the rounds of it, items × items
    lead: FloatArray
    decided: FloatArray
    #: per item: the number of its subset in the leader, and in the partition shown last
    subset: IntArray
    shown_subset: IntArray
    #: the number of the leader's subsets on the page; the other items, if any, are the next subset
    on_page: int
    #: whether no ŝ has changed its sign since the leader was computed
    settled: bool
    leaders: ListCounts
    #: scratch: items by subset, and how many of the remaining items each of them beats
    item_order: IntArray
    wins: IntArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "unirank",
    name="UniRank",
    position_bias="ordered",
    citation="Gauthier, Gaudel and Fromont, UniRank: Unimodal Bandit Algorithms for Online Ranking (2022)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the clicks of pairs of items on one list, which a tally does not have",
    },
    rival=True,
)
def unirank(task: PolicyTask) -> UniRank:
    """UniRank for slots in decreasing order of bias."""
    slots, items = task.slots, task.items
    return UniRank(
        lead=np.zeros((items, items)),
        decided=np.zeros((items, items)),
        subset=np.zeros(items, np.int64),
        shown_subset=np.zeros(items, np.int64),
        on_page=1,
        settled=False,
        leaders=empty_list_counts(ROOM, items, 1),
        item_order=np.arange(items),
        wins=np.zeros(items, np.int64),
        clicked=np.zeros(slots, np.bool_),
        ranking=np.zeros(slots, np.int64),
    )


@choose.register(UniRank)
def _choose(policy: UniRank, rng: np.random.Generator) -> Ranking:
    shown, ranking, order = policy.shown_subset, policy.ranking, policy.item_order
    if not policy.settled:
        find_leader(policy, len(ranking))
        policy.settled = True
    _choose_neighbour(policy, level_at(_count_leader(policy)), rng)
    # items by subset, from a random order
    shuffle(order, 0, len(order), rng)
    place, number = 0, 0
    while place < len(ranking):
        for other in range(place, len(order)):
            if shown[order[other]] == number:
                order[place], order[other] = order[other], order[place]
                place += 1
        number += 1
    for slot in range(len(ranking)):
        ranking[slot] = order[slot]
    return ranking


@inlined
def _count_leader(policy: UniRank) -> float:
    """Return the number of earlier rounds in which this leader has led."""
    number = find_or_add(policy.leaders, 0, policy.subset)
    if number < 0:
        evict(policy.leaders, 0, rarity_threshold(policy.leaders, 0))
        number = find_or_add(policy.leaders, 0, policy.subset)
    led = policy.leaders.rounds[0, number]
    policy.leaders.rounds[0, number] += 1.0
    return float(led)


@inlined
def _choose_neighbour(policy: UniRank, level: float, rng: np.random.Generator) -> None:
    """Fill `shown_subset` with the neighbour of the largest index, or with the leader if none is above 0."""
    subset, shown = policy.subset, policy.shown_subset
    most, equal, upper, added = 0.0, 1.0, -1, -1
    for lower_item in range(len(subset)):
        # an item of the last subset is added alone; another subset is merged as a whole
        alone = subset[lower_item] == policy.on_page
        for upper_item in range(len(subset)):
            if subset[upper_item] + 1 != subset[lower_item]:
                continue
            index = _index(policy, lower_item, upper_item, level)
            if index > most:
                most, equal = index, 1.0
            elif index == most and index > 0.0:
                equal += 1.0
                if rng.random() * equal >= 1.0:
                    continue
            else:
                continue
            upper, added = subset[upper_item], lower_item if alone else -1
    for item in range(len(subset)):
        merged = subset[item]
        if upper >= 0 and (item == added or (added < 0 and merged == upper + 1)):
            merged = upper
        shown[item] = merged


@inlined
def _index(policy: UniRank, item: int, other: int, level: float) -> float:
    """Return s̄, or -1 if it is not above 0."""
    lead, decided = policy.lead[item, other], policy.decided[item, other]
    # Pinsker's bound on the divergence from 0 rules out most pairs without a logarithm
    if lead <= 0.0 and 0.5 * lead * lead > level * decided:
        return -1.0
    return 2.0 * upper_probability(0.5 * (decided + lead), decided, level) - 1.0


@jit
def find_leader(policy: UniRank, slots: int) -> None:
    """Algorithm 2: number the items' subsets."""
    subset, order, wins, lead = policy.subset, policy.item_order, policy.wins, policy.lead
    items = len(order)
    placed, number = 0, 0
    while placed < slots:
        for place in range(placed, items):
            item = order[place]
            wins[item] = 0
            for other in range(placed, items):
                if lead[item, order[other]] > 0.0:
                    wins[item] += 1
            # sorted by wins, most first
            to = place
            while to > placed and wins[order[to - 1]] < wins[item]:
                order[to] = order[to - 1]
                to -= 1
            order[to] = item
        stop = _dominating(order, lead, placed)
        for place in range(placed, stop):
            subset[order[place]] = number
        placed, number = stop, number + 1
    for place in range(placed, items):
        subset[order[place]] = number
    policy.on_page = number


@inlined
def _dominating(order: IntArray, lead: FloatArray, start: int) -> int:
    """Return the end of the smallest set of items from `start` on that are ahead of all later ones."""
    items = len(order)
    stop, checked = start + 1, start
    # an item that is not beaten by one of the subset belongs to it, with all items sorted before it
    while checked < stop:
        for place in range(items - 1, stop - 1, -1):
            if not lead[order[checked], order[place]] > 0.0:
                stop = place + 1
                break
        checked += 1
    return stop


@learn_clicks.register(UniRank)
def _learn_clicks(policy: UniRank, ranking: Ranking, clicks: BoolArray) -> None:
    """Count each clicked item against the items of its subset without a click."""
    shown, lead, decided, wins = policy.shown_subset, policy.lead, policy.decided, policy.wins
    for item in range(len(wins)):
        wins[item] = 0
    for slot in range(len(ranking)):
        if clicks[slot]:
            wins[ranking[slot]] = 1
    for slot in range(len(ranking)):
        if not clicks[slot]:
            continue
        winner = ranking[slot]
        for other in range(len(wins)):
            if wins[other] == 0 and shown[other] == shown[winner]:
                lead[winner, other] += 1.0
                lead[other, winner] -= 1.0
                decided[winner, other] += 1.0
                decided[other, winner] += 1.0
                # the sign of the lead changed: from 0 to 1, or from -1 to 0
                if lead[winner, other] == 1.0 or lead[winner, other] == 0.0:
                    policy.settled = False
