"""Randomised KL-MOSS: what to show by a random bound, in which order by a small one, on a sampled position bias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.belief import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    BIAS_SHAPE,
    ESTIMATED_FROM_TALLY,
    LearnedPrior,
    Passes,
    Shows,
    count_list,
    count_tally,
    fair_share,
    hold_back,
    imagine,
    is_lived,
    is_new,
    learned_bias,
    learned_prior,
    lived,
    no_shows,
    pools_or_forgets,
    relearn,
    relearn_all,
    show_by_rate,
    told_bias,
    update,
    update_by_epoch,
    update_by_tally,
)
from slotwise.bounds.poisson import upper_bound
from slotwise.compiled import inlined, record
from slotwise.lists.arrange import arrange, entry, rearrange
from slotwise.policies.epochs import Acts, in_rounds_or_epochs
from slotwise.policies.interface import absorb, choose, learn, learn_epoch, lists_for, with_belief
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.typing import EMPTY, FloatArray, IntArray, Ranking

#: the part of log(average exposure / own) that the order of the items is optimistic by; see docs/policies.md
ORDER = 0.25
#: the draw of the bias is narrowed a little, to this part of its standard deviation; see docs/policies.md
BIAS_SPREAD = 0.9
#: decisions that share one draw of the position bias, at most
KEEP = 8
#: no random level is above: -log of the smallest positive 1 - u
HIGHEST_LEVEL = 37.0


@with_belief
@record
class RandomisedMoss:
    """Choose items by a bound at a random level, and order them by one at a level of their own.

    The bound at level c is the largest q with E·kl(m, q) ≤ c, as in KL-MOSS. Items are chosen by c = min(X, log(1 +
    tK/(J·shows))), X exponential with mean 1: the chance that an item looks better than another falls with the
    evidence as it does for posterior sampling, and it never looks better than optimism would have it. They are ordered
    by c = ¼ log(Ē/E), Ē the average exposure of all items, and not at all above the mean where E is above Ē: an item
    that is well placed but little seen gets to a slot where it is seen. The prior of attractiveness is learned.
    """

    belief: Any
    prior: LearnedPrior
    lists: Any
    shown: Shows
    #: per item: mean attractiveness, the bound to be chosen by, the bound to be ordered by
    mean: FloatArray
    index: FloatArray
    order_index: FloatArray
    ranking: Ranking


CITATION = "slotwise: KL-MOSS with random levels, learned prior and exploration within the list"


@register(
    "randomised-moss",
    name="Randomised KL-MOSS",
    position_bias="unknown",
    citation=CITATION,
    twin="randomised-moss-known",
    try_with=[{"acts": "epochs"}],
    estimated_from_tally=ESTIMATED_FROM_TALLY,
    legend={"policies": 4, "lived": 5},
    also_compared=[{"acts": "epochs"}, {"bias_spread": 1.0}],
)
def randomised_moss(
    setting: Setting,
    *,
    bias_shape: Any = BIAS_SHAPE,
    bias_spread: Any = BIAS_SPREAD,
    passes: Passes = "hard",
    memory: Any = "none",
    acts: Acts = "rounds",
) -> Any:
    """With the position bias learned."""
    if is_lived(setting, passes, memory):
        spread: dict[str, Any] = {"bias_shape": bias_shape, "bias_spread": bias_spread, "keep": KEEP}
        return start(setting, lived(setting, passes=passes, memory=memory, **spread), acts)
    belief = learned_bias(
        setting,
        shape=ATTRACTIVENESS_SHAPE,
        rate=ATTRACTIVENESS_RATE,
        bias_shape=bias_shape,
        bias_spread=bias_spread,
        keep=KEEP,
    )
    return start(setting, belief, acts)


@register(
    "randomised-moss-known",
    name="Randomised KL-MOSS, known bias",
    position_bias="known",
    citation=CITATION,
    twin="randomised-moss",
    estimated_from_tally=ESTIMATED_FROM_TALLY,
)
def randomised_moss_known(
    setting: Setting, *, passes: Passes = "hard", memory: Any = "none", acts: Acts = "rounds"
) -> Any:
    """With the position bias known."""
    if is_lived(setting, passes, memory):
        return start(setting, lived(setting, passes=passes, memory=memory, keep=KEEP), acts)
    return start(setting, told_bias(setting, shape=ATTRACTIVENESS_SHAPE, rate=ATTRACTIVENESS_RATE), acts)


def start(setting: Setting, belief: Any, acts: Acts) -> Any:
    """The policy with this belief, deciding in every round or once an epoch."""
    policy = RandomisedMoss(
        belief=belief,
        prior=learned_prior(ATTRACTIVENESS_SHAPE, ATTRACTIVENESS_RATE, elsewhere=pools_or_forgets(belief)),
        lists=lists_for(setting),
        shown=no_shows(setting.items, by_rate=pools_or_forgets(belief)),
        mean=np.zeros(setting.items),
        index=np.zeros(setting.items),
        order_index=np.zeros(setting.items),
        ranking=np.arange(setting.slots),
    )
    return in_rounds_or_epochs(policy, setting, acts)


@choose.register(RandomisedMoss)
def _choose(policy: RandomisedMoss, rng: np.random.Generator) -> Ranking:
    belief, prior, mean, ranking = policy.belief, policy.prior, policy.mean, policy.ranking
    imagine(belief, rng)
    if prior.rounds >= prior.outdated:
        relearn(prior, belief)
    shape, rate = belief.shape, belief.rate
    average = 0.0
    for item in range(len(mean)):
        mean[item] = shape[item] / rate[item]
        average += rate[item]
    average /= len(mean)
    show_by_rate(policy.shown, rate, len(ranking))
    if not _stays(policy, rate, rng):
        arrange(policy.lists, policy.index, belief.position_bias, ranking, rng)
        hold_back(belief, policy.lists, policy.index, ranking, rng)
    order_index = policy.order_index
    for slot in range(len(ranking)):
        item = ranking[slot]
        if item != EMPTY:
            order_index[item] = mean[item]
            if rate[item] < average:
                order_index[item] = upper_bound(mean[item], ORDER * math.log(average / rate[item]) / rate[item])
    rearrange(policy.lists, order_index, belief.position_bias, ranking, rng)
    return ranking


@inlined
def _stays(policy: RandomisedMoss, rate: FloatArray, rng: np.random.Generator) -> bool:
    """Fill the index; True, and some of it left out, if the items of the last list are sure to be those of the next.

    They are if as many as there are slots have means above all bounds of the others, for no bound is below its mean.
    Where values or constraints decide, nothing is sure.
    """
    mean, index, shows = policy.mean, policy.index, policy.shown.shows
    slots, items = len(policy.ranking), len(mean)
    fair = fair_share(policy.shown, slots)
    least = entry(policy.lists, mean, policy.ranking)
    above, reached = 0, False
    for item in range(items):
        if shows[item] == 0.0:
            index[item] = math.inf
            reached = True
        elif mean[item] >= least:
            above += 1
            # which may have to give way
            reached = reached or is_new(policy.belief, item)
        else:
            index[item] = mean[item]
            gap = least - mean[item]
            # what kl(m, least)·E is at least; mostly enough to see that the bound is below
            far = gap * gap * rate[item] / (2.0 * least)
            if far < HIGHEST_LEVEL:
                level = -math.log(1.0 - rng.random())
                if far < level:
                    index[item] = upper_bound(mean[item], min(level, math.log(1.0 + fair / shows[item])) / rate[item])
                    reached = reached or index[item] >= least
    if above == slots and not reached and least > 0.0:
        return True
    for item in range(items):
        if shows[item] > 0.0 and mean[item] >= least:
            level = min(-math.log(1.0 - rng.random()), math.log(1.0 + fair / shows[item]))
            index[item] = upper_bound(mean[item], level / rate[item]) if level > 0.0 else mean[item]
    return False


@learn.register(RandomisedMoss)
def _learn(policy: RandomisedMoss, ranking: Ranking, clicked: int) -> None:
    count_list(policy.shown, ranking)
    policy.prior.rounds += 1.0
    update(policy.belief, ranking, clicked)


@learn_epoch.register(RandomisedMoss)
def _learn_epoch(policy: RandomisedMoss, ranking: Ranking, clicks: IntArray) -> None:
    count_list(policy.shown, ranking)
    policy.prior.rounds += 1.0
    update_by_epoch(policy.belief, ranking, clicks)


@absorb.register(RandomisedMoss)
def _absorb(policy: RandomisedMoss, clicks: FloatArray, passes: FloatArray) -> None:
    count_tally(policy.shown, clicks, passes)
    update_by_tally(policy.belief, clicks, passes)
    relearn_all(policy.prior, policy.belief, clicks, passes)
