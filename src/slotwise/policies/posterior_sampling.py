"""Thompson sampling: draw the parameters from their posterior, and show the best list for them.

Clicks are taken as Poisson with mean γ·passes. Gamma priors are conjugate to that: each parameter given the others is a
Gamma variable. One Gibbs sweep per decision, from the last sample, tracks the posterior as it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, HalfLife, Ranking
from slotwise.jit import record
from slotwise.optimize.list_solver import arrange
from slotwise.policies.interface import choose, learn, lists_for, update_from_tally, with_posterior
from slotwise.policies.policy_registry import register
from slotwise.posterior import (
    Passes,
    apply_cold_start_cap,
    draw_parameters,
    gamma_posterior,
    gibbs_posterior,
    hierarchical_posterior,
    needs_hierarchical_posterior,
    update,
    update_by_tally,
)


@with_posterior
@record
class PosteriorSampling:
    """Draw λ, then α ~ Gamma given λ, and show the best list for them."""

    posterior: Any
    lists: Any
    #: α as last drawn, on which the next draw of λ is conditioned
    attractiveness: FloatArray
    ranking: Ranking


@register(
    "posterior-sampling",
    name="Posterior sampling",
    position_bias="either",
    citation="Thompson (1933), with Gibbs sampling of attractiveness and position bias",
    unknown_bias_options=("bias_shape", "bias_rate"),
)
def posterior_sampling(
    task: PolicyTask,
    *,
    shape: float | Sequence[float] = 1.0,
    rate: float | Sequence[float] = 1.0,
    bias_shape: float = 1.0,
    bias_rate: float = 1.0,
    passes: Passes = "hard",
    half_life: HalfLife = None,
) -> PosteriorSampling:
    """α_j ~ Gamma(s + N_·j, r + Λ_j); λ_k ~ Gamma(c + N_k·, d + Σ_j α_jÑ_kj), relative to that of the first slot.

    With a known position bias only α is drawn. With several segments, features, a half-life or soft passes, priors are
    learned and λ is drawn with attractiveness integrated out; shape and rate then have no effect.
    """
    attractiveness = np.ones(task.items)
    posterior: Any
    if needs_hierarchical_posterior(task, passes, half_life):
        posterior = hierarchical_posterior(task, passes=passes, half_life=half_life)
    elif task.position_bias is not None:
        posterior = gamma_posterior(task, shape=shape, rate=rate)
    else:
        posterior = gibbs_posterior(
            task, attractiveness, shape=shape, rate=rate, bias_shape=bias_shape, bias_rate=bias_rate
        )
    return start(task, posterior, attractiveness)


def start(task: PolicyTask, posterior: Any, attractiveness: FloatArray) -> PosteriorSampling:
    """Return the policy with this posterior."""
    return PosteriorSampling(
        posterior=posterior,
        lists=lists_for(task),
        attractiveness=attractiveness,
        ranking=np.zeros(task.slots, np.int64),
    )


@choose.register(PosteriorSampling)
def _choose(policy: PosteriorSampling, rng: np.random.Generator) -> Ranking:
    posterior, attractiveness, ranking = policy.posterior, policy.attractiveness, policy.ranking
    draw_parameters(posterior, rng)
    shape, rate = posterior.shape, posterior.rate
    for item in range(len(attractiveness)):
        attractiveness[item] = rng.standard_gamma(shape[item]) / rate[item]
    arrange(policy.lists, attractiveness, posterior.position_bias, ranking, rng)
    apply_cold_start_cap(posterior, policy.lists, attractiveness, ranking, rng)
    return ranking


@learn.register(PosteriorSampling)
def _learn(policy: PosteriorSampling, ranking: Ranking, clicked: int) -> None:
    update(policy.posterior, ranking, clicked)


@update_from_tally.register(PosteriorSampling)
def _update_from_tally(policy: PosteriorSampling, clicks: FloatArray, passes: FloatArray) -> None:
    update_by_tally(policy.posterior, clicks, passes)
