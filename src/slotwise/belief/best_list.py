"""How likely each item is to be in the best list, given what was seen: by drawing from the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.belief.interface import imagine, update_by_tally
from slotwise.belief.learned import BIAS_SHAPE, learned_bias
from slotwise.belief.told import told_bias
from slotwise.compiled import jit
from slotwise.lists.arrange import arrange
from slotwise.lists.per_decision import impose, per_decision_lists, pins
from slotwise.setting import Setting
from slotwise.tally import Tally
from slotwise.typing import EMPTY, FloatArray, IntArray, Ranking


def best_list_chances(
    tally: Tally,
    *,
    shape: float,
    rate: float,
    position_bias: FloatArray | None = None,
    values: FloatArray | None = None,
    excluded: IntArray | None = None,
    draws: int = 400,
    rng: np.random.Generator,
) -> FloatArray:
    """The probability of each item to be in the list of the largest expected value, `excluded` ones left out.

    The part of `draws` of (λ, α) from their posterior, α_j ~ Gamma(shape, rate) before anything was seen, in whose best
    list the item is; with a standard error of at most ½/√draws.

    >>> tally = Tally(np.array([[30, 10, 0]]), np.array([[50, 50, 50]]))
    >>> best_list_chances(tally, shape=0.5, rate=1.0, rng=np.random.default_rng(1)).round(1)
    array([1., 0., 0.])
    """
    setting = Setting(tally.slots, tally.items, 1, position_bias)
    if position_bias is None:
        belief: Any = learned_bias(setting, shape=shape, rate=rate, bias_shape=BIAS_SHAPE)
    else:
        belief = told_bias(setting, shape=shape, rate=rate)
    update_by_tally(belief, tally.clicks, tally.passes)
    left_out = np.zeros(0, np.int64) if excluded is None else excluded
    pin = pins(tally.slots, tally.items - len(left_out))
    lists = per_decision_lists(tally.slots, tally.items, position_bias)
    impose(lists, np.ones(tally.items) if values is None else values, left_out, pin)
    counts = np.zeros(tally.items)
    _count_best(belief, lists, draws, np.zeros(tally.items), np.zeros(tally.slots, np.int64), counts, rng)
    return counts / draws


@jit
def _count_best(
    belief: Any,
    lists: Any,
    draws: int,
    attractiveness: FloatArray,
    ranking: Ranking,
    counts: FloatArray,
    rng: np.random.Generator,
) -> None:
    for _ in range(draws):
        imagine(belief, rng)
        for item in range(len(counts)):
            attractiveness[item] = rng.standard_gamma(belief.shape[item]) / belief.rate[item]
        arrange(lists, attractiveness, belief.position_bias, ranking, rng)
        for item in ranking:
            if item != EMPTY:
                counts[item] += 1.0
