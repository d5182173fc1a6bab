"""The position bias is told: α_j ~ Gamma(s + N_·j, r + Λ_j) with the exposure Λ_j = Σ_k λ_kÑ_kj."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.policy_task import Setting
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, Ranking
from slotwise.jit import record
from slotwise.posterior.posterior_interface import imagine, update, update_by_tally


@record
class ToldBias:
    """The position bias is known, and attractiveness has a Gamma posterior."""

    #: λ, per slot
    position_bias: FloatArray
    #: of the posterior of α, per item: s + N_·j and r + Λ_j
    shape: FloatArray
    rate: FloatArray
    #: r, per item, and exposure Λ_j = Σ_k λ_kÑ_kj
    prior_rate: FloatArray
    exposure: FloatArray


def told_bias(setting: Setting, *, shape: Any, rate: Any) -> ToldBias:
    """Before the first round, the bias known."""
    assert setting.position_bias is not None
    rates = validation.per_item("rate", rate, setting.items)
    return ToldBias(
        position_bias=setting.position_bias,
        shape=validation.per_item("shape", shape, setting.items),
        rate=rates.copy(),
        prior_rate=rates,
        exposure=np.zeros(setting.items),
    )


@imagine.register(ToldBias)
def _imagine_nothing(belief: ToldBias, rng: np.random.Generator) -> bool:  # noqa: ARG001
    for item in range(len(belief.rate)):
        belief.rate[item] = belief.prior_rate[item] + belief.exposure[item]
    return True


@update.register(ToldBias)
def _update_told(belief: ToldBias, ranking: Ranking, clicked: int) -> None:
    if clicked == NO_CLICK:
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                belief.exposure[ranking[slot]] += belief.position_bias[slot]
    else:
        belief.shape[ranking[clicked]] += 1.0


@update_by_tally.register(ToldBias)
def _absorb_told(belief: ToldBias, clicks: FloatArray, passes: FloatArray) -> None:
    slots, items = clicks.shape
    for slot in range(slots):
        for item in range(items):
            belief.shape[item] += clicks[slot, item]
            belief.exposure[item] += belief.position_bias[slot] * passes[slot, item]
    for item in range(items):
        belief.rate[item] = belief.prior_rate[item] + belief.exposure[item]
