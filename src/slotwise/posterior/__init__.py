"""Posteriors of attractiveness and position bias given counts: priors, updates, draws and summaries."""

from slotwise.posterior.best_list_draws import best_list, best_list_probabilities
from slotwise.posterior.cold_start_cap import _apply_cold_start_cap as _apply_cold_start_cap
from slotwise.posterior.factory import (
    DEFAULT_COLD_START_CAP,
    Passes,
    hierarchical_posterior,
    needs_hierarchical_posterior,
)
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.gibbs_sampler import gibbs_posterior
from slotwise.posterior.known_bias_posterior import KnownBiasPosterior, gamma_posterior
from slotwise.posterior.posterior_interface import (
    GammaPosterior,
    apply_cold_start_cap,
    draw_parameters,
    is_new,
    update,
    update_by_tally,
)
from slotwise.posterior.sampling import pass_rate
from slotwise.posterior.state import HierarchicalPosterior
from slotwise.posterior.summary import Posterior, fit_posterior, iterate_tallies, posterior_after, summarize_posterior
from slotwise.posterior.updates import _defer_refits as _defer_refits

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "DEFAULT_COLD_START_CAP",
    "GammaPosterior",
    "HierarchicalPosterior",
    "KnownBiasPosterior",
    "Passes",
    "Posterior",
    "apply_cold_start_cap",
    "best_list",
    "best_list_probabilities",
    "draw_parameters",
    "fit_posterior",
    "gamma_posterior",
    "gibbs_posterior",
    "hierarchical_posterior",
    "is_new",
    "iterate_tallies",
    "needs_hierarchical_posterior",
    "pass_rate",
    "posterior_after",
    "summarize_posterior",
    "update",
    "update_by_tally",
]
