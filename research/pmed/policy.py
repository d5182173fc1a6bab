"""PMED: every list as often as certainty asks in the position-based model, Komiyama, Honda and Takeda (2017)."""

from __future__ import annotations

import math

import numpy as np

from research.pmed.trial_lists import TrialLists, find_shares, trial_lists
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import shuffle
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.top_k import select_best
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks
from slotwise.policies.policy_registry import register

#: estimates of probabilities stay between these
LEAST = 1e-4
LARGEST = 1.0 - 1e-3
#: how much rounds grow until shares are computed again, and where another list has become the best
GROWTH = 1.5
GROWTH_AFTER_CHANGE = 1.2
SWEEPS = 3
#: more would take ever longer, with the fourth power of the items, and be asked about no better: cuts are bounded too
MAX_ITEMS = 100


@learns_all_clicks
@record
class PMED:
    """Permutation minimum empirical divergence: a loop of lists, each shown once, and then the next loop.

    A loop has the best list for the estimates; for m = 0, 1, …, J-1 the list of items m, m+1, …, m+K-1 modulo J if one
    of its pairs of slot and item was shown fewer than α√(log t) times; and every list v that was not shown x_v log t
    times yet, x being what certainty asks under the estimates (`research.pmed.trial_lists`). A show of a pair
    counts for one list only. The estimates θ of items and κ of slots minimise Σ N d(μ̂, θκ) over pairs, N shows with
    the part μ̂ clicked, with κ = 1 in the first slot and no larger below: slots are taken to be in order.

    From where: the paper's abstract and the first page of its text could be had, and a public program that compares it
    with others; the steps above are the algorithm as it is known, not checked line by line. Choices of ours: α; lists
    of items that move along, so that x need not be taken apart into permutations; a convex form of the program that the
    paper relaxes; divergences from the fitted θκ where it has μ̂; a loop is put together when the last has ended, by
    estimates of then, and x solved again when the rounds have grown by half, or by a fifth if another list is the best.
    """

    alpha: float
    trial: TrialLists
    #: t - 1, rounds learned from, and the t at which shares were found last
    rounds: float
    shares_of: float
    #: items × slots: clicks and N
    clicks: FloatArray
    shows: FloatArray
    #: θ, κ, and items by decreasing θ: the best as of now, and all as they were when shares were found
    attraction: FloatArray
    position_bias: FloatArray
    best_first: IntArray
    by_rank: IntArray
    #: items in random order, which the first lists follow
    item_order: IntArray
    shuffled: bool
    #: the lists of this loop, how many there are, and how many were shown
    loop: IntArray
    count: int
    shown: int
    #: of shows, those not counted for a list yet
    left: FloatArray
    #: room for one click or none
    clicked: BoolArray
    ranking: Ranking


@register(
    "pmed",
    name="PMED",
    position_bias="ordered",
    citation="Komiyama, Honda and Takeda, Position-based Multiple-play Bandit Problem with Unknown Position Bias "
    "(2017)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the lists of rounds with a click, which a tally does not have",
    },
    rival=True,
)
def pmed(task: PolicyTask, *, alpha: float = 1.0) -> PMED:
    """PMED; its bound on regret holds for every α above 0."""
    if task.items > MAX_ITEMS:
        raise InvalidInput(f"pmed must have at most {MAX_ITEMS} items, or it would take too long, got {task.items}")
    shape = (task.items, task.slots)
    trial = trial_lists(task.slots, task.items)
    return PMED(
        alpha=validation.positive_number("alpha", alpha),
        trial=trial,
        rounds=0.0,
        shares_of=0.0,
        clicks=np.zeros(shape),
        shows=np.zeros(shape),
        attraction=np.full(task.items, 0.5),
        position_bias=np.ones(task.slots),
        best_first=np.arange(task.items),
        by_rank=np.arange(task.items),
        item_order=np.arange(task.items),
        shuffled=False,
        loop=np.zeros((len(trial.lists) + task.items + 1, task.slots), np.int64),
        count=0,
        shown=0,
        left=np.zeros(shape),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PMED)
def _choose(policy: PMED, rng: np.random.Generator) -> Ranking:
    if policy.shown == policy.count:
        _begin_loop(policy, rng)
    ranking = policy.ranking
    for slot in range(len(ranking)):
        ranking[slot] = policy.loop[policy.shown, slot]
    policy.shown += 1
    return ranking


