"""Thompson sampling, the default: draw the parameters from their posterior, and show the best list for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, HalfLife, IntArray, Ranking
from slotwise.jit import record
from slotwise.optimize.dynamic_constraints import impose
from slotwise.optimize.list_solver import arrange, arrange_pairs, is_free
from slotwise.policies.interface import (
    choose,
    impose_rules,
    learn,
    learn_clicks,
    lists_for,
    pair_lists_for,
    update_from_tally,
    with_posterior,
)
from slotwise.policies.policy_registry import register
from slotwise.posterior import (
    BIAS_SHAPE,
    DEFAULT_COLD_START_CAP,
    MANY_ITEMS,
    LargestItems,
    apply_cold_start_cap,
    draw_largest,
    draw_pair_odds,
    draw_parameters,
    hierarchical_posterior,
    no_largest,
    update,
    update_by_clicks,
    update_by_tally,
)


@with_posterior
@record
class ThompsonSampling:
    """In every round: draw λ, draw α_j ~ Gamma(b·shape_j, b·rate_j) given λ, and show the best list for λ and α.

    If slots are found not to act alike on all items, odds are drawn for each pair, and the list is an assignment.

    b is the boldness. At 1 this is Thompson sampling. At b, parameters are drawn as if there were b times the evidence:
    a bolder policy explores less, which lowers the typical regret and raises the worst.
    """

    posterior: Any
    lists: Any
    pair_lists: Any
    boldness: float
    #: α as drawn for the last decision, and the odds of pairs, slots × items
    attractiveness: FloatArray
    odds: FloatArray
    ranking: Ranking
    #: scratch: new items and others with the largest draws
    largest: LargestItems


@register(
    "thompson-sampling",
    name="Thompson sampling",
    position_bias="either",
    citation="Thompson (1933), on a hierarchical posterior of attractiveness and position bias",
    default=True,
    unknown_bias_options=("bias_shape",),
)
def thompson_sampling(
    task: PolicyTask,
    *,
    boldness: float = 1.0,
    half_life: HalfLife = None,
    new_items_at_most: float = DEFAULT_COLD_START_CAP,
    bias_shape: float = BIAS_SHAPE,
) -> ThompsonSampling:
    """Thompson sampling with known or unknown position bias."""
    return ThompsonSampling(
        posterior=hierarchical_posterior(
            task,
            boldness=boldness,
            half_life=half_life,
            new_items_at_most=new_items_at_most,
            bias_shape=bias_shape,
        ),
        lists=lists_for(task),
        pair_lists=pair_lists_for(task),
        boldness=float(boldness),
        attractiveness=np.ones(task.items),
        odds=np.zeros((task.slots, task.items)),
        ranking=np.zeros(task.slots, np.int64),
        largest=no_largest(task.slots),
    )


@choose.register(ThompsonSampling)
def _choose(policy: ThompsonSampling, rng: np.random.Generator) -> Ranking:
    posterior, attractiveness, ranking = policy.posterior, policy.attractiveness, policy.ranking
    boldness = policy.boldness
    draw_parameters(posterior, rng)
    if len(attractiveness) >= MANY_ITEMS and is_free(policy.lists):
        draw_largest(posterior, boldness, attractiveness, policy.largest, rng)
    else:
        for item in range(len(attractiveness)):
            drawn = rng.standard_gamma(boldness * posterior.shape[item])
            attractiveness[item] = drawn / (boldness * posterior.rate[item])
    if draw_pair_odds(posterior, attractiveness, policy.odds, rng):
        arrange_pairs(policy.pair_lists, policy.odds, ranking, rng)
    else:
        arrange(policy.lists, attractiveness, posterior.position_bias, ranking, rng)
    apply_cold_start_cap(posterior, policy.lists, attractiveness, ranking, rng)
    return ranking


@learn.register(ThompsonSampling)
def _learn(policy: ThompsonSampling, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@learn_clicks.register(ThompsonSampling)
def _learn_clicks(policy: ThompsonSampling, ranking: Ranking, clicks: BoolArray) -> None:
    update_by_clicks(policy.posterior, ranking, clicks)


@update_from_tally.register(ThompsonSampling)
def _update_from_tally(policy: ThompsonSampling, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)


@impose_rules.register(ThompsonSampling)
def _impose_rules(policy: ThompsonSampling, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    impose(policy.lists, values, excluded, pin)
    impose(policy.pair_lists, values, excluded, pin)
