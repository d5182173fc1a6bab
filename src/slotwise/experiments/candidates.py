"""Policies that were tried against the registered ones and did not earn a place: what the study compares.

Each is a rule for the index by which items are chosen, on the same beliefs as the registered policies, and the order
of the chosen items is that of their means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from slotwise.belief import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    BIAS_SHAPE,
    Shows,
    count_list,
    imagine,
    learned_bias,
    no_shows,
    told_bias,
    update,
)
from slotwise.bounds.poisson import upper_bound
from slotwise.compiled import jit, record
from slotwise.lists.arrange import arrange_by
from slotwise.lists.top_items import select_best
from slotwise.policies.interface import choose, learn, lists_for
from slotwise.setting import Setting
from slotwise.typing import FloatArray, IntArray, Ranking

(
    GREEDY,
    TEMPERED,
    NEVER_BELOW_MEAN,
    BOOTSTRAP,
    PERTURBED_HISTORY,
    RANDOM_BOUND,
    TOP_TWO,
    INFORMATION_DIRECTED,
) = range(8)

#: name: what it does, its rule, its strength
CANDIDATES: dict[str, tuple[str, int, float]] = {
    "greedy": ("the means alone, the bias still sampled", GREEDY, 0.0),
    "tempered-0.5": ("set sampling with half the variance", TEMPERED, 0.5),
    "tempered-0.1": ("set sampling with a tenth of the variance", TEMPERED, 0.1),
    "never-below-mean": ("set sampling, a sample below the mean raised to it", NEVER_BELOW_MEAN, 1.0),
    "bootstrap": ("clicks resampled: Poisson with the mean that was seen", BOOTSTRAP, 1.0),
    "perturbed-history": ("as many made-up rounds as real ones, clicked at the average rate", PERTURBED_HISTORY, 1.0),
    "random-bound": ("KL bound at a random level, exponential with mean ½", RANDOM_BOUND, 0.5),
    "top-two": ("every other round the list of a second sample, where it differs", TOP_TWO, 0.5),
    "information-directed": ("the exchange of least squared regret per information", INFORMATION_DIRECTED, 16.0),
}


@record
class Candidate:
    """One rule of `CANDIDATES` on a belief."""

    belief: Any
    lists: Any
    rule: int
    strength: float
    shown: Shows
    mean: FloatArray
    index: FloatArray
    second: FloatArray
    order: IntArray
    ranking: Ranking
    #: of the information-directed rule, per item: samples in the best set, their sum, and the information
    chosen: FloatArray
    total: FloatArray
    information: FloatArray


def candidate(name: str, known: bool) -> Callable[[Setting], Candidate]:
    """What `simulate` takes for a policy: a function of a setting, under the candidate's name."""
    _, rule, strength = CANDIDATES[name]

    def make(setting: Setting) -> Candidate:
        return _start(setting, rule, strength, known)

    make.__name__ = name
    return make


def _start(setting: Setting, rule: int, strength: float, known: bool) -> Candidate:
    prior: dict[str, Any] = {"shape": ATTRACTIVENESS_SHAPE, "rate": ATTRACTIVENESS_RATE}
    if not known:
        setting = Setting(setting.slots, setting.items, setting.rounds)
    items = setting.items
    return Candidate(
        belief=told_bias(setting, **prior) if known else learned_bias(setting, bias_shape=BIAS_SHAPE, **prior),
        lists=lists_for(setting),
        rule=rule,
        strength=strength,
        shown=no_shows(items),
        mean=np.zeros(items),
        index=np.zeros(items),
        second=np.zeros(items),
        order=np.arange(items),
        ranking=np.zeros(setting.slots, np.int64),
        chosen=np.zeros(items),
        total=np.zeros(items),
        information=np.zeros(items),
    )


@choose.register(Candidate)
def _choose(policy: Candidate, rng: np.random.Generator) -> Ranking:
    belief, mean, index, ranking = policy.belief, policy.mean, policy.index, policy.ranking
    imagine(belief, rng)
    for item in range(len(mean)):
        mean[item] = belief.shape[item] / belief.rate[item]
    fill_index(policy, belief.shape, belief.rate, rng)
    for item in range(len(mean)):
        if policy.shown.shows[item] == 0.0:
            index[item] = math.inf
    arrange_by(policy.lists, index, mean, belief.position_bias, ranking, rng)
    return ranking


@learn.register(Candidate)
def _learn(policy: Candidate, ranking: Ranking, clicked: int) -> None:
    count_list(policy.shown, ranking)
    update(policy.belief, ranking, clicked)


