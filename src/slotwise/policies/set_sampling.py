"""Set sampling: the items to show by a sample of attractiveness, their order by its mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.belief import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    BIAS_SHAPE,
    LearnedPrior,
    Passes,
    hold_back,
    imagine,
    is_lived,
    learned_bias,
    learned_prior,
    lived,
    pools_or_forgets,
    relearn,
    relearn_all,
    told_bias,
    update,
    update_by_epoch,
    update_by_tally,
)
from slotwise.compiled import record
from slotwise.lists.arrange import arrange_by, rearrange
from slotwise.policies.epochs import Acts, in_rounds_or_epochs
from slotwise.policies.interface import absorb, choose, learn, learn_epoch, lists_for, with_belief
from slotwise.policies.registry import register
from slotwise.setting import Setting
from slotwise.typing import FloatArray, IntArray, Ranking


@with_belief
@record
class SetSampling:
    """Draw λ, draw α given λ, take the items of the best list for them, and put these into order by mean α given λ.

    Every item that is shown is learned about, so that an order of means corrects itself; which items are shown has to
    be explored. The prior of attractiveness is learned from the items.
    """

    belief: Any
    prior: LearnedPrior
    lists: Any
    #: per item: α as drawn, and its mean
    attractiveness: FloatArray
    mean: FloatArray
    ranking: Ranking


CITATION = "slotwise: posterior sampling of the set, greedy order, learned prior"


@register(
    "set-sampling",
    name="Set sampling",
    position_bias="unknown",
    citation=CITATION,
    twin="set-sampling-known",
    try_with=[{"acts": "epochs"}],
    legend={"policies": 2, "lived": 3},
    also_compared=[{"acts": "epochs"}],
)
def set_sampling(
    setting: Setting,
    *,
    bias_shape: Any = BIAS_SHAPE,
    passes: Passes = "hard",
    memory: Any = "none",
    acts: Acts = "rounds",
) -> Any:
    """With the position bias learned."""
    if is_lived(setting, passes, memory):
        return start(setting, lived(setting, passes=passes, memory=memory, bias_shape=bias_shape), acts)
    belief = learned_bias(setting, shape=ATTRACTIVENESS_SHAPE, rate=ATTRACTIVENESS_RATE, bias_shape=bias_shape)
    return start(setting, belief, acts)


@register(
    "set-sampling-known",
    name="Set sampling, known bias",
    position_bias="known",
    citation=CITATION,
    twin="set-sampling",
)
def set_sampling_known(
    setting: Setting, *, passes: Passes = "hard", memory: Any = "none", acts: Acts = "rounds"
) -> Any:
    """With the position bias known."""
    if is_lived(setting, passes, memory):
        return start(setting, lived(setting, passes=passes, memory=memory), acts)
    return start(setting, told_bias(setting, shape=ATTRACTIVENESS_SHAPE, rate=ATTRACTIVENESS_RATE), acts)


def start(setting: Setting, belief: Any, acts: Acts) -> Any:
    """The policy with this belief, deciding in every round or once an epoch."""
    policy = SetSampling(
        belief=belief,
        prior=learned_prior(ATTRACTIVENESS_SHAPE, ATTRACTIVENESS_RATE, elsewhere=pools_or_forgets(belief)),
        lists=lists_for(setting),
        attractiveness=np.zeros(setting.items),
        mean=np.zeros(setting.items),
        ranking=np.zeros(setting.slots, np.int64),
    )
    return in_rounds_or_epochs(policy, setting, acts)


@choose.register(SetSampling)
def _choose(policy: SetSampling, rng: np.random.Generator) -> Ranking:
    belief, prior, attractiveness, mean = policy.belief, policy.prior, policy.attractiveness, policy.mean
    imagine(belief, rng)
    if prior.rounds >= prior.outdated:
        relearn(prior, belief)
    shape, rate = belief.shape, belief.rate
    for item in range(len(mean)):
        mean[item] = shape[item] / rate[item]
        attractiveness[item] = rng.standard_gamma(shape[item]) / rate[item]
    arrange_by(policy.lists, attractiveness, mean, belief.position_bias, policy.ranking, rng)
    if hold_back(belief, policy.lists, attractiveness, policy.ranking, rng):
        rearrange(policy.lists, mean, belief.position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(SetSampling)
def _learn(policy: SetSampling, ranking: Ranking, clicked: int) -> None:
    policy.prior.rounds += 1.0
    update(policy.belief, ranking, clicked)


@learn_epoch.register(SetSampling)
def _learn_epoch(policy: SetSampling, ranking: Ranking, clicks: IntArray) -> None:
    policy.prior.rounds += 1.0
    update_by_epoch(policy.belief, ranking, clicks)


@absorb.register(SetSampling)
def _absorb(policy: SetSampling, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.belief, clicks, passes)
    relearn_all(policy.prior, policy.belief, clicks, passes)
