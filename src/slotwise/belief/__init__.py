"""What is believed of items and slots, given a tally: priors, the position bias told or learned, and posteriors."""

from slotwise.belief.best_list import best_list, best_list_chances
from slotwise.belief.gibbs import gibbs_bias, joint_gibbs
from slotwise.belief.interface import imagine, update, update_by_epoch, update_by_tally
from slotwise.belief.learned import BIAS_SHAPE, LearnedBias, learned_bias
from slotwise.belief.posterior import Posterior, posterior
from slotwise.belief.prior import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    LearnedPrior,
    learned_prior,
    relearn,
    relearn_all,
)
from slotwise.belief.shows import absorb_shows, count_shows
from slotwise.belief.told import ToldBias, told_bias

__all__ = [
    "ATTRACTIVENESS_RATE",
    "ATTRACTIVENESS_SHAPE",
    "BIAS_SHAPE",
    "LearnedBias",
    "LearnedPrior",
    "Posterior",
    "ToldBias",
    "absorb_shows",
    "best_list",
    "best_list_chances",
    "count_shows",
    "gibbs_bias",
    "imagine",
    "joint_gibbs",
    "learned_bias",
    "learned_prior",
    "posterior",
    "relearn",
    "relearn_all",
    "told_bias",
    "update",
    "update_by_epoch",
    "update_by_tally",
]
