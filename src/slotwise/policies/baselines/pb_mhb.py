"""PB-MHB: Thompson sampling of items and slots by Metropolis and Hastings; Gauthier, Gaudel and Fromont (2021)."""

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

#: drawn values stay this far from 0 and 1, where the likelihood may be none
MARGIN = 1e-9


@learns_all_clicks
@record
class PBMHB:
    """Draw θ and κ by one sweep of Metropolis and Hastings from the last draw, and show the best list for them.

    Under the position-based model item j in slot k is clicked with probability κ_kθ_j. With uniform priors on [0, 1],
    each parameter in turn is proposed from a normal distribution around its last value with standard deviation c/√t,
    cut off at 0 and 1, and taken with the chance that leaves the posterior as it is.

    Slots come in any order and none of them need be seen by all: no κ is held at 1. The text of the paper could not be
    had: this is its algorithm as it is known, with c = 1000 and one sweep a round, not checked line by line.
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
    #: room for one click or none
    clicked: BoolArray
    ranking: Ranking


@register(
    "pb-mhb",
    name="PB-MHB",
    position_bias="unknown",
    citation="Gauthier, Gaudel and Fromont, Position-Based Multiple-Play Bandits with Thompson Sampling (2021)",
    limits={
        "goal": "it knows no values and no constraints",
        "tally": "what it remembers, who was shown when others were clicked, does not follow from a tally",
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
    """One step of Metropolis and Hastings for a parameter whose clicks have probability value · partner."""
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
    """A normal variable around `now`, given that it is between 0 and 1."""
    while True:
        if spread < 0.3:
            proposed = now + spread * rng.standard_normal()
        else:
            # most normal variables would miss the interval: a uniform one, kept as often as the density is high
            proposed = rng.random()
            away = (proposed - now) / spread
            if rng.random() > math.exp(-0.5 * away * away):
                continue
        if MARGIN < proposed < 1.0 - MARGIN:
            return proposed


@inlined
def _mass(now: float, spread: float) -> float:
    """How likely a normal variable around `now` is between 0 and 1."""
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
