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
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_belief
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

#: the mean of the random part of the level that items are chosen by, and the parts of log(most seen in the list / own)
#: that are added to it, and that are the level they are ordered by; see research/notes/changing_pages.md
LEVEL = 0.3
BONUS = 0.2
ORDER = 0.35
#: in a round that is worth a whole pass, high levels come at least this part as often as they would if the mean of the
#: random part were 1; more than RARE_FOR_ITEMS items share it, so that a page with hundreds tries bad items rarely
RARE = 0.015
RARE_FOR_ITEMS = 10
#: draws of the bias and of the weights of features are narrowed to these parts of their standard deviations, as there
#: are bounds on top of them
BIAS_SPREAD = 0.9
WEIGHTS_SPREAD = 0.6
#: the part of draws with which decisions are those of posterior sampling, so that no list is given up for good
SAMPLED = 0.02
#: the maximum number of decisions that share one draw of the shared parameters
KEEP = 16
#: safety factor that covers rounding and the tolerance of `upper_ratio`
BY_FAR = 1.001
#: no random level is above, in units of its mean: -log of the smallest positive 1 - u
HIGHEST = 37.0


@with_belief
@record
class RandomBound:
    """Choose items by a bound at a random level, and order them by one at a level of their own.

    The bound at level c is the largest q with E·kl(m, q) ≤ c, m the mean and E the evidence of an item's
    posterior. Let e be that evidence with the prior as one click's worth of it at most, and ê the maximum over the
    list. Items are chosen by c = max(0.3 X, X + log ρ) + 0.2 log⁺(ê/e), X exponential with mean 1, log⁺ the logarithm
    where it is positive and else 0, ê that of the list chosen last, in any segment and under any constraints (at
    the start, of the first items). They are ordered by c = 0.35 log(ê/e): an item that is tried gets a visible slot. e
    and ê are those of the last draw of the parameters.

    High levels are as rare as with X alone, times ρ, a good part of how often posterior sampling would try what looks
    bad: an item with an unlucky start is tried again, which with 0.3 X may take longer than there is time. ρ is 0.015
    (0.15/J of more than ten items), divided by the part of rounds without a click, and 1 at most: a round is worth that
    part of a pass, so that a page that is clicked a lot takes more rounds to learn the same. With one draw of the bias
    in fifty all is done as posterior sampling does it, so that in the long run no order is given up for good.
    """

    belief: Any
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
    """Random bounds, with the position bias known or learned."""
    belief = hierarchical_posterior(
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
    return start(task, belief, level, bonus, order, _part("rare", rare))


def _part(name: str, value: float) -> float:
    """A share, which may be 0."""
    is_none = value == 0 and not isinstance(value, bool)
    return 0.0 if is_none else validation.share(name, value)


def start(task: PolicyTask, belief: Any, level: float, bonus: float, order: float, rare: float) -> RandomBound:
    """The policy with this belief."""
    rare *= min(1.0, RARE_FOR_ITEMS / (task.items - task.retired))
    return RandomBound(
        belief=belief,
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
    belief, mean, ranking = policy.belief, policy.mean, policy.ranking
    is_redrawn = draw_parameters(belief, rng)
    if belief.is_full_draw:
        return _sample(policy, rng)
    if is_redrawn:
        _look_back(policy)
    shape, rate = belief.shape, belief.rate
    for item in range(len(mean)):
        mean[item] = shape[item] / rate[item]
    if not _stays(policy, shape, rate, rng):
        arrange(policy.lists, policy.index, belief.position_bias, ranking, rng)
        apply_cold_start_cap(belief, policy.lists, policy.index, ranking, rng)
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
        rearrange(policy.lists, order_index, belief.position_bias, ranking, rng)
    return ranking


@inlined
def _look_back(policy: RandomBound) -> None:
    """Refresh log e and the bonus of each item, and ρ."""
    belief, log_seen = policy.belief, policy.log_seen
    if policy.rare > 0.0:
        policy.often = max(1.0, pass_rate(belief) / policy.rare)
        policy.behind = math.log(policy.often)
    for item in range(len(log_seen)):
        log_seen[item] = math.log(belief.rate[item] - belief.assumed[item])
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
    """Whether the list is seen to be in its best order, without bounds.

    It is if no item's bound reaches the mean of the item before it, m + g: if shape·kl(1, 1 + g/m) is above the level.
    That is at least shape·g²/(2m(m + g)).
    """
    mean, ranking = policy.mean, policy.ranking
    by_bias = slots_in_order(policy.lists, policy.belief.position_bias, rng)
    for place in range(1, len(by_bias)):
        before, item = ranking[by_bias[place - 1]], ranking[by_bias[place]]
        gap = mean[before] - mean[item]
        level = policy.order * (most - policy.log_seen[item])
        if not gap > 0.0 or not shape[item] * gap * gap > BY_FAR * 2.0 * level * mean[item] * mean[before]:
            return False
    return len(by_bias) > 0


@inlined
def _sample(policy: RandomBound, rng: np.random.Generator) -> Ranking:
    """The best list for attractiveness as drawn, in the order of that draw: what posterior sampling shows."""
    belief, index = policy.belief, policy.index
    for item in range(len(index)):
        index[item] = rng.standard_gamma(belief.shape[item]) / belief.rate[item]
    arrange(policy.lists, index, belief.position_bias, policy.ranking, rng)
    apply_cold_start_cap(belief, policy.lists, index, policy.ranking, rng)
    return policy.ranking


@inlined
def _random_level(policy: RandomBound, left: float) -> float:
    """The random part of a level; `left` is uniform on (0, 1]."""
    drawn = -math.log(left)
    return max(drawn * policy.level, drawn - policy.behind)


@inlined
def _is_below(policy: RandomBound, left: float, far: float) -> bool:
    """Whether the random part is seen to be below `far`, which is not negative, without a logarithm.

    It is if left·e^(far/level) > 1 and left·e^far/ρ > 1.
    """
    return left * _below_exp(far / policy.level) > 1.0 and left * _below_exp(far) * policy.often > 1.0


@inlined
def _below_exp(x: float) -> float:
    """Less than e^x, by not much where x is small."""
    return 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0)))


@inlined
def _stays(policy: RandomBound, shape: FloatArray, rate: FloatArray, rng: np.random.Generator) -> bool:
    """Fill `index`. Returns True early, leaving it partial, if the selected set cannot change.

    They are if as many as there are slots have means above all bounds of the others, for no bound is below its mean.
    Where values or constraints decide, nothing is sure.
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
            # which may have to give way
            reached = reached or is_new(policy.belief, item)
        else:
            index[item] = mean[item]
            gap = least - mean[item]
            # by how much, at least, E·kl(m, least) exceeds what the level is raised by; mostly enough to see that the
            # bound is below `least`
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
            if not is_sure or mean[item] <= highest or is_new(policy.belief, item):
                level = _random_level(policy, left) + raised[item]
                if level > 0.0:
                    index[item] *= upper_ratio(level / shape[item])
    return False


@learn.register(RandomBound)
def _learn(policy: RandomBound, ranking: Ranking, clicked: int) -> None:
    update(policy.belief, ranking, clicked)


@update_from_tally.register(RandomBound)
def _update_from_tally(policy: RandomBound, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.belief, clicks, passes)