@jit
def _begin_loop(policy: PMED, rng: np.random.Generator) -> None:
    """Estimate, and put the lists of the next loop together."""
    policy.count, policy.shown = 0, 0
    if not policy.shuffled:
        shuffle(policy.item_order, 0, len(policy.item_order), rng)
        policy.shuffled = True
    for _ in range(SWEEPS):
        estimate(policy.clicks, policy.shows, policy.attraction, policy.position_bias)
    if policy.rounds > 0.0:
        # before the first round all are alike, and the first lists are at random
        select_best(policy.attraction, policy.best_first, len(policy.ranking), rng)
        for slot in range(len(policy.ranking)):
            policy.ranking[slot] = policy.best_first[slot]
        _add(policy, policy.ranking)
    _add_rare_pairs(policy)
    if policy.count > 1 or len(policy.trial.lists) == 0:
        return
    if _is_time_for_shares(policy):
        _find_shares(policy)
    _add_owing(policy)


@inlined
def _add(policy: PMED, ranking: Ranking) -> None:
    for slot in range(len(ranking)):
        policy.loop[policy.count, slot] = ranking[slot]
    policy.count += 1


@inlined
def _add_rare_pairs(policy: PMED) -> None:
    """One of J lists that have every pair between them, wherever a pair was shown too rarely."""
    items, slots = policy.shows.shape
    enough = policy.alpha * math.sqrt(math.log(policy.rounds + 1.0))
    for first in range(items):
        rare = False
        for slot in range(slots):
            policy.ranking[slot] = policy.item_order[(first + slot) % items]
            rare = rare or policy.shows[policy.ranking[slot], slot] <= enough
        if rare:
            _add(policy, policy.ranking)


@inlined
def _is_time_for_shares(policy: PMED) -> bool:
    changed = False
    for slot in range(len(policy.ranking)):
        changed = changed or policy.best_first[slot] != policy.by_rank[slot]
    growth = GROWTH_AFTER_CHANGE if changed else GROWTH
    return policy.rounds + 1.0 >= growth * policy.shares_of


@inlined
def _find_shares(policy: PMED) -> None:
    """What certainty asks under the estimates, by ranks of items."""
    trial = policy.trial
    policy.shares_of = policy.rounds + 1.0
    for rank in range(len(policy.by_rank)):
        policy.by_rank[rank] = policy.best_first[rank]
        trial.attraction[rank] = policy.attraction[policy.by_rank[rank]]
    for slot in range(len(policy.ranking)):
        trial.position_bias[slot] = policy.position_bias[slot]
    find_shares(trial)


@inlined
def _add_owing(policy: PMED) -> None:
    """The lists that were not shown as often as they should be; a pair's shows are spent on one after the other."""
    left, by_rank, lists, shares = policy.left, policy.by_rank, policy.trial.lists, policy.trial.shares
    items, slots = left.shape
    for item in range(items):
        for slot in range(slots):
            left[item, slot] = policy.shows[item, slot]
    log_time = math.log(policy.rounds + 1.0)
    for number in range(len(lists)):
        wanted = shares[number] * log_time
        if wanted <= 0.0:
            continue
        has = wanted
        for slot in range(slots):
            policy.ranking[slot] = by_rank[lists[number, slot]]
            has = min(has, left[policy.ranking[slot], slot])
        for slot in range(slots):
            left[policy.ranking[slot], slot] -= has
        if has < wanted:
            _add(policy, policy.ranking)


@jit
def estimate(clicks: FloatArray, shows: FloatArray, attraction: FloatArray, position_bias: FloatArray) -> None:
    """A sweep towards the θ and κ that minimise Σ N d(μ̂, θκ): a Newton step in the logarithm of each in turn."""
    items, slots = shows.shape
    for item in range(items):
        attraction[item] = _moved(clicks[item], shows[item], position_bias, attraction[item], LARGEST)
    for slot in range(1, slots):
        most = position_bias[slot - 1]
        position_bias[slot] = _moved(clicks[:, slot], shows[:, slot], attraction, position_bias[slot], most)


@inlined
def _moved(clicks: FloatArray, shows: FloatArray, partners: FloatArray, now: float, most: float) -> float:
    slope, bend = 0.0, 0.0
    for other in range(len(partners)):
        chance = min(now * partners[other], LARGEST)
        odds = chance / (1.0 - chance)
        misses = shows[other] - clicks[other]
        slope += clicks[other] - misses * odds
        bend += misses * odds * (1.0 + odds)
    if slope == 0.0 and bend == 0.0:
        return min(now, most)
    # no more than half or twice at once: where bend is small a step would be too long
    change = max(-0.7, min(0.7, slope / max(bend, 1e-9)))
    return max(LEAST, min(most, now * math.exp(change)))


@learn_clicks.register(PMED)
def _learn_clicks(policy: PMED, ranking: Ranking, clicks: BoolArray) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        policy.shows[ranking[slot], slot] += 1.0
        if clicks[slot]:
            policy.clicks[ranking[slot], slot] += 1.0
