"""Attractiveness and position bias of placements together: finite for every item and slot, however little was seen.

Placements share one position bias, or each has its own, shrunk toward the shared one. Attractiveness has a Gamma prior
that is learned from all cells (`slotwise.estimators.pooled.cell_prior`). For rare clicks, the maximum of the joint
density in (log α, log λ) is that of λ with attractiveness integrated out: many items with a few clicks each do not
mislead it. For other clicks it is one step away, which is taken
(`slotwise.estimators.pooled.pooled_errors.PooledErrors.slot_shift`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.estimate import Estimate
from slotwise.estimators.identifiability import groups
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.likelihoods.list_kernels import subtract_squares
from slotwise.estimators.likelihoods.newton import MAX_STEPS, climb
from slotwise.estimators.pooled.cell_prior import USUAL_SHAPE, CellPrior
from slotwise.estimators.pooled.marginal_likelihood import learn_prior
from slotwise.estimators.pooled.placement_cells import Cells, Likelihood
from slotwise.estimators.pooled.pooled_errors import PooledErrors
from slotwise.estimators.uncertainty.intervals import Intervals, around_logarithm
from slotwise.estimators.uncertainty.standard_errors import Counts, with_priors

#: c of the prior Gamma(c, c) of slots after the first
BIAS_SHAPE = 1.0
#: the maximum number of updates of the prior, and the change of κ and of log M that counts as converged
MAX_ROUNDS = 40
SETTLED = 1e-2
#: Newton steps between updates; the last ones converge
STEPS = 1
#: a placement with fewer clicks uses the common slots
MIN_CLICKS = 20


@dataclass(frozen=True, eq=False)
class Pooled:
    """The estimates of pooled placements."""

    #: by placement, in the order given
    estimates: tuple[Estimate, ...]
    #: the parts that the data compare with each other, for each slot and item of every placement
    parts: tuple[tuple[IntArray, IntArray], ...]
    #: λ that all placements share, and how strongly a placement's own is shrunk toward it; None if placements have none
    position_bias: FloatArray
    own: float | None
    prior: CellPrior

    @property
    def unseen(self) -> tuple[float, ...]:
        """The prior mean of an item that was never shown, in each placement."""
        level = np.full(len(self.estimates), self.prior.weights[0])
        if self.prior.placements is not None:
            level = level + self.prior.placements.values
        return tuple(np.exp(level).tolist())


def pool(
    seen: Sequence[Counts],
    items: Sequence[IntArray] | None = None,
    *,
    features: FloatArray | None = None,
    position_bias: FloatArray | None = None,
    own: float | None = None,
) -> Pooled:
    """Fit placements together, all given by rankings or all by tallies: `learn`, and its `pooled`.

    >>> from slotwise import Rankings
    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=3)
    >>> (found,) = pool([seen]).estimates
    >>> found.attractiveness.round(2), found.position_bias.round(2)      # the third was never shown
    (array([0.43, 0.4 , 0.41]), array([1.  , 0.71]))
    """
    return learn(seen, items, features=features, position_bias=position_bias).pooled(own)


def learn(
    seen: Sequence[Counts],
    items: Sequence[IntArray] | None = None,
    *,
    features: FloatArray | None = None,
    position_bias: FloatArray | None = None,
    usual_shape: float = USUAL_SHAPE,
    roughly: bool = False,
) -> LearnedPriors:
    """Learn what placements have in common.

    `items` number the items of each across all placements, so that one that is in several is known for it; `features`
    are rows of numbers, one for each of these. `position_bias` is λ where it is known, and `usual_shape` κ before
    anything is: the more alike cells are expected to be, the larger. `roughly` is enough to compare: λ is then that of
    the mode of all, and not with attractiveness integrated out.
    """
    cells = Cells.of(seen, items)
    if position_bias is not None:
        position_bias = validation.positive_vector("position_bias", position_bias, each="slot")
        if len(position_bias) < cells.slots:
            raise InvalidInput(f"position_bias must have one entry per slot, {cells.slots}, got {len(position_bias)}")
    by_cell = None if features is None else _standardised(features[cells.item])
    prior = CellPrior.of(_usual(cells), cells.shown, cells.placement, cells.item, by_cell, usual_shape)
    estimate = _learned(cells, prior, position_bias)
    return LearnedPriors(prior, estimate if roughly else _integrated(estimate))


@dataclass(frozen=True, eq=False)
class LearnedPriors:
    """The prior of all cells, and the estimate with one λ for all."""

    prior: CellPrior
    together: PooledErrors

    def pooled(self, own: float | None = None) -> Pooled:
        """With one λ for all; or with `own`, each placement its own, Gamma-distributed of that shape around that."""
        cells, bias = self.together.cells, self.together.position_bias
        places = range(len(cells.seen))
        if own is None or len(cells.seen) == 1 or not self.together.free:
            parts = _parts(cells)
            estimates = [_estimate(self.together, number, parts[number]) for number in places]
            return Pooled(tuple(estimates), tuple(parts), bias, None, self.prior)
        strength = validation.positive_number("own", own)
        parts = _parts(cells)
        estimates = []
        for number in places:
            alone = self.alone(number, strength)
            if alone is None:
                estimates.append(_estimate(self.together, number, parts[number]))
            else:
                (parts[number],) = _parts(alone.cells)
                estimates.append(_estimate(alone, 0, parts[number]))
        return Pooled(tuple(estimates), tuple(parts), bias, own, self.prior)

    @cached_property
    def _rate(self) -> FloatArray:
        return self.prior.rate

    def alone(
        self, number: int, strength: float, start: PooledErrors | None = None, steps: int = MAX_STEPS
    ) -> PooledErrors | None:
        """A placement with slots of its own; None where it has hardly any clicks to know them by.

        It may start from where another strength has led, and end after some steps.
        """
        which, shared = self.together.cells.of_placement(number), self.together.position_bias
        if self.together.cells.clicks[:, which].sum() < MIN_CLICKS:
            return None
        cells = self.together.cells.only(number) if start is None else start.cells
        slot_prior = np.full(cells.slots, strength), strength / shared[: cells.slots]
        bias = shared[: cells.slots] if start is None else start.position_bias
        alpha = self.together.attractiveness[which] if start is None else start.attractiveness
        begin = bias.copy(), alpha.copy()
        return _at_rest(cells, self.prior, begin, slot_prior, self._rate[which], which, steps=steps)


def _learned(cells: Cells, prior: CellPrior, known: FloatArray | None) -> PooledErrors:
    """λ and α with a prior that is learned by turns with them; `prior` is changed."""
    free = known is None
    bias = np.ones(cells.slots) if known is None else known[: cells.slots].copy()
    slot_prior = np.full(cells.slots, BIAS_SHAPE), np.full(cells.slots, BIAS_SHAPE)
    alpha, before = prior.mean, np.zeros(1)
    for _ in range(MAX_ROUNDS):
        likelihood = cells.likelihood((prior.shapes, prior.rate), slot_prior, free=free)
        bias, alpha, _, _ = climb(likelihood, bias, alpha, STEPS)
        clicks, passes = _effective_counts(cells, likelihood, bias, alpha)
        bias = learn_prior(prior, bias, BIAS_SHAPE, clicks, passes, free=free)
        now = np.concatenate([np.log(prior.mean), np.log(bias), [np.log(prior.shape)]])
        if np.abs(now - before).max() < SETTLED:
            break
        before = now
    return _at_rest(cells, prior, (bias, alpha), slot_prior, prior.rate, slice(0, cells.count), free=free)


def _integrated(found: PooledErrors) -> PooledErrors:
    """The same with λ at its own mode, attractiveness integrated out, and attractiveness at its mode given that."""
    shift = found.slot_shift()
    if not shift.any():
        return found
    assert isinstance(found.likelihood, Joint)
    bias = found.position_bias * np.exp(shift)
    held = replace(found.likelihood, free=False)
    bias, alpha, _, converged = climb(held, bias, found.attractiveness)
    slot_prior = found.slot_prior * np.exp(shift)
    return replace(
        found, position_bias=bias, attractiveness=alpha, slot_prior=slot_prior, converged=found.converged and converged
    )


def _at_rest(
    cells: Cells,
    prior: CellPrior,
    start: tuple[FloatArray, FloatArray],
    slot_prior: tuple[FloatArray, FloatArray],
    rate: FloatArray,
    which: slice,
    *,
    free: bool = True,
    steps: int = MAX_STEPS,
) -> PooledErrors:
    """Return the maximum given the prior; `which` are the cells, and `rate` is their prior rate."""
    likelihood = cells.likelihood((prior.shapes[which], rate), slot_prior, free=free)
    bias, alpha, _, converged = climb(likelihood, *start, steps)
    return PooledErrors(cells, likelihood, prior, which, rate, bias, alpha, slot_prior[1] * bias, free, converged)


def _effective_counts(
    cells: Cells, likelihood: Likelihood, bias: FloatArray, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return clicks and passes, slots × cells, of rare clicks with the same information as the data.

    For lists they have the score and the curvature of the choices at these estimates: a cell with the click probability
    p and n expected clicks counts (1 - p)n, and clicks beyond n count in full. If those counted 1 - p too, items would
    seem more similar than they are.
    """
    if not isinstance(likelihood, Joint):
        return cells.clicks, cells.passes
    pairs, chances, _ = likelihood.expected(bias, alpha)
    expected = pairs.sum(axis=0)
    own = expected.copy()
    subtract_squares(likelihood.shown, likelihood.times, chances, own)
    part = np.divide(own, expected, out=np.ones_like(own), where=expected > 0.0)
    return cells.clicks - (1.0 - part) * pairs, part * pairs / np.outer(bias, alpha)