@jit
def fill_index(policy: Candidate, shape: FloatArray, rate: FloatArray, rng: np.random.Generator) -> None:
    """The index of every item by the policy's rule."""
    rule, strength, mean, index = policy.rule, policy.strength, policy.mean, policy.index
    items = len(index)
    average = 0.0
    if rule == PERTURBED_HISTORY:
        clicks, exposure = 0.0, 0.0
        for item in range(items):
            clicks += shape[item]
            exposure += rate[item]
        average = clicks / exposure
    for item in range(items):
        if rule == TEMPERED:
            index[item] = rng.standard_gamma(shape[item] / strength) * strength / rate[item]
        elif rule == BOOTSTRAP:
            index[item] = rng.poisson(shape[item]) / rate[item]
        elif rule == PERTURBED_HISTORY:
            index[item] = (shape[item] + rng.poisson(strength * average * rate[item])) / ((1.0 + strength) * rate[item])
        elif rule == RANDOM_BOUND:
            level = -strength * math.log(1.0 - rng.random())
            index[item] = upper_bound(mean[item], level / rate[item]) if level > 0.0 else mean[item]
        elif rule in (GREEDY, INFORMATION_DIRECTED):
            index[item] = mean[item]
        else:
            index[item] = rng.standard_gamma(shape[item]) / rate[item]
            if rule == NEVER_BELOW_MEAN:
                index[item] = max(index[item], mean[item])
    if rule == TOP_TWO and rng.random() < strength:
        _second_sample(policy, shape, rate, rng)
    if rule == INFORMATION_DIRECTED:
        _exchange(policy, shape, rate, rng)


@jit
def _second_sample(policy: Candidate, shape: FloatArray, rate: FloatArray, rng: np.random.Generator) -> None:
    """Sample again, ten times at most, until other items are best."""
    index, second, order, slots = policy.index, policy.second, policy.order, len(policy.ranking)
    select_best(index, order, slots, rng)
    worst = index[order[slots - 1]]
    for _ in range(10):
        for item in range(len(second)):
            second[item] = rng.standard_gamma(shape[item]) / rate[item]
        select_best(second, order, slots, rng)
        for place in range(slots):
            if index[order[place]] < worst:
                index[:] = second
                return


@jit
def _exchange(policy: Candidate, shape: FloatArray, rate: FloatArray, rng: np.random.Generator) -> None:
    """Variance-based information-directed sampling (Russo and Van Roy, 2014) among exchanges of the last item.

    The actions are the best list by means, and that list with its last item exchanged for another. The regret of a list
    is estimated from samples; its information is the variance, over whether an item is in the sampled best set, of the
    item's mean given that. The mixture of two actions with the least squared regret per information is played.
    """
    mean, index, second, order = policy.mean, policy.index, policy.second, policy.order
    chosen, total, information = policy.chosen, policy.total, policy.information
    items, slots, samples = len(index), len(policy.ranking), int(policy.strength)
    chosen[:] = 0.0
    total[:] = 0.0
    best = 0.0
    for _ in range(samples):
        for item in range(items):
            second[item] = rng.standard_gamma(shape[item]) / rate[item]
        select_best(second, order, slots, rng)
        for place in range(slots):
            chosen[order[place]] += 1.0
            total[order[place]] += second[order[place]]
            best += second[order[place]] / samples
    for item in range(items):
        inside = chosen[item] / samples
        information[item] = 0.0
        if 0.0 < inside < 1.0:
            shift = total[item] / chosen[item] - mean[item]
            # the mean outside follows from the mean inside
            information[item] = inside * shift * shift / (1.0 - inside)
    select_best(mean, order, slots, rng)
    last = order[slots - 1]
    regret, known = best, 0.0
    for place in range(slots):
        regret -= mean[order[place]]
        known += information[order[place]]
    regret = max(regret, 0.0)
    lowest, winner, share = math.inf, last, 0.0
    for place in range(slots - 1, items):
        item = order[place]
        more, learned = mean[last] - mean[item], known - information[last] + information[item]
        for step in range(11):
            q = step / 10.0
            cost, gain = regret + q * more, (1.0 - q) * known + q * learned
            ratio = cost * cost / gain if gain > 0.0 else math.inf
            if ratio < lowest:
                lowest, winner, share = ratio, item, q
    if winner != last and rng.random() < share:
        index[winner], index[last] = mean[last], mean[winner]
