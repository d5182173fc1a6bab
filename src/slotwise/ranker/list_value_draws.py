"""Posterior draws of the value of lists and of the best list."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Final

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.posterior import Posterior, draw_parameters
from slotwise.posterior.best_list_draws import best_list
from slotwise.posterior.posterior_interface import set_segment
from slotwise.ranker.item_catalog import CheckedConstraints

#: enough to know the ends of a 95 % interval to a tenth of its width
DRAWS: Final = 400
#: a probability from this number of lists has a standard error of at most 0.035
LISTS: Final = 200
#: the same counts always give the same draws
SEED: Final = 0


def draw_list_values(posterior: Posterior, rankings: Sequence[IntArray]) -> FloatArray:
    """Draws of the value of a view of each list, lists × draws: Σ vγ / (1 + Σγ), all lists by the same α and λ."""
    # drawing changes a state, and this one is shared
    state = deepcopy(posterior.state)
    set_segment(state, posterior.segment)
    rng = np.random.default_rng(SEED)
    items = np.unique(np.concatenate(rankings))
    places = [np.searchsorted(items, ranking) for ranking in rankings]
    values = np.ones(len(items)) if posterior.values is None else posterior.values[items]
    drawn = np.empty((len(rankings), DRAWS))
    for draw in range(DRAWS):
        draw_parameters(state, rng)
        alpha = rng.standard_gamma(state.shape[items]) / state.rate[items]
        bias = state.position_bias if posterior.known_bias is None else posterior.known_bias
        for row, place in enumerate(places):
            gamma = bias[: len(place)] * alpha[place]
            drawn[row, draw] = values[place] @ gamma / (1.0 + gamma.sum())
    return drawn


def draw_best_lists(posterior: Posterior, constraints: CheckedConstraints) -> IntArray:
    """Draws of the best list under constraints, draws × slots, each for one draw of α and λ."""
    slots = np.arange(posterior.tally.slots) < constraints.allowed
    state = deepcopy(posterior.state)
    set_segment(state, posterior.segment)
    rng = np.random.default_rng(SEED)
    drawn = np.empty((LISTS, len(slots)), np.int64)
    for draw in range(LISTS):
        draw_parameters(state, rng)
        alpha = rng.standard_gamma(state.shape) / state.rate
        bias = state.position_bias if posterior.known_bias is None else posterior.known_bias
        drawn[draw] = best_list(
            alpha, bias, values=posterior.values, excluded=constraints.excluded, slots=slots, pinned=constraints.pinned
        )
    return drawn
