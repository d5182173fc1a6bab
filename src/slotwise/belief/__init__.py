"""What is believed of items and slots, given a tally: priors, the position bias told or learned, and posteriors."""

from slotwise.belief.best_list import best_list, best_list_chances
from slotwise.belief.gibbs import gibbs_bias, joint_gibbs
from slotwise.belief.interface import hold_back, imagine, is_new, update, update_by_epoch, update_by_tally
from slotwise.belief.lived import NEW_ITEMS_AT_MOST, Lived, Passes, is_lived, lived
from slotwise.belief.lived_counts import _hold_still as _hold_still
from slotwise.belief.lived_draws import pass_rate
from slotwise.belief.newcomers import _hold_back as _hold_back
from slotwise.belief.posterior import Posterior, believed, one_by_one, posterior, posterior_of
from slotwise.belief.prior import ATTRACTIVENESS_RATE, ATTRACTIVENESS_SHAPE, BIAS_SHAPE
from slotwise.belief.told import ToldBias, told_bias

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "NEW_ITEMS_AT_MOST",
    "Lived",
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
