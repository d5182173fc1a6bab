"""Gibbs sampling of position bias and attractiveness: one step a decision, given the last sample of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import inlined, record
from slotwise.posterior.posterior_interface import draw_parameters, update, update_by_tally


@record
class GibbsPosterior:
    """The posterior by the Poisson likelihood: λ_k ~ Gamma(c + N_k·, d + Σ_j α_jÑ_kj), and 1 for the first slot."""

    position_bias: FloatArray
    #: of the Gamma posterior of α given λ, per item
    shape: FloatArray
    rate: FloatArray
    #: r, per item
    prior_rate: FloatArray
    #: of λ, per slot: c + N_k·, and d
    bias_shape: FloatArray
    bias_rate: float
    #: Ñ, items × slots
    passes: FloatArray
    #: α as last drawn by the policy
    attractiveness: FloatArray


def gibbs_posterior(
    task: PolicyTask,
    attractiveness: FloatArray,
    *,
    shape: ArrayLike,
    rate: ArrayLike,
    bias_shape: float,
    bias_rate: float,
) -> GibbsPosterior:
    """Return the state before the first round; `attractiveness` is the array that the policy draws into."""
    rates = validation.per_item("rate", rate, task.items)
    return GibbsPosterior(
        position_bias=np.ones(task.slots),
        shape=validation.per_item("shape", shape, task.items),
        rate=rates.copy(),
        prior_rate=rates,
        bias_shape=np.full(task.slots, validation.positive_number("bias_shape", bias_shape)),
        bias_rate=validation.positive_number("bias_rate", bias_rate),
        passes=np.zeros((task.items, task.slots)),
        attractiveness=attractiveness,
    )


@draw_parameters.register(GibbsPosterior)
def _draw_parameters(posterior: GibbsPosterior, rng: np.random.Generator) -> bool:
    bias, passes, attractiveness = posterior.position_bias, posterior.passes, posterior.attractiveness
    items, slots = passes.shape
    bias[:] = posterior.bias_rate
    for item in range(items):
        for slot in range(1, slots):
            bias[slot] += attractiveness[item] * passes[item, slot]
    bias[0] = 1.0
    for slot in range(1, slots):
        bias[slot] = rng.standard_gamma(posterior.bias_shape[slot]) / bias[slot]
    _expose(bias, passes, posterior.prior_rate, posterior.rate)
    return True


@update.register(GibbsPosterior)
def _update(posterior: GibbsPosterior, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                posterior.passes[ranking[slot], slot] += 1.0
    else:
        posterior.bias_shape[clicked] += 1.0
        posterior.shape[ranking[clicked]] += 1.0


@update_by_tally.register(GibbsPosterior)
def _absorb(posterior: GibbsPosterior, clicks: FloatArray, passes: FloatArray) -> None:
    _add_tally(posterior.shape, posterior.bias_shape, posterior.passes, clicks, passes)


@inlined
def _add_tally(
    shape: FloatArray, slot_clicks: FloatArray, item_passes: FloatArray, clicks: FloatArray, passes: FloatArray
) -> None:
    """Add N_·j to `shape`, per item, N_k· to `slot_clicks`, per slot, and Ñ to `item_passes`, items × slots."""
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            shape[item] += clicks[slot, item]
            slot_clicks[slot] += clicks[slot, item]
            item_passes[item, slot] += passes[slot, item]


@inlined
def _expose(position_bias: FloatArray, item_passes: FloatArray, prior_rate: FloatArray, rate: FloatArray) -> None:
    """Set rate_j = r_j + Σ_k λ_kÑ_kj."""
    for item in range(len(rate)):
        exposure = prior_rate[item]
        for slot in range(len(position_bias)):
            exposure += position_bias[slot] * item_passes[item, slot]
        rate[item] = exposure
