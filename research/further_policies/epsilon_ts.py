"""ε-exploring Thompson sampling on the hierarchical posterior; Jin, Yang, Xiao and Xu (2023)."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import draw_parameters, hierarchical_posterior, update, update_by_tally


@with_posterior
@record
class EpsilonTS:
    """Rank by α, for each item drawn from its posterior with probability ε, and else its posterior mean.

    The paper has independent arms. Here arms are items with the default's posterior, and λ is drawn in every round, as
    Thompson sampling does: with λ at its mean, runs can be stuck with a wrong order of slots.
    """

    posterior: Any
    lists: Any
    #: ε
    epsilon: float
    index: FloatArray
    ranking: Ranking


@register(
    "epsilon-ts",
    name="ε-TS",
    position_bias="either",
    citation="Jin, Yang, Xiao and Xu, Thompson Sampling with Less Exploration is Fast and Optimal (2023)",
    rival=True,
)
def epsilon_ts(task: PolicyTask, *, epsilon: float | None = None) -> EpsilonTS:
    """ε-exploring Thompson sampling; ε is 1/J by default."""
    return EpsilonTS(
        posterior=hierarchical_posterior(task),
        lists=lists_for(task),
        epsilon=1.0 / task.items if epsilon is None else validation.share("epsilon", epsilon),
        index=np.zeros(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(EpsilonTS)
def _choose(policy: EpsilonTS, rng: np.random.Generator) -> Ranking:
    posterior, index = policy.posterior, policy.index
    draw_parameters(posterior, rng)
    for item in range(len(index)):
        shape, rate = posterior.shape[item], posterior.rate[item]
        index[item] = (rng.standard_gamma(shape) if rng.random() < policy.epsilon else shape) / rate
    arrange(policy.lists, index, posterior.position_bias, policy.ranking, rng)
    return policy.ranking


@learn.register(EpsilonTS)
def _learn(policy: EpsilonTS, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(EpsilonTS)
def _update_from_tally(policy: EpsilonTS, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
