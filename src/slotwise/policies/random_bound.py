"""Randomised KL upper bounds: a random confidence level selects items, a smaller one orders them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, FloatArray, HalfLife, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange, entry, rearrange, slots_in_order
from slotwise.policies.indices.kl_poisson import upper_ratio
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import (
    BIAS_SHAPE,
    DEFAULT_COLD_START_CAP,
    Passes,
    apply_cold_start_cap,
    draw_parameters,
    hierarchical_posterior,
    is_new,
    pass_rate,
    update,
    update_by_tally,
)

#: the mean of the random part of the level that selects items; the factor of log(largest evidence in the list / own)
#: that is added to it; and the factor for the level that orders them; see research/notes/changing_pages.md
LEVEL = 0.3
BONUS = 0.2
ORDER = 0.35
#: in a round worth a whole pass, high levels are at least this fraction as frequent as if the mean of the random part
#: were 1; more than RARE_FOR_ITEMS items share it, so that a page with hundreds of items tries bad ones rarely
RARE = 0.015
RARE_FOR_ITEMS = 10
#: draws of the bias and of the weights of features are narrowed to these fractions of their standard deviations, as the
#: bounds add to them
BIAS_SPREAD = 0.9
WEIGHTS_SPREAD = 0.6
#: the share of draws for which decisions are those of posterior sampling, so that no list is abandoned forever
SAMPLED = 0.02
#: the maximum number of decisions that share one draw of the shared parameters
KEEP = 16
#: safety factor that covers rounding and the tolerance of `upper_ratio`
BY_FAR = 1.001
#: the maximum of a random level, in units of its mean: -log of the smallest positive 1 - u
HIGHEST = 37.0


@with_posterior
@record
class RandomBound:
    """Select items by a bound at a random level, and order them by a bound at another level.

    The bound at level c is the largest q with E·kl(m, q) ≤ c, where m is the mean and E the evidence of an item's
    posterior. Let e be that evidence with the prior counted as one click at most, and ê its maximum over the list.

    - Items are selected at c = max(0.3 X, X + log ρ) + 0.2 log⁺(ê/e), with X exponential of mean 1 and log⁺ the
      positive part of the logarithm. ê is that of the last list, in any segment and under any constraints (at the
      start, of the first items).
    - They are ordered at c = 0.35 log(ê/e), so that an item that is tried gets a visible slot.

    e and ê are as of the last draw of the parameters.

    High levels are ρ times as frequent as with X alone, so an item with an unlucky start is tried again soon enough. ρ
    is 0.015 (0.15/J with more than ten items), divided by the share of rounds without a click, at most 1: a round is
    worth that share of a pass, and a page with many clicks takes more rounds to learn the same. For one draw of the
    bias in fifty, decisions are those of posterior sampling, so that no order is abandoned forever.
    """

    posterior: Any
    lists: Any
    level: float
    bonus: float
    order: float
    #: ρ of a round that is worth a pass; log(1/ρ), the offset subtracted from an exponential draw of mean 1, and 1/ρ,
    #: both as of the last draw of the parameters
    rare: float
    behind: float
    often: float
    #: per item: mean attractiveness; log e and the bonus added to the random level, both as of the last draw of the
    #: parameters; the bound that selects items, the bound that orders them
    mean: FloatArray
    log_seen: FloatArray
    raised: FloatArray
    index: FloatArray
    order_index: FloatArray
    ranking: Ranking


@register(
    "random-bound",
    name="Random bounds",
    position_bias="either",
    citation="slotwise: bounds at random levels on a posterior that pools, forgets and counts pending rounds",
    default=True,
    unknown_bias_options=("bias_shape", "bias_spread"),
)
def random_bound(
    task: PolicyTask,
    *,
    passes: Passes = "soft",
    half_life: HalfLife = None,
    new_items_at_most: float = DEFAULT_COLD_START_CAP,
    level: float = LEVEL,
    bonus: float = BONUS,
    order: float = ORDER,
    rare: float = RARE,
    sampled: float = SAMPLED,
    bias_shape: float = BIAS_SHAPE,
    bias_spread: float = BIAS_SPREAD,
) -> RandomBound:
    """Random bounds, with known or unknown position bias."""
    posterior = hierarchical_posterior(
        task,
        passes=passes,
        half_life=half_life,
        new_items_at_most=new_items_at_most,
        bias_shape=bias_shape,
        bias_spread=bias_spread,
        weights_spread=WEIGHTS_SPREAD,
        whole_draws=_part("sampled", sampled),
        keep=KEEP,
        draws_levels=False,
    )
    return start(task, posterior, level, bonus, order, _part("rare", rare))


def _part(name: str, value: float) -> float:
    """A share, which may be 0."""
    is_none = value == 0 and not isinstance(value, bool)
    return 0.0 if is_none else validation.share(name, value)


def start(task: PolicyTask, posterior: Any, level: float, bonus: float, order: float, rare: float) -> RandomBound:
    """Return the policy with this posterior."""
    rare *= min(1.0, RARE_FOR_ITEMS / (task.items - task.retired))
    return RandomBound(
        posterior=posterior,
        lists=lists_for(task),
        level=float(level),
        bonus=float(bonus),
        order=float(order),
        rare=rare,
        behind=math.inf,
        often=math.inf,
        mean=np.zeros(task.items),
        log_seen=np.zeros(task.items),
        raised=np.zeros(task.items),
        index=np.zeros(task.items),
        order_index=np.zeros(task.items),
        ranking=np.arange(task.slots),
    )


@choose.register(RandomBound)
def _choose(policy: RandomBound, rng: np.random.Generator) -> Ranking:
    posterior, mean, ranking = policy.posterior, policy.mean, policy.ranking
    is_redrawn = draw_parameters(posterior, rng)
    if posterior.is_full_draw:
        return _sample(policy, rng)
    if is_redrawn:
        _look_back(policy)
    shape, rate = posterior.shape, posterior.rate
    for item in range(len(mean)):
        mean[item] = shape[item] / rate[item]
    if not _stays(policy, shape, rate, rng):
        arrange(policy.lists, policy.index, posterior.position_bias, ranking, rng)
        apply_cold_start_cap(posterior, policy.lists, policy.index, ranking, rng)
    most = _most_seen(policy)
    if not _is_in_order(policy, shape, most, rng):
        order_index = policy.order_index
        for slot in range(len(ranking)):
            item = ranking[slot]
            if item != EMPTY:
                order_index[item] = mean[item]
                level = policy.order * (most - policy.log_seen[item])
                if level > 0.0:
                    order_index[item] *= upper_ratio(level / shape[item])
        rearrange(policy.lists, order_index, posterior.position_bias, ranking, rng)
    return ranking


@inlined
def _look_back(policy: RandomBound) -> None:
    """Refresh log e and the bonus of each item, and ρ."""
    posterior, log_seen = policy.posterior, policy.log_seen
    if policy.rare > 0.0:
        policy.often = max(1.0, pass_rate(posterior) / policy.rare)
        policy.behind = math.log(policy.often)
    for item in range(len(log_seen)):
        log_seen[item] = math.log(posterior.rate[item] - posterior.assumed[item])
    most = _most_seen(policy)
    for item in range(len(log_seen)):
        policy.raised[item] = policy.bonus * max(0.0, most - log_seen[item])


@inlined
def _most_seen(policy: RandomBound) -> float:
    """log ê, the maximum of log e over the list; -∞ if it is empty."""
    most = -math.inf
    for slot in range(len(policy.ranking)):
        if policy.ranking[slot] != EMPTY:
            most = max(most, policy.log_seen[policy.ranking[slot]])
    return most


@inlined
def _is_in_order(policy: RandomBound, shape: FloatArray, most: float, rng: np.random.Generator) -> bool:
    """Whether the list is certain to be in its best order, without computing bounds.

    That holds if no item's bound reaches the mean m + g of the item before it, that is if shape·kl(1, 1 + g/m) exceeds
    the level. The left side is at least shape·g²/(2m(m + g)).
    """
    mean, ranking = policy.mean, policy.ranking
    by_bias = slots_in_order(policy.lists, policy.posterior.position_bias, rng)
    for place in range(1, len(by_bias)):
        before, item = ranking[by_bias[place - 1]], ranking[by_bias[place]]
        gap = mean[before] - mean[item]
        level = policy.order * (most - policy.log_seen[item])
        if not gap > 0.0 or not shape[item] * gap * gap > BY_FAR * 2.0 * level * mean[item] * mean[before]:
            return False
    return len(by_bias) > 0


@inlined
def _sample(policy: RandomBound, rng: np.random.Generator) -> Ranking:
    """Return the best list for a draw of attractiveness, as posterior sampling does."""
    posterior, index = policy.posterior, policy.index
    for item in range(len(index)):
        index[item] = rng.standard_gamma(posterior.shape[item]) / posterior.rate[item]
    arrange(policy.lists, index, posterior.position_bias, policy.ranking, rng)
    apply_cold_start_cap(posterior, policy.lists, index, policy.ranking, rng)
    return policy.ranking


@inlined
def _random_level(policy: RandomBound, left: float) -> float:
    """Return the random part of a level; `left` is uniform on (0, 1]."""
    drawn = -math.log(left)
    return max(drawn * policy.level, drawn - policy.behind)


@inlined
def _is_below(policy: RandomBound, left: float, far: float) -> bool:
    """Whether the random part is certain to be below `far` ≥ 0, without computing a logarithm.

    That holds if left·e^(far/level) > 1 and left·e^far/ρ > 1.
    """
    return left * _below_exp(far / policy.level) > 1.0 and left * _below_exp(far) * policy.often > 1.0


@inlined
def _below_exp(x: float) -> float:
    """Return a lower bound of e^x that is tight for small x."""
    return 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)))


@inlined
def _stays(policy: RandomBound, shape: FloatArray, rate: FloatArray, rng: np.random.Generator) -> bool:
    """Fill `index`. Returns True early, leaving it partial, if the selected set cannot change.

    That is certain if as many items as there are slots have means above the bounds of all others, since no bound is
    below its mean. It is never certain if values or constraints decide.
    """
    mean, raised, index = policy.mean, policy.raised, policy.index
    slots, items = len(policy.ranking), len(mean)
    least = entry(policy.lists, mean, policy.ranking)
    highest_level = max(HIGHEST * policy.level, HIGHEST - policy.behind)
    above, reached, highest = 0, False, 0.0
    per_least = 0.5 / least if least > 0.0 else 0.0
    for item in range(items):
        if mean[item] >= least:
            above += 1
            # the cold-start cap may remove a new item
            reached = reached or is_new(policy.posterior, item)
        else:
            index[item] = mean[item]
            gap = least - mean[item]
            # a lower bound on how far E·kl(m, least) exceeds the bonus of the level; it usually shows that the bound is
            # below `least`
            far = gap * gap * rate[item] * per_least - raised[item]
            if far < highest_level:
                left = 1.0 - rng.random()
                if far < 0.0 or not _is_below(policy, left, far):
                    level = _random_level(policy, left)
                    if far < level:
                        index[item] *= upper_ratio((level + raised[item]) / shape[item])
                        highest = max(highest, index[item])
    reached = reached or highest >= least
    is_sure = above == slots and least > 0.0
    if is_sure and not reached:
        return True
    for item in range(items):
        if mean[item] >= least:
            left = 1.0 - rng.random()
            index[item] = mean[item]
            # an item whose mean is above all other bounds stays selected
            if not is_sure or mean[item] <= highest or is_new(policy.posterior, item):
                level = _random_level(policy, left) + raised[item]
                if level > 0.0:
                    index[item] *= upper_ratio(level / shape[item])
    return False


@learn.register(RandomBound)
def _learn(policy: RandomBound, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(RandomBound)
def _update_from_tally(policy: RandomBound, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
