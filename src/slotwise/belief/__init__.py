"""What is believed of items and slots, given a tally: priors, the position bias told or learned, and posteriors."""

from slotwise.belief.best_list import best_list, best_list_chances
from slotwise.belief.gibbs import gibbs_bias, joint_gibbs
from slotwise.belief.interface import hold_back, imagine, is_new, update, update_by_epoch, update_by_tally
from slotwise.belief.learned import BIAS_SHAPE, LearnedBias, learned_bias
from slotwise.belief.lived import NEW_ITEMS_AT_MOST, Lived, Passes, is_lived, lived, pools_or_forgets
from slotwise.belief.lived_counts import _hold_still as _hold_still
from slotwise.belief.lived_draws import pass_rate
from slotwise.belief.newcomers import _hold_back as _hold_back
from slotwise.belief.posterior import Posterior, believed, one_by_one, posterior, posterior_of
from slotwise.belief.prior import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    LearnedPrior,
    learned_prior,
    relearn,
    relearn_all,
)
from slotwise.belief.shows import (
    ESTIMATED_FROM_TALLY,
    Shows,
    count_list,
    count_tally,
    fair_share,
    no_shows,
    show_by_rate,
)
from slotwise.belief.told import ToldBias, told_bias

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "ESTIMATED_FROM_TALLY",
    "NEW_ITEMS_AT_MOST",
    "LearnedBias",
    "LearnedPrior",
    "Lived",
    "Passes",
    "Posterior",
    "Shows",
    "ToldBias",
    "believed",
    "best_list",
    "best_list_chances",
    "count_list",
    "count_tally",
    "fair_share",
    "gibbs_bias",
    "hold_back",
    "imagine",
    "is_lived",
    "is_new",
    "joint_gibbs",
    "learned_bias",
    "learned_prior",
    "lived",
    "no_shows",
    "one_by_one",
    "pass_rate",
    "pools_or_forgets",
    "posterior",
    "posterior_of",
    "relearn",
    "relearn_all",
    "show_by_rate",
    "told_bias",
    "update",
    "update_by_epoch",
    "update_by_tally",
]
