"""KL-MOSS on a sampled position bias: optimism about which items to show, none about their order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.belief import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    BIAS_SHAPE,
    ESTIMATED_FROM_TALLY,
    Passes,
    Shows,
    count_list,
    count_tally,
    fair_share,
    hold_back,
    imagine,
    is_lived,
    learned_bias,
    lived,
    no_shows,
    pools_or_forgets,
    show_by_rate,
    told_bias,
    update,
    update_by_epoch,
    update_by_tally,
)
from slotwise.bounds.poisson import upper_bound
from slotwise.compiled import record
from slotwise.lists.arrange import arrange_by, entry, rearrange
from slotwise.policies.epochs import Acts, in_rounds_or_epochs
from slotwise.policies.interface import absorb, choose, learn, learn_epoch, lists_for, with_belief
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.typing import FloatArray, IntArray, Ranking


@with_belief
@record
class KLMoss:
    """Show the items with the largest upper bounds, in order of their means.

    The bound of an item is the largest q with E·kl(m, q) ≤ log(tK/(J·shows)), where m is the mean of its attractiveness
    given the position bias, E its exposure, and kl(m, q) = m log(m/q) + q - m the divergence of Poisson counts. An item
    shown at least as often as all on average has no bonus, and one never shown an infinite one.
    """

    belief: Any
    lists: Any
    shown: Shows
    #: per item: mean attractiveness, upper bound
    mean: FloatArray
    index: FloatArray
    ranking: Ranking


@register(
    "kl-moss",
    name="KL-MOSS, sampled bias",
    position_bias="unknown",
    citation="slotwise",
    twin="kl-moss-known",
    try_with=[{"acts": "epochs"}],
    estimated_from_tally=ESTIMATED_FROM_TALLY,
    legend={"policies": 3, "lived": 4},
    also_compared=[{"acts": "epochs"}, {"bias_spread": 0.7}],
)
def kl_moss(
    setting: Setting,
    *,
    shape: Any = ATTRACTIVENESS_SHAPE,
    rate: Any = ATTRACTIVENESS_RATE,
    bias_shape: Any = BIAS_SHAPE,
    bias_spread: Any = 1.0,
    passes: Passes = "hard",
    memory: Any = "none",
    acts: Acts = "rounds",
) -> Any:
    """With the position bias learned."""
    if is_lived(setting, passes, memory):
        belief = lived(setting, passes=passes, memory=memory, bias_shape=bias_shape, bias_spread=bias_spread)
        return start(setting, belief, acts)
    learned = learned_bias(setting, shape=shape, rate=rate, bias_shape=bias_shape, bias_spread=bias_spread)
    return start(setting, learned, acts)


@register(
    "kl-moss-known",
    name="KL-MOSS, known bias",
    position_bias="known",
    citation="slotwise",
    twin="kl-moss",
    estimated_from_tally=ESTIMATED_FROM_TALLY,
)
def kl_moss_known(
    setting: Setting,
    *,
    shape: Any = ATTRACTIVENESS_SHAPE,
    rate: Any = ATTRACTIVENESS_RATE,
    passes: Passes = "hard",
    memory: Any = "none",
    acts: Acts = "rounds",
) -> Any:
    """With the position bias known."""
    if is_lived(setting, passes, memory):
        return start(setting, lived(setting, passes=passes, memory=memory), acts)
    return start(setting, told_bias(setting, shape=shape, rate=rate), acts)


def start(setting: Setting, belief: Any, acts: Acts) -> Any:
    """The policy with this belief, deciding in every round or once an epoch."""
    policy = KLMoss(
        belief=belief,
        lists=lists_for(setting),
        shown=no_shows(setting.items, by_rate=pools_or_forgets(belief)),
        mean=np.zeros(setting.items),
        index=np.zeros(setting.items),
        ranking=np.arange(setting.slots),
    )
    return in_rounds_or_epochs(policy, setting, acts)


@choose.register(KLMoss)
def _choose(policy: KLMoss, rng: np.random.Generator) -> Ranking:
    belief, mean, index, ranking = policy.belief, policy.mean, policy.index, policy.ranking
    imagine(belief, rng)
    shape, rate, shows = belief.shape, belief.rate, policy.shown.shows
    for item in range(len(mean)):
        mean[item] = shape[item] / rate[item]
    show_by_rate(policy.shown, rate, len(ranking))
    fair = fair_share(policy.shown, len(ranking))
    # the last list is one to beat, and what is out of its reach needs no bound
    least = entry(policy.lists, mean, ranking)
    for item in range(len(index)):
        if shows[item] >= fair:
            index[item] = mean[item]
        elif shows[item] > 0.0:
            divergence = math.log(fair / shows[item]) / rate[item]
            gap = least - mean[item]
            if gap > 0.0 and gap * gap > 2.0 * least * divergence:
                index[item] = mean[item]  # kl(m, q) ≥ (q - m)²/(2q): the bound is below `least`
            else:
                index[item] = upper_bound(mean[item], divergence)
        else:
            index[item] = math.inf
    arrange_by(policy.lists, index, mean, belief.position_bias, ranking, rng)
    if hold_back(belief, policy.lists, index, ranking, rng):
        rearrange(policy.lists, mean, belief.position_bias, ranking, rng)
    return ranking


@learn.register(KLMoss)
def _learn(policy: KLMoss, ranking: Ranking, clicked: int) -> None:
    count_list(policy.shown, ranking)
    update(policy.belief, ranking, clicked)


@learn_epoch.register(KLMoss)
def _learn_epoch(policy: KLMoss, ranking: Ranking, clicks: IntArray) -> None:
    count_list(policy.shown, ranking)
    update_by_epoch(policy.belief, ranking, clicks)


@absorb.register(KLMoss)
def _absorb(policy: KLMoss, clicks: FloatArray, passes: FloatArray) -> None:
    count_tally(policy.shown, clicks, passes)
    update_by_tally(policy.belief, clicks, passes)
