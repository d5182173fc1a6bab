"""The posterior of attractiveness if the position bias is known.

α_j ~ Gamma(s + N_·j, r + Λ_j) with the exposure Λ_j = Σ_k λ_kÑ_kj.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import record
from slotwise.posterior.posterior_interface import draw_parameters, update, update_by_tally


@record
class KnownBiasPosterior:
    """The Gamma posterior of attractiveness given a known position bias."""

    #: λ, per slot
    position_bias: FloatArray
    #: of the posterior of α, per item: s + N_·j and r + Λ_j
    shape: FloatArray
    rate: FloatArray
    #: r, per item, and exposure Λ_j = Σ_k λ_kÑ_kj
    prior_rate: FloatArray
    exposure: FloatArray


def gamma_posterior(task: PolicyTask, *, shape: ArrayLike, rate: ArrayLike) -> KnownBiasPosterior:
    """Return the prior: the state before the first round."""
    assert task.position_bias is not None
    rates = validation.per_item("rate", rate, task.items)
    return KnownBiasPosterior(
        position_bias=task.position_bias,
        shape=validation.per_item("shape", shape, task.items),
        rate=rates.copy(),
        prior_rate=rates,
        exposure=np.zeros(task.items),
    )


@draw_parameters.register(KnownBiasPosterior)
def _draw_parameters(posterior: KnownBiasPosterior, rng: np.random.Generator) -> bool:  # noqa: ARG001
    for item in range(len(posterior.rate)):
        posterior.rate[item] = posterior.prior_rate[item] + posterior.exposure[item]
    return True


@update.register(KnownBiasPosterior)
def _update(posterior: KnownBiasPosterior, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                posterior.exposure[ranking[slot]] += posterior.position_bias[slot]
    else:
        posterior.shape[ranking[clicked]] += 1.0


@update_by_tally.register(KnownBiasPosterior)
def _update_by_tally(posterior: KnownBiasPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            posterior.shape[item] += clicks[slot, item]
            posterior.exposure[item] += posterior.position_bias[slot] * passes[slot, item]
    for item in range(items):
        posterior.rate[item] = posterior.prior_rate[item] + posterior.exposure[item]
