"""Attractiveness and position bias of placements together: finite for every item and slot, however little was seen.

Placements share one position bias, or each has its own, shrunk toward the shared one. Attractiveness has a Gamma prior
that is learned from all cells (`slotwise.estimators.pooled.cell_prior`). For rare clicks, the maximum of the joint
density in (log α, log λ) is that of λ with attractiveness integrated out: many items with a few clicks each do not
mislead it. For other clicks it is one step away, which is taken
(`slotwise.estimators.pooled.pooled_errors.PooledErrors.slot_shift`). Given these slots, attractiveness has a prior with
the same mean and variance of log α, but a symmetric one.
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
from slotwise.estimators.likelihoods.newton import climb
from slotwise.estimators.pooled.cell_prior import USUAL_SHAPE, CellPrior, SymmetricPrior
from slotwise.estimators.pooled.marginal_likelihood import learn_prior, rare_counts
from slotwise.estimators.pooled.own_slots import OwnSlots, learn_own_slots
from slotwise.estimators.pooled.placement_cells import Cells, Likelihood
from slotwise.estimators.pooled.pooled_errors import PooledErrors
from slotwise.estimators.uncertainty.intervals import Intervals, around_logarithm
from slotwise.estimators.uncertainty.standard_errors import Counts, with_priors

#: c of the prior Gamma(c, c) of slots after the first
BIAS_SHAPE = 1.0
#: the maximum number of updates of the prior, and the change of κ and of log M that counts as converged
MAX_ROUNDS = 40
SETTLED = 1e-2
#: the change of log α that counts as converged
AT_REST = 1e-7
#: Newton steps between updates; the last ones converge
STEPS = 1
#: how often, at most, the Gamma prior of a placement's own slots is fitted to the normal one again
REFRESHES = 10


@dataclass(frozen=True, eq=False)
class Pooled:
    """The estimates of pooled placements."""

    #: by placement, in the order given
    estimates: tuple[Estimate, ...]
    #: the parts that the data compare with each other, for each slot and item of every placement
    parts: tuple[tuple[IntArray, IntArray], ...]
    #: λ that all placements share, and whether each has its own, shrunk toward that
    position_bias: FloatArray
    own: bool
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
    own: bool = False,
) -> Pooled:
    """Fit placements together, all given by rankings or all by tallies: `learn`, and its `pooled`.

    >>> from slotwise import Rankings
    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=3)
    >>> (found,) = pool([seen]).estimates
    >>> found.attractiveness.round(2), found.position_bias.round(2)      # the third was never shown
    (array([0.42, 0.39, 0.37]), array([1.  , 0.71]))
    """
    return learn(seen, items, features=features, position_bias=position_bias).pooled(own=own)


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

    def pooled(self, *, own: bool = False) -> Pooled:
        """Return the estimates with one λ for all, or with `own` each placement its own, shrunk toward that of all."""
        cells = self.together.cells
        places = range(len(cells.seen))
        if not own or len(cells.seen) == 1 or not self.together.free or cells.slots == 1:
            parts = _parts(cells)
            estimates = [_estimate(self.together, number, parts[number]) for number in places]
            return Pooled(tuple(estimates), tuple(parts), self.together.position_bias, False, self.prior)
        slots = self.own_slots
        every = [_alone(slots, number) for number in places]
        parts = [_parts(alone.cells)[0] for alone in every]
        estimates = [_estimate(alone, 0, part) for alone, part in zip(every, parts, strict=True)]
        return Pooled(tuple(estimates), tuple(parts), np.exp(slots.centre), True, slots.prior)

    @cached_property
    def own_slots(self) -> OwnSlots:
        """The slots of each placement, and the prior that is learned with them."""
        together = self.together
        return learn_own_slots(together.cells, self.prior, together.position_bias, together.attractiveness)


def _alone(slots: OwnSlots, number: int) -> PooledErrors:
    """Return a placement with slots of its own."""
    which, cells = slots.cells.of_placement(number), slots.cells.only(number)
    rate = slots.prior.rate[which]
    bias, alpha = np.exp(slots.log_bias[number, : cells.slots]), slots.attractiveness[which].copy()
    elsewhere = slots.information_elsewhere(number, cells.slots)
    for _ in range(REFRESHES):
        slot_prior = slots.gamma_prior(np.log(bias))
        found = _at_rest(cells, slots.prior, (bias, alpha), slot_prior, rate, which, elsewhere)
        moved = float(np.abs(np.log(found.position_bias / bias)).max())
        bias, alpha = found.position_bias, found.attractiveness
        if moved < SETTLED:
            break
    return _integrated(replace(found, is_normal=True))


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
    """The same with λ at its own mode, attractiveness integrated out, and α at its mode given that.

    This mode is under the symmetric prior: a step with the Gamma prior that touches it is a Newton step.
    """
    bias, alpha = found.position_bias * np.exp(found.slot_shift()), found.attractiveness
    prior = SymmetricPrior.of(found.prior.shapes[found.which], found.prior.mean[found.which])
    of_held_slots = np.ones(len(bias)), np.ones(len(bias))
    for _ in range(MAX_ROUNDS):
        likelihood = found.cells.likelihood(prior.gamma_at(alpha), of_held_slots, free=False)
        bias, after, _, _ = climb(likelihood, bias, alpha, STEPS)
        moved, alpha = float(np.abs(np.log(after / alpha)).max()), after
        if moved < AT_REST:
            break
    return replace(
        found,
        likelihood=likelihood,
        position_bias=bias,
        attractiveness=alpha,
        item_rate=prior.gamma_at(alpha)[1],
        converged=found.converged and moved < AT_REST,
    )


def _at_rest(
    cells: Cells,
    prior: CellPrior,
    start: tuple[FloatArray, FloatArray],
    slot_prior: tuple[FloatArray, FloatArray],
    rate: FloatArray,
    which: slice,
    of_priors: FloatArray | None = None,
    *,
    free: bool = True,
) -> PooledErrors:
    """Return the maximum given the prior; `which` are the cells, and `rate` is their prior rate."""
    likelihood = cells.likelihood((prior.shapes[which], rate), slot_prior, free=free)
    bias, alpha, _, converged = climb(likelihood, *start)
    if of_priors is None:
        of_priors = np.diag(np.concatenate([(slot_prior[1] * bias)[1:], 1.0 / prior.variance]))
    return PooledErrors(cells, likelihood, prior, which, rate, bias, alpha, of_priors, free, converged)


def _effective_counts(
    cells: Cells, likelihood: Likelihood, bias: FloatArray, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return clicks and passes, slots × cells, of rare clicks with the same information as the data."""
    if not isinstance(likelihood, Joint):
        return cells.clicks, cells.passes
    assert cells.lists is not None
    pairs, chances, _ = likelihood.expected(bias, alpha)
    return rare_counts(cells, cells.lists, pairs, chances, np.outer(bias, alpha))


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
