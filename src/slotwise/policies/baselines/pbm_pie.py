"""PBM-PIE: the best items so far, and sometimes in the last slot one that may be better; Lagrée et al. (2016)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import below
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.optimize.round_robin import RoundRobin, fill_round_robin, round_robin_order
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks, lists_for
from slotwise.policies.policy_registry import register

#: the maximum of an estimated probability, so that log(1 - κθ) is finite
LARGEST = 1.0 - 1e-9


@learns_all_clicks
@record
class PBMPIE:
    """Algorithm 1: parsimonious item exploration.

    The items with the largest θ̂ = S/E fill the page in that order, with S an item's clicks and E its exposure Σ κ. With
    probability 1/2 the least visible slot goes to another item, drawn uniformly from those whose upper bound

        U = the largest θ with Σ_l n_l kl(S_l/n_l, κ_lθ) ≤ (1 + ε) log t

    is at least the smallest θ̂ on the page. The sum is over slots l, in which the item was shown n_l times and clicked
    S_l times. In the first J rounds every item is shown once in every slot. If a bias exceeds 1, all are divided by the
    largest, since they must be probabilities.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """

    #: κ, per slot, and the slot with the smallest
    position_bias: FloatArray
    least_visible: int
    #: 1 + ε
    width: float
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: items × slots: S_l and n_l
    clicks: FloatArray
    shows: FloatArray
    #: per item: exposure E, and Σ_l n_l times the negative entropy of S_l/n_l
    exposure: FloatArray
    certainty: FloatArray
    #: θ̂, infinite before the first show
    mean: FloatArray
    #: the lists of the first rounds; scratch: items on the page, and items that may be better
    first_lists: RoundRobin
    on_page: BoolArray
    rivals: IntArray
    #: per slot: log κθ and log(1 - κθ) for the smallest θ̂ on the page
    log_click: FloatArray
    log_miss: FloatArray
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "pbm-pie",
    name="PBM-PIE",
    position_bias="known",
    citation="Lagrée, Vernade and Cappé, Multiple-Play Bandits in the Position-Based Model (2016), Algorithm 1",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the lists of rounds with a click, which a tally does not have",
    },
    rival=True,
)
def pbm_pie(task: PolicyTask, *, epsilon: float = 0.01) -> PBMPIE:
    """PBM-PIE; its bound on regret holds for every ε above 0."""
    assert task.position_bias is not None
    position_bias = task.position_bias / max(1.0, task.position_bias.max())
    shape = (task.items, task.slots)
    return PBMPIE(
        position_bias=position_bias,
        least_visible=int(np.argmin(position_bias)),
        width=1.0 + validation.positive_number("epsilon", epsilon),
        lists=lists_for(task),
        rounds=0.0,
        clicks=np.zeros(shape),
        shows=np.zeros(shape),
        exposure=np.zeros(task.items),
        certainty=np.zeros(task.items),
        mean=np.full(task.items, np.inf),
        first_lists=round_robin_order(task.items),
        on_page=np.zeros(task.items, np.bool_),
        rivals=np.zeros(task.items, np.int64),
        log_click=np.zeros(task.slots),
        log_miss=np.zeros(task.slots),
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PBMPIE)
def _choose(policy: PBMPIE, rng: np.random.Generator) -> Ranking:
    ranking, mean = policy.ranking, policy.mean
    items = len(mean)
    if policy.rounds < items:
        fill_round_robin(policy.first_lists, int(policy.rounds), ranking, rng)
        return ranking
    arrange(policy.lists, mean, policy.position_bias, ranking, rng)
    found = _find_rivals(policy, ranking)
    if found > 0 and rng.random() < 0.5:
        ranking[policy.least_visible] = policy.rivals[below(found, rng)]
    return ranking


@inlined
def _find_rivals(policy: PBMPIE, ranking: Ranking) -> int:
    """Find the items off the page that may be better than its last item; return their number."""
    position_bias, rivals, on_page = policy.position_bias, policy.rivals, policy.on_page
    last = min(policy.mean[ranking[policy.least_visible]], LARGEST)
    level = policy.width * math.log(policy.rounds + 1.0)
    for slot in range(len(ranking)):
        on_page[ranking[slot]] = True
        # if nothing was ever clicked, everything may be better; this avoids log 0
        policy.log_click[slot] = math.log(max(position_bias[slot] * last, 1e-300))
        policy.log_miss[slot] = math.log(1.0 - position_bias[slot] * last)
    found = 0
    for item in range(len(on_page)):
        if not on_page[item] and _may_be_better(policy, item, last, level):
            rivals[found] = item
            found += 1
    for slot in range(len(ranking)):
        on_page[ranking[slot]] = False
    return found


@inlined
def _may_be_better(policy: PBMPIE, item: int, last: float, level: float) -> bool:
    """Whether U ≥ `last`: the divergence at `last` is small, or `last` is left of its minimum."""
    divergence, slope = policy.certainty[item], 0.0
    for slot in range(len(policy.position_bias)):
        hits = policy.clicks[item, slot]
        misses = policy.shows[item, slot] - hits
        bias = policy.position_bias[slot]
        divergence -= hits * policy.log_click[slot] + misses * policy.log_miss[slot]
        # the derivative of the divergence times θ, which has no pole at 0
        slope += misses * bias * last / (1.0 - bias * last) - hits
    return divergence <= level or slope <= 0.0


@learn_clicks.register(PBMPIE)
def _learn_clicks(policy: PBMPIE, ranking: Ranking, clicks: BoolArray) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        _count(policy, slot, ranking[slot], clicks[slot])


@inlined
def _count(policy: PBMPIE, slot: int, item: int, clicked: bool) -> None:
    shows, clicks = policy.shows[item], policy.clicks[item]
    policy.certainty[item] -= _certainty(clicks[slot], shows[slot])
    shows[slot] += 1.0
    if clicked:
        clicks[slot] += 1.0
    policy.certainty[item] += _certainty(clicks[slot], shows[slot])
    policy.exposure[item] += policy.position_bias[slot]
    policy.mean[item] = clicks.sum() / policy.exposure[item]


@inlined
def _certainty(clicks: float, shows: float) -> float:
    """n (p̂ log p̂ + (1 - p̂) log(1 - p̂))."""
    misses = shows - clicks
    if clicks <= 0.0 or misses <= 0.0:
        return 0.0
    return clicks * math.log(clicks / shows) + misses * math.log(misses / shows)
