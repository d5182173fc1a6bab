"""What cells are like before anything is seen of them, learned from all of them.

    α_c ~ Gamma(κ_c, κ_c/M_c),   1/κ_c = 1/κ + v_c,
    log M_c = level + Σ_k b_k·(its share in slot k) + a·(how often shown) + features' + placement's + item's,

the effects of each kind normal around 0, with a variance that is learned too: where placements, or the same item in
different ones, are alike, it shrinks to nothing, and where they are not, each goes its own way. The effects of the
slots that an item is in are there because pages show first what is best (Mundlak, On the pooling of time series and
cross section data, 1978): without them, that good items are in the upper slots would be taken for what these are worth.
They also show most often what is best: an item that was hardly ever shown is not like those of which much is known, and
by how much it is worse is learned from the others. Of an item that was shown twice, both are chance for a large part:
v is the variance that chance gives to what they say (Carroll et al., Measurement Error in Nonlinear Models, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.pooled.exposure_prior import Shown

#: κ before anything is known, the standard deviation of its logarithm, and how far it may go
USUAL_SHAPE, SHAPE_SPREAD = 2.0, 1.0
MIN_SHAPE, MAX_SHAPE = 0.05, 1e4
#: the standard deviation of the level around what all impressions together say of it
LEVEL_SPREAD = 2.0
#: the variance of effects before anything is known, worth so many effects; that of slots is known to be large
USUAL_VARIANCE, WORTH = 0.1, 2.0
USUAL_SLOT_VARIANCE = 1.0
#: where items are in one slot as often as in another, but for chance, where they were says nothing; the part of their
#: differences that is not chance is squared, as a small one may be chance after all
MIN_VARIANCE = 1e-6
#: that of what it says how often an item was shown, which may be nothing
HOW_OFTEN_VARIANCE = 0.02


@dataclass(eq=False)
class Effects:
    """One effect for each of some groups of cells, and the variance that they have."""

    #: the group of each cell
    group: IntArray
    values: FloatArray
    #: the variance of what is believed of each
    spread: FloatArray
    variance: float = USUAL_VARIANCE

    @classmethod
    def none(cls, group: IntArray) -> Effects:
        """All 0."""
        count = int(group.max()) + 1
        return cls(group, np.zeros(count), np.full(count, USUAL_VARIANCE))

    @property
    def by_cell(self) -> FloatArray:
        """The effect on each cell."""
        return self.values[self.group]

    def learn_variance(self) -> None:
        """An EM step."""
        squares = float((self.values**2 + self.spread).sum())
        self.variance = (squares + WORTH * USUAL_VARIANCE) / (len(self.values) + WORTH)


@dataclass(eq=False)
class CellPrior:
    """κ and M, and what M is made of."""

    shape: float
    #: cells × columns: 1 for the level, the shares of the slots, how often shown and features, standardised
    design: FloatArray
    #: how much each column is worth, what it is drawn to, and the variance of that
    weights: FloatArray
    centre: FloatArray
    variance: FloatArray
    #: which columns share a variance that is learned, and what it is worth two of before anything is known
    kinds: tuple[tuple[slice, float], ...]
    shown: Shown
    #: below this no cell's shape goes
    least_shape: float = MIN_SHAPE
    placements: Effects | None = None
    items: Effects | None = None
    #: κ before anything is known
    usual_shape: float = USUAL_SHAPE

    @classmethod
    def of(
        cls,
        usual: float,
        shown: Shown,
        placement: IntArray,
        item: IntArray,
        features: FloatArray | None = None,
        usual_shape: float = USUAL_SHAPE,
    ) -> CellPrior:
        """Before anything is learned: cells are like `usual`, which is what all impressions together say."""
        cells = len(placement)
        by_slot, often = shown.slot_shares, shown.how_often
        more = np.zeros((cells, 0)) if features is None else features
        design = np.column_stack([np.ones(cells), by_slot, often, more])
        after = 1 + by_slot.shape[1]
        last = after + often.shape[1]
        every = (
            (slice(1, after), max(MIN_VARIANCE, USUAL_SLOT_VARIANCE * shown.real**2)),
            (slice(after, last), HOW_OFTEN_VARIANCE),
            (slice(last, design.shape[1]), USUAL_VARIANCE),
        )
        kinds = tuple(kind for kind in every if kind[0].stop > kind[0].start)
        centre, variance = np.zeros(design.shape[1]), np.full(design.shape[1], LEVEL_SPREAD**2)
        centre[0] = np.log(usual)
        for which, first in kinds:
            variance[which] = first
        # an item of one placement alone is its cell: it has no effect of its own
        places = np.bincount(item)[item] if cells else np.zeros(0, np.int64)
        shared = np.where(places > 1, np.unique(np.where(places > 1, item, -1), return_inverse=True)[1], 0)
        return cls(
            usual_shape,
            design,
            centre.copy(),
            centre,
            variance,
            kinds,
            shown,
            placements=Effects.none(placement) if placement.max(initial=0) > 0 else None,
            items=Effects.none(shared) if places.max(initial=0) > 1 else None,
            usual_shape=usual_shape,
        )

    @property
    def mean(self) -> FloatArray:
        """M, per cell."""
        total = self.design @ self.weights
        for one in (self.placements, self.items):
            if one is not None:
                total = total + one.by_cell
        return np.asarray(np.exp(total))

    @property
    def shapes(self) -> FloatArray:
        """κ of each cell: the smaller, the more of what is expected of it may be chance."""
        return np.asarray(np.maximum(1.0 / (1.0 / self.shape + self.by_chance), self.least_shape))

    @property
    def by_chance(self) -> FloatArray:
        """Per cell, the variance of what its slots and its share of the impressions say of log M."""
        slots = self.shown.slot_shares.shape[1]
        of_slots, of_often = self.weights[1 : 1 + slots], self.weights[1 + slots :][: self.shown.how_often.shape[1]]
        of_one = float(of_slots @ self.shown.of_one @ of_slots)
        return np.asarray(of_one / np.maximum(self.shown.times, 1.0) + (of_often**2).sum() * self.shown.by_chance)

    @property
    def rate(self) -> FloatArray:
        """κ/M, per cell."""
        return np.asarray(self.shapes / self.mean)

    def learn_variances(self, of_weights: FloatArray) -> None:
        """EM steps of all that are learned, given the variances of what is believed of the weights."""
        for which, first in self.kinds:
            squares = float((self.weights[which] ** 2 + of_weights[which]).sum())
            self.variance[which] = (squares + WORTH * first) / (which.stop - which.start + WORTH)
        for one in (self.placements, self.items):
            if one is not None:
                one.learn_variance()
