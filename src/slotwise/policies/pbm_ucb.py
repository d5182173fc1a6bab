"""PBM-UCB ("PBUCB" in Grant and Leslie): known position bias under the position-based model, Lagrée et al. (2016)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.choice.arrange import arrange
from slotwise.compiled import record
from slotwise.policies.policy import Setting, arrangement, choose, learn
from slotwise.policies.registry import register
from slotwise.typing import EMPTY, FloatArray, Ranking


@record
class PBMUCB:
    """Rank by S/E + √(n/E) √(log t/(2E)) in round t.

    S/E estimates an item's click probability per exposure, which other items lower: α/(1+Σγ) and not α. The order is
    the same, but with values a list looks less crowded than it is.
    """

    #: λ, per slot
    position_bias: FloatArray
    lists: Any
    #: t
    round: int
    #: per item: clicks S, rounds shown n, exposure E = Σ λ over those rounds
    clicks: FloatArray
    shows: FloatArray
    exposure: FloatArray
    #: per item: S/E (infinite before the first show), and √(n/2)/E
    mean: FloatArray
    uncertainty: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "pbm-ucb",
    name="PBM-UCB",
    position_bias="known",
    citation="Lagrée, Vernade and Cappé, Multiple-Play Bandits in the Position-Based Model (2016)",
)
def pbm_ucb(setting: Setting) -> PBMUCB:
    """PBM-UCB, one decision a round."""
    assert setting.position_bias is not None
    return PBMUCB(
        position_bias=setting.position_bias,
        lists=arrangement(setting),
        round=0,
        clicks=np.zeros(setting.items),
        shows=np.zeros(setting.items),
        exposure=np.zeros(setting.items),
        mean=np.full(setting.items, np.inf),
        uncertainty=np.zeros(setting.items),
        index=np.zeros(setting.items),
        ranking=np.zeros(setting.slots, np.int64),
    )


@choose.register(PBMUCB)
def _choose(policy: PBMUCB, rng: np.random.Generator) -> Ranking:
    policy.round += 1
    index, mean, uncertainty, ranking = policy.index, policy.mean, policy.uncertainty, policy.ranking
    width = math.sqrt(math.log(policy.round))
    for item in range(len(index)):
        index[item] = mean[item] + width * uncertainty[item]
    arrange(policy.lists, index, policy.position_bias, ranking, rng)
    return ranking


@learn.register(PBMUCB)
def _learn(policy: PBMUCB, ranking: Ranking, clicked: int) -> None:
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item == EMPTY:
            continue
        policy.shows[item] += 1.0
        policy.exposure[item] += policy.position_bias[slot]
        if slot == clicked:
            policy.clicks[item] += 1.0
        policy.mean[item] = policy.clicks[item] / policy.exposure[item]
        policy.uncertainty[item] = math.sqrt(policy.shows[item] / 2.0) / policy.exposure[item]
