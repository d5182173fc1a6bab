"""Posteriors of attractiveness and position bias given counts: priors, updates, draws and summaries."""

from slotwise.posterior.best_list_draws import best_list, best_list_probabilities
from slotwise.posterior.cold_start_cap import _apply_cold_start_cap as _apply_cold_start_cap
from slotwise.posterior.factory import DEFAULT_COLD_START_CAP, Passes, hierarchical_posterior
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.largest_draws import MANY_ITEMS, LargestItems, draw_largest, no_largest
from slotwise.posterior.pair_effects import ModelCheck
from slotwise.posterior.posterior_interface import (
    GammaPosterior,
    apply_cold_start_cap,
    draw_pair_odds,
    draw_parameters,
    update,
    update_by_clicks,
    update_by_tally,
)
from slotwise.posterior.sampling import _draw_parameters as _draw_parameters
from slotwise.posterior.state import HierarchicalPosterior
from slotwise.posterior.summary import Posterior, fit_posterior, iterate_tallies, posterior_after, summarize_posterior
from slotwise.posterior.updates import _defer_refits as _defer_refits

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "DEFAULT_COLD_START_CAP",
    "MANY_ITEMS",
    "GammaPosterior",
    "HierarchicalPosterior",
    "LargestItems",
    "ModelCheck",
    "Passes",
    "Posterior",
    "apply_cold_start_cap",
    "best_list",
    "best_list_probabilities",
    "draw_largest",
    "draw_pair_odds",
    "draw_parameters",
    "fit_posterior",
    "hierarchical_posterior",
    "iterate_tallies",
    "no_largest",
    "posterior_after",
    "summarize_posterior",
    "update",
    "update_by_clicks",
    "update_by_tally",
]
