"""The prior of a cell (an item in a placement), learned from all cells.

    α_c ~ Gamma(κ_c, κ_c/M_c),   1/κ_c = 1/κ + v_c,
    log M_c = level + Σ_k b_k·(its share in slot k) + a·(how often shown) + features' + placement's + item's,

the effects of each kind normal around 0, with a variance that is learned too. If placements, or the same item in
different placements, are similar, the variance shrinks to 0; otherwise each has its own effect. The effects of the
slots of an item are there because pages show the best items first (Mundlak, On the pooling of time series and cross
section data, 1978): without them, the quality of the items in the upper slots would be attributed to the slots. Pages
also show the best items most often: a rarely shown item is worse than a frequently shown one, and the difference is
learned. For an item that was shown twice, both covariates are mostly noise: v is the variance of the prediction due to
that noise (Carroll et al., Measurement Error in Nonlinear Models, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import polygamma, psi

from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.pooled.exposure_prior import Shown

#: the prior mean of κ, the standard deviation of its logarithm, and its range
USUAL_SHAPE, SHAPE_SPREAD = 2.0, 1.0
MIN_SHAPE, MAX_SHAPE = 0.05, 1e4
#: where ψ' is tabulated
_SHAPES = np.geomspace(1e-2, 1e5, 400)
#: the standard deviation of the level around the estimate from all impressions together
LEVEL_SPREAD = 2.0
#: the prior variance of effects, and the number of effects that it is worth; that of slots is large
USUAL_VARIANCE, WORTH = 0.1, 2.0
USUAL_SLOT_VARIANCE = 1.0
#: the minimum variance of slot effects: if items differ in their slots by chance only, slots predict nothing; the part
#: of the differences beyond chance is squared, as a small part may still be chance
MIN_VARIANCE = 1e-6
#: the prior variance of the effect of how often an item was shown
HOW_OFTEN_VARIANCE = 0.02


@dataclass(eq=False)
class Effects:
    """An effect for each group of cells, and their variance."""

    #: the group of each cell
    group: IntArray
    values: FloatArray
    #: the posterior variance of each
    spread: FloatArray
    variance: float = USUAL_VARIANCE

    @classmethod
    def none(cls, group: IntArray) -> Effects:
        """Return effects of 0."""
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
        """Return the prior before learning: all cells have the mean `usual`, estimated from all impressions."""
        cells = len(placement)
        by_slot, often = shown.slot_shares, shown.how_often
        by_feature = np.zeros((cells, 0)) if features is None else features
        design = np.column_stack([np.ones(cells), by_slot, often, by_feature])
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
        # an item of only one placement has no effect of its own
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
        for effects in (self.placements, self.items):
            if effects is not None:
                total = total + effects.by_cell
        return np.asarray(np.exp(total))

    @property
    def shapes(self) -> FloatArray:
        """κ of each cell: smaller if more of its prior mean may be noise."""
        return np.asarray(np.maximum(1.0 / (1.0 / self.shape + self.by_chance), self.least_shape))

    @property
    def by_chance(self) -> FloatArray:
        """Per cell, the variance of log M due to noise in its slots and in its share of the impressions."""
        slots = self.shown.slot_shares.shape[1]
        of_slots, of_often = self.weights[1 : 1 + slots], self.weights[1 + slots :][: self.shown.how_often.shape[1]]
        of_one = float(of_slots @ self.shown.of_one @ of_slots)
        return np.asarray(of_one / np.maximum(self.shown.times, 1.0) + (of_often**2).sum() * self.shown.by_chance)

    @property
    def rate(self) -> FloatArray:
        """κ/M, per cell."""
        return np.asarray(self.shapes / self.mean)

    def learn_variances(self, of_weights: FloatArray) -> None:
        """Take an EM step of all variances, given the posterior variances of the weights."""
        for which, first in self.kinds:
            squares = float((self.weights[which] ** 2 + of_weights[which]).sum())
            self.variance[which] = (squares + WORTH * first) / (which.stop - which.start + WORTH)
        for effects in (self.placements, self.items):
            if effects is not None:
                effects.learn_variance()


class SymmetricPrior(NamedTuple):
    """A prior of log α with the mean and the variance of log Gamma(κ, κ/M), but symmetric.

    It is the law of the logarithm of a ratio of two Gamma(c) variables (generalised logistic, type III):

        log density = c·x - 2c·log(1 + eˣ) + const,   x = log(α/centre).

    The logarithm of a Gamma variable has a long tail to the left and a short one to the right. An item that is far
    better than all others would be shrunk too much.
    """

    #: c and the median of α, per cell
    shape: FloatArray
    centre: FloatArray

    @classmethod
    def of(cls, shapes: FloatArray, mean: FloatArray) -> SymmetricPrior:
        """Return the prior in the place of Gamma(κ, κ/M), given κ and M of each cell: ψ'(c) = ψ'(κ)/2.

        >>> SymmetricPrior.of(np.array([2.0]), np.ones(1)).shape.round(2)
        array([3.57])
        """
        half = np.log(polygamma(1, shapes) / 2.0)
        shape = np.exp(np.interp(-half, -np.log(polygamma(1, _SHAPES)), np.log(_SHAPES)))
        return cls(shape, mean * np.exp(psi(shapes)) / shapes)

    def gamma_at(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return shapes and rates of the Gamma prior with the slope and the curvature of this one at α."""
        total = alpha + self.centre
        curvature = 2.0 * self.shape * alpha * self.centre / total**2
        return self.shape * (self.centre - alpha) / total + curvature, curvature / alpha
