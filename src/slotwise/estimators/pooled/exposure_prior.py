"""Covariates of the prior: the slots and the frequency of a cell's impressions, with their sampling variance.

Pages show the items that they judge best first and most often. The slots of an item in n impressions are a sample, with
more noise for a smaller n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from slotwise.core.types import FloatArray

#: the score of a frequency is clipped at this many standard deviations: a single rarely shown item must not determine
#: the effect
FURTHEST = 2.0


class Shown(NamedTuple):
    """The slot shares and the frequency of each cell, with their sampling variance."""

    #: cells × slots, of the used slots if there are several: the shares of a cell's impressions
    slot_shares: FloatArray
    #: the covariance of the shares of a cell that was shown once; for n impressions it is 1/n of that
    of_one: FloatArray
    times: FloatArray
    #: the part of the variance between cells that is not noise
    real: float
    #: cells × 1, with mean 0 and variance 1, and its sampling variance; no column if all have the same frequency
    how_often: FloatArray
    by_chance: FloatArray

    @classmethod
    def of(cls, shown: FloatArray, impressions: FloatArray) -> Shown:
        """Return the covariates of slots × cells, given the impressions of each cell's placement.

        >>> covariates = Shown.of(np.array([[9.0, 1.0], [3.0, 7.0]]), np.array([12.0, 12.0]))
        >>> covariates.slot_shares.round(2).tolist(), covariates.of_one.round(2).tolist()
        ([[0.75, 0.25], [0.12, 0.88]], [[0.17, -0.17], [-0.17, 0.17]])
        """
        used, times = shown.sum(axis=1) > 0, shown.sum(axis=0)
        # a single slot gives no information
        used &= used.sum() > 1
        by_slot = shown[used].sum(axis=1)
        usual = np.broadcast_to((by_slot / max(1.0, float(by_slot.sum())))[:, None], (len(by_slot), len(times)))
        shares = np.divide(shown[used], times, out=usual.copy(), where=times > 0)
        within = np.diag(by_slot) - (shares * times) @ shares.T
        of_one = within / max(1.0, float(np.maximum(times - 1.0, 0.0).sum()))
        # an analysis of variance
        differ = float(((shares - usual) ** 2 @ times).sum())
        chance = max(0, int((times > 0).sum()) - 1) * float(np.trace(of_one))
        real = max(0.0, 1.0 - chance / differ) if differ > 0.0 else 0.0
        return cls(shares.T, of_one, times, real, *_how_often(times, impressions))


def _how_often(times: FloatArray, impressions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the normal score of the share of impressions that showed each cell, and its sampling variance.

    A page that judges items with a normal error shows an item with this share if the item is z errors better than those
    left out. The score z of a share p of n impressions has the sampling variance p(1 - p)/nφ(z)².
    """
    share = (times + 0.5) / (impressions + 1.0)
    score = ndtri(share)
    spread = float(score.std())
    if not spread > 0.0:
        return np.zeros((len(times), 0)), np.zeros(len(times))
    density = np.exp(-(score**2) / 2.0) / math.sqrt(2.0 * math.pi)
    chance = share * (1.0 - share) / (impressions + 1.0) / density**2 / spread**2
    return np.clip((score - score.mean()) / spread, -FURTHEST, FURTHEST)[:, None], chance
