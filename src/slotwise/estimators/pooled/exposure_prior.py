"""Where and how often cells were shown: what that says of them before any click, and how much of it is chance.

Pages show first, and most often, what they judge to be best. But where an item stood in n impressions is a sample of
where it is put, and says the less, the smaller n is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from slotwise.core.types import FloatArray

#: from how many standard deviations on it says no more how often an item was shown: one that was hardly shown must not
#: say by itself what that is worth
FURTHEST = 2.0


class Shown(NamedTuple):
    """Columns that say where and how often each cell was shown, and the variance that chance gives them."""

    #: cells × slots, of those that were used, if several were: how a cell's impressions are divided among them
    slot_shares: FloatArray
    #: the covariance of these for a cell that was shown once; for n times it is a part 1/n of that
    of_one: FloatArray
    times: FloatArray
    #: the part of what cells differ in these that is not chance
    real: float
    #: cells × 1, with mean 0 and variance 1, and its variance by chance; no column if all were shown as often
    how_often: FloatArray
    by_chance: FloatArray

    @classmethod
    def of(cls, shown: FloatArray, impressions: FloatArray) -> Shown:
        """Of slots × cells, and of the impressions of each cell's placement.

        >>> found = Shown.of(np.array([[9.0, 1.0], [3.0, 7.0]]), np.array([12.0, 12.0]))
        >>> found.slot_shares.round(2).tolist(), found.of_one.round(2).tolist()
        ([[0.75, 0.25], [0.12, 0.88]], [[0.17, -0.17], [-0.17, 0.17]])
        """
        used, times = shown.sum(axis=1) > 0, shown.sum(axis=0)
        # all of one slot say nothing
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
    """In what share of the impressions each cell was shown, as a normal score.

    A page that shows what seems best, by a judgement that is off by a normal error, shows an item that often if it is
    that many errors better than what is left out. Of a share p of n impressions the score z has, by chance, a variance
    of p(1 - p)/nφ(z)².
    """
    share = (times + 0.5) / (impressions + 1.0)
    score = ndtri(share)
    spread = float(score.std())
    if not spread > 0.0:
        return np.zeros((len(times), 0)), np.zeros(len(times))
    density = np.exp(-(score**2) / 2.0) / math.sqrt(2.0 * math.pi)
    chance = share * (1.0 - share) / (impressions + 1.0) / density**2 / spread**2
    return np.clip((score - score.mean()) / spread, -FURTHEST, FURTHEST)[:, None], chance
