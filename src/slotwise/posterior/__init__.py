"""What is believed of items and slots, given a tally: priors, the position bias told or learned, and posteriors."""

from slotwise.posterior.best_list_draws import best_list, best_list_chances
from slotwise.posterior.cold_start_cap import _hold_back as _hold_back
from slotwise.posterior.factory import NEW_ITEMS_AT_MOST, Passes, is_lived, lived
from slotwise.posterior.gamma_prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.posterior.gibbs_sampler import gibbs_bias, joint_gibbs
from slotwise.posterior.known_bias_posterior import ToldBias, told_bias
from slotwise.posterior.posterior_interface import hold_back, imagine, is_new, update, update_by_epoch, update_by_tally
from slotwise.posterior.sampling import pass_rate
from slotwise.posterior.state import HierarchicalPosterior
from slotwise.posterior.summary import Posterior, believed, one_by_one, posterior, posterior_of
from slotwise.posterior.updates import _hold_still as _hold_still

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "NEW_ITEMS_AT_MOST",
    "HierarchicalPosterior",
    "Passes",
    "Posterior",
    "ToldBias",
    "believed",
    "best_list",
    "best_list_chances",
    "gibbs_bias",
    "hold_back",
    "imagine",
    "is_lived",
    "is_new",
    "joint_gibbs",
    "lived",
    "one_by_one",
    "pass_rate",
    "posterior",
    "posterior_of",
    "told_bias",
    "update",
    "update_by_epoch",
    "update_by_tally",
]
