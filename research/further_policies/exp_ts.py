"""ExpTS+ on the hierarchical posterior: rare draws with exponential tails; Jin, Xu, Xiao and Anandkumar (2022)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from research.exploration.kl_poisson import upper_ratio
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import inlined, record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import draw_parameters, hierarchical_posterior, update, update_by_tally

#: Newton's method stops after a step this small, relative to the root
TOLERANCE = 1e-6
MAX_STEPS = 50


@with_posterior
@record
class ExpTS:
    """Rank by α, for each item drawn with probability 1/J, and else its posterior mean m.

    The draw θ has P(θ ≥ x) = ½ exp(-n kl(m, x)) for x > m and P(θ ≤ x) = ½ exp(-n kl(m, x)) for x < m. Clicks are taken
    as Poisson: with a posterior Gamma(s, r), n kl(m, x) = s (x/m - 1 - log(x/m)).

    The paper has independent arms. Here arms are items with the default's posterior, and λ is drawn in every round. The
    paper has n - 1 in place of n; s includes the prior's shape instead.
    """

    posterior: Any
    lists: Any
    index: FloatArray
    ranking: Ranking


@register(
    "exp-ts-plus",
    name="ExpTS+",
    position_bias="either",
    citation="Jin, Xu, Xiao and Anandkumar, Finite-Time Regret of Thompson Sampling Algorithms for Exponential Family "
    "Multi-Armed Bandits (2022)",
    rival=True,
)
def exp_ts_plus(task: PolicyTask) -> ExpTS:
    """ExpTS+: draws with exponential tails for one item in J, and means for the others."""
    return ExpTS(
        posterior=hierarchical_posterior(task),
        lists=lists_for(task),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(ExpTS)
def _choose(policy: ExpTS, rng: np.random.Generator) -> Ranking:
    posterior, index = policy.posterior, policy.index
    draw_parameters(posterior, rng)
    for item in range(len(index)):
        shape = posterior.shape[item]
        index[item] = shape / posterior.rate[item]
        if rng.random() * len(index) < 1.0:
            level = rng.standard_exponential() / shape
            index[item] *= upper_ratio(level) if rng.random() < 0.5 else lower_ratio(level)
    arrange(policy.lists, index, posterior.position_bias, policy.ranking, rng)
    return policy.ranking


@inlined
def lower_ratio(goal: float) -> float:
    """The root x < 1 of x - 1 - log x = goal, by Newton's method; from below the iterates increase toward it.

    >>> x = lower_ratio(0.5)
    >>> round(x, 4), round(x - 1.0 - math.log(x), 6)
    (0.3017, 0.5)
    """
    x = math.exp(-1.0 - goal)
    for _ in range(MAX_STEPS):
        step = (x - 1.0 - math.log(x) - goal) / (1.0 / x - 1.0)
        x += step
        if abs(step) <= TOLERANCE * x:
            break
    return x


@learn.register(ExpTS)
def _learn(policy: ExpTS, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(ExpTS)
def _update_from_tally(policy: ExpTS, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
