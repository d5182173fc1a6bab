"""BatchRank: divide the items into more and less attractive ones, batch by batch; Zoghi et al. (2017)."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import shuffle
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.policies.indices.kl_bernoulli import level_at, lower_probability, upper_probability
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks
from slotwise.policies.policy_registry import register


@learns_all_clicks
@record
class BatchRank:
    """Algorithms 1 to 4. A batch is a range of slots and the items that may belong there.

    Each batch shows its least observed items, in random slots of its range, until all were observed
    n_l = ⌈16 · 4^l log T⌉ times in stage l. Then U and L are the KL-UCB bounds of the probability of a click, at level
    log T + 3 log log T. With the items in decreasing order of L:

        if the L of the s-th item exceeds the U of all later ones, split the batch after it, for the largest such s;
        else drop the items whose U is below the L of the last item with a slot, and begin the next stage.

    The paper begins a next stage only if a batch has more items than slots, so other batches could not be split after
    their first stage. Here every batch gets a next stage.
    """

    #: log T, and the level of exploration
    log_rounds: float
    level: float
    #: per item: the first slot of its batch, or -1 once it is dropped
    batch: IntArray
    #: by the first slot of a batch: the slot after its last, its stage, and its number of items
    stop: IntArray
    stage: IntArray
    size: IntArray
    #: per item, in this stage: observations, and clicks in them
    observed: FloatArray
    clicks: FloatArray
    #: per item, at the end of a stage: U and L
    upper: FloatArray
    lower: FloatArray
    #: scratch: the items of one batch
    members: IntArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "batchrank",
    name="BatchRank",
    position_bias="ordered",
    citation="Zoghi, Tunys, Ghavamzadeh, Kveton, Szepesvári and Wen, Online Learning to Rank in Stochastic Click "
    "Models (2017)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the clicks of each stage, which a tally does not have",
        "soon": "it shows random lists until each item was observed 16 log T times, and often four times that",
    },
    rival=True,
)
def batchrank(task: PolicyTask) -> BatchRank:
    """BatchRank for T rounds."""
    slots, items = task.slots, task.items
    stop, size = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    stop[0], size[0] = slots, items
    return BatchRank(
        log_rounds=math.log(task.horizon),
        level=level_at(float(task.horizon)),
        batch=np.zeros(items, np.int64),
        stop=stop,
        stage=np.zeros(slots, np.int64),
        size=size,
        observed=np.zeros(items),
        clicks=np.zeros(items),
        upper=np.zeros(items),
        lower=np.zeros(items),
        members=np.zeros(items, np.int64),
        clicked=np.zeros(slots, np.bool_),
        ranking=np.zeros(slots, np.int64),
    )


@choose.register(BatchRank)
def _choose(policy: BatchRank, rng: np.random.Generator) -> Ranking:
    members, ranking = policy.members, policy.ranking
    first = 0
    while first < len(ranking):
        count, least = _gather(policy, first)
        shuffle(members, 0, count, rng)
        # items are at most one observation apart: those with fewer come first
        behind = 0
        for place in range(count):
            if policy.observed[members[place]] == least:
                members[behind], members[place] = members[place], members[behind]
                behind += 1
        stop = policy.stop[first]
        for slot in range(first, stop):
            ranking[slot] = members[slot - first]
        shuffle(ranking, first, stop, rng)
        first = stop
    return ranking


@inlined
def _gather(policy: BatchRank, first: int) -> tuple[int, float]:
    """Put the items of a batch into `members`; return their number and the fewest observations of one."""
    count, least = 0, math.inf
    for item in range(len(policy.batch)):
        if policy.batch[item] == first:
            policy.members[count] = item
            count += 1
            least = min(least, policy.observed[item])
    return count, least


@learn_clicks.register(BatchRank)
def _learn_clicks(policy: BatchRank, ranking: Ranking, clicks: BoolArray) -> None:
    first = 0
    while first < len(ranking):
        stop = policy.stop[first]
        if policy.size[first] > 1:
            _, least = _gather(policy, first)
            for slot in range(first, stop):
                _collect(policy, first, ranking[slot], least, clicks[slot])
            _update(policy, first)
        first = stop


@inlined
def _collect(policy: BatchRank, first: int, item: int, least: float, clicked: bool) -> None:
    # after a split, a late outcome may belong to an item of another batch
    if policy.batch[item] == first and policy.observed[item] == least:
        policy.observed[item] += 1.0
        if clicked:
            policy.clicks[item] += 1.0


@jit
def _update(policy: BatchRank, first: int) -> None:
    count, least = _gather(policy, first)
    if least < math.ceil(16.0 * 4.0 ** policy.stage[first] * policy.log_rounds):
        return
    members, upper, lower = policy.members, policy.upper, policy.lower
    for place in range(count):
        item = members[place]
        upper[item] = upper_probability(policy.clicks[item], policy.observed[item], policy.level)
        lower[item] = lower_probability(policy.clicks[item], policy.observed[item], policy.level)
        policy.clicks[item] = policy.observed[item] = 0.0
        # in decreasing order of L
        to = place
        while to > 0 and lower[members[to - 1]] < lower[item]:
            members[to] = members[to - 1]
            to -= 1
        members[to] = item
    slots = policy.stop[first] - first
    split, highest = 0, 0.0
    for place in range(count - 1, 0, -1):
        highest = max(highest, upper[members[place]])
        if place < slots and lower[members[place - 1]] > highest:
            split = place
            break
    if split > 0:
        second = first + split
        policy.stop[second], policy.stage[second], policy.size[second] = policy.stop[first], 0, count - split
        policy.stop[first], policy.stage[first], policy.size[first] = second, 0, split
        for place in range(split, count):
            policy.batch[members[place]] = second
    else:
        last = lower[members[slots - 1]]
        for place in range(count):
            if upper[members[place]] < last:
                policy.batch[members[place]] = -1
                policy.size[first] -= 1
        policy.stage[first] += 1
