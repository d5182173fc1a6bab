"""PB-MHB: Thompson sampling of items and slots by Metropolis-Hastings; Gauthier, Gaudel and Fromont (2021)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, Ranking
from slotwise.jit import inlined, jit, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn_clicks, learns_all_clicks, lists_for
from slotwise.policies.policy_registry import register

#: drawn values stay this far from 0 and 1, at which the likelihood may be 0
MARGIN = 1e-9


@learns_all_clicks
@record
class PBMHB:
    """Draw θ and κ by one Metropolis-Hastings sweep from the last draw, and show the best list for them.

    Under the position-based model item j in slot k is clicked with probability κ_kθ_j. Priors are uniform on [0, 1].
    Each parameter in turn is proposed from a normal distribution around its last value with standard deviation c/√t,
    truncated to [0, 1], and accepted with the Metropolis-Hastings probability.

    Slots may be in any order, and no κ is fixed at 1. The text of the paper was not available. This is the algorithm as
    it is commonly described, with c = 1000 and one sweep per round, not checked line by line against the paper.
    """

    #: c
    width: float
    lists: Any
    #: t - 1, rounds learned from
    rounds: float
    #: slots × items: clicks, and shows without one
    clicks: FloatArray
    misses: FloatArray
    #: θ per item and κ per slot, as last drawn
    attraction: FloatArray
    position_bias: FloatArray
    started: bool
    #: scratch: whether each slot was clicked
    clicked: BoolArray
    ranking: Ranking


@register(
    "pb-mhb",
    name="PB-MHB",
    position_bias="unknown",
    citation="Gauthier, Gaudel and Fromont, Position-Based Multiple-Play Bandits with Thompson Sampling (2021)",
    limits={
        "goal": "it supports neither values nor constraints",
        "tally": "it needs the lists of rounds with a click, which a tally does not have",
    },
    rival=True,
)
def pb_mhb(task: PolicyTask, *, c: float = 1_000.0) -> PBMHB:
    """PB-MHB with proposals of standard deviation c/√t."""
    shape = (task.slots, task.items)
    return PBMHB(
        width=validation.positive_number("c", c),
        lists=lists_for(task),
        rounds=0.0,
        clicks=np.zeros(shape),
        misses=np.zeros(shape),
        attraction=np.zeros(task.items),
        position_bias=np.zeros(task.slots),
        started=False,
        clicked=np.zeros(task.slots, np.bool_),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PBMHB)
def _choose(policy: PBMHB, rng: np.random.Generator) -> Ranking:
    attraction, position_bias = policy.attraction, policy.position_bias
    if not policy.started:
        policy.started = True
        for item in range(len(attraction)):
            attraction[item] = rng.random()
        for slot in range(len(position_bias)):
            position_bias[slot] = rng.random()
    spread = policy.width / math.sqrt(policy.rounds + 1.0)
    for item in range(len(attraction)):
        attraction[item] = _moved(
            attraction[item], policy.clicks[:, item], policy.misses[:, item], position_bias, spread, rng
        )
    for slot in range(len(position_bias)):
        position_bias[slot] = _moved(
            position_bias[slot], policy.clicks[slot], policy.misses[slot], attraction, spread, rng
        )
    arrange(policy.lists, attraction, position_bias, policy.ranking, rng)
    return policy.ranking


@jit
def _moved(
    now: float,
    clicks: FloatArray,
    misses: FloatArray,
    partners: FloatArray,
    spread: float,
    rng: np.random.Generator,
) -> float:
    """One Metropolis-Hastings step for a parameter whose clicks have probability value · partner."""
    proposed = propose(now, spread, rng)
    gain = math.log(_mass(now, spread) / _mass(proposed, spread))
    hits = 0.0
    for other in range(len(partners)):
        hits += clicks[other]
        if misses[other] > 0.0:
            partner = partners[other]
            gain += misses[other] * math.log((1.0 - proposed * partner) / (1.0 - now * partner))
    gain += hits * math.log(proposed / now)
    return proposed if math.log(1.0 - rng.random()) < gain else now


@inlined
def propose(now: float, spread: float, rng: np.random.Generator) -> float:
    """Draw a normal variable around `now`, given that it is between 0 and 1."""
    while True:
        if spread < 0.3:
            proposed = now + spread * rng.standard_normal()
        else:
            # most normal draws would miss the interval: draw uniformly and accept in proportion to the density
            proposed = rng.random()
            away = (proposed - now) / spread
            if rng.random() > math.exp(-0.5 * away * away):
                continue
        if MARGIN < proposed < 1.0 - MARGIN:
            return proposed


@inlined
def _mass(now: float, spread: float) -> float:
    """Return the probability that a normal variable around `now` is between 0 and 1."""
    scale = 1.0 / (spread * math.sqrt(2.0))
    return 0.5 * (math.erf((1.0 - now) * scale) + math.erf(now * scale))


@learn_clicks.register(PBMHB)
def _learn_clicks(policy: PBMHB, ranking: Ranking, clicks: BoolArray) -> None:
    policy.rounds += 1.0
    for slot in range(len(ranking)):
        if clicks[slot]:
            policy.clicks[slot, ranking[slot]] += 1.0
        else:
            policy.misses[slot, ranking[slot]] += 1.0