def _estimate(pooled: PooledErrors, number: int, parts: tuple[IntArray, IntArray]) -> Estimate:
    cells = pooled.cells
    mine, slots = cells.of_placement(number), cells.seen[number].slots

    def errors() -> tuple[FloatArray, FloatArray]:
        of_items, of_slots = pooled.log_errors(number)
        return of_items, of_slots[:slots]

    def error_of(of_items: FloatArray, of_slots: FloatArray) -> float:
        return pooled.log_error_of(number, of_items, of_slots)

    # the intervals of all placements are computed at once
    def around(_middle: FloatArray, _error: FloatArray, level: float) -> Intervals:
        return pooled.intervals(level)[0][mine]

    def around_slots(_middle: FloatArray, _error: FloatArray, level: float) -> Intervals:
        return pooled.intervals(level)[1][:slots]

    return Estimate(
        pooled.attractiveness[mine],
        pooled.position_bias[:slots],
        converged=pooled.converged,
        identifiable=all(bool((part == parts[0][0]).all()) for part in parts),
        sweeps=1,
        uncertainty=with_priors(
            slots,
            mine.stop - mine.start,
            errors,
            error_of,
            at_rest=pooled.converged,
            around=around if pooled.converged else around_logarithm,
            around_slots=around_slots if pooled.converged else around_logarithm,
        ),
    )


def _parts(cells: Cells) -> list[tuple[IntArray, IntArray]]:
    """Return the parts that the data compare with each other, of each placement."""
    of_slots, of_items = groups(cells.compared)
    return [
        (of_slots[: counts.slots], of_items[cells.of_placement(number)]) for number, counts in enumerate(cells.seen)
    ]


def _usual(cells: Cells) -> float:
    """Return the attractiveness if all items and slots are equal, with half a click and half a pass more."""
    clicks = float(cells.clicks.sum())
    passed = [cells.passes[:, cells.of_placement(number)].sum(axis=1).max() for number in range(len(cells.seen))]
    silent = float(sum(passed))
    filled = float(cells.passes.sum()) / silent if silent else float(cells.slots)
    return (clicks + 0.5) / (silent + 0.5) / filled


def _standardised(features: FloatArray) -> FloatArray:
    spread = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))
