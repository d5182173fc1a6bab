"""Maximum likelihood from whole rankings: no consistent estimator has a smaller asymptotic variance."""

from __future__ import annotations

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.tally import Tally
from slotwise.core.types import EMPTY, BoolArray, FloatArray
from slotwise.estimators.estimate import Estimate, Uncertainty
from slotwise.estimators.estimator_registry import register
from slotwise.estimators.identifiability import groups, is_identifiable
from slotwise.estimators.likelihoods.joint_likelihood import Joint
from slotwise.estimators.uncertainty.standard_errors import tied, unknown_without_use


@register(
    "maximum-likelihood",
    name="Maximum likelihood",
    citation="the likelihood of multinomial logit choices, list by list",
    needs="rankings",
    legend=5,
)
def maximum_likelihood(rankings: Rankings) -> Estimate:
    """Maximise Σ_kj N_kj log γ_kj - Σ_A T_A log(1 + S_A), with λ of the first slot held at 1.

    The standard errors are those of the inverse information, up to about 1,500 parameters; beyond that they are those
    of scaling, which are larger.

    Parameters
    ----------
    rankings
        Counts by whole list.

    Returns
    -------
    Estimate
        Attractiveness per item and position bias per slot.

    Examples
    --------
    >>> shown = [[0, 1], [1, 0]]
    >>> estimate = maximum_likelihood(Rankings(shown, [[30, 21], [12, 8]], [50, 50], items=2))
    >>> estimate.attractiveness.round(2), estimate.position_bias.round(2), estimate.converged
    (array([0.43, 0.4 ]), array([1. , 0.7]), True)
    """
    if not isinstance(rankings, Rankings):
        raise InvalidInput(f"maximum likelihood needs Rankings, which hold the items shown together, got {rankings!r}")
    tally = rankings.tally
    unbeaten, beaten, seen = _without_unbeaten(rankings)
    joint = Joint.of(beaten)
    position_bias, attractiveness, sweeps, at_rest = joint.maximise()
    attractiveness[~(seen.clicks.any(axis=0) | seen.passes.any(axis=0))] = np.nan
    attractiveness[unbeaten] = np.inf
    unknown_without_use(position_bias, tally.clicks.sum(axis=1), seen.clicks.sum(axis=1))

    def errors() -> tuple[FloatArray, FloatArray]:
        return joint.log_errors(np.nan_to_num(position_bias), np.nan_to_num(attractiveness, posinf=0.0), *tied(seen))

    def error_of(of_items: FloatArray, of_slots: FloatArray) -> float:
        return joint.log_error_of(
            np.nan_to_num(position_bias), np.nan_to_num(attractiveness, posinf=0.0), of_items, of_slots
        )

    return Estimate(
        attractiveness,
        position_bias,
        at_rest and not unbeaten.any(),
        not unbeaten.any() and is_identifiable(seen),
        sweeps,
        Uncertainty(
            errors,
            tally.passes.astype(np.float64),
            silent_items=(tally.clicks.sum(axis=0) == 0) & (tally.passes.sum(axis=0) > 0),
            silent_slots=(tally.clicks.sum(axis=1) == 0)
            & (tally.passes.sum(axis=1) > 0)
            & (np.arange(tally.slots) > 0),
            at_rest=at_rest,
            parts=lambda: groups(seen),
            log_error_of=error_of,
        ),
    )


def _seen(rankings: Rankings) -> Tally:
    """Return clicks and showings without a click: a ranking with a click on another item is evidence too."""
    clicks = rankings.tally.clicks
    return Tally(clicks, rankings.showings - clicks)


def _without_unbeaten(rankings: Rankings) -> tuple[BoolArray, Rankings, Tally]:
    """Return the items that never lose, whose α is infinite, and the rankings and counts of the others.

    An item may be in a group: whenever one of the group was shown, one of the group was clicked. Such rankings give no
    information on their other items; without them more items may turn out to be unbeaten.
    """
    unbeaten = np.zeros(rankings.items, bool)
    while True:
        seen = _seen(rankings)
        winners = _never_losing(rankings)
        if not winners.any():
            return unbeaten, rankings, seen
        # one that lost to the others of its group, and was never clicked itself, is unknown
        unbeaten |= winners & (seen.clicks.sum(axis=0) > 0)
        rows = ~(winners[np.maximum(rankings.shown, 0)] & (rankings.shown != EMPTY)).any(axis=1)
        lists = rankings.shown[rows], rankings.clicks[rows], rankings.passes[rows]
        rankings = Rankings(*lists, items=rankings.items)


def _never_losing(rankings: Rankings) -> BoolArray:
    """Return the shown items from which no chain of losses leads to an impression without a click."""
    # here, for it takes long to import, and decisions need none of it
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    nothing = rankings.items
    winners, losers = [], []
    for slot in range(rankings.slots):
        won = rankings.shown[rankings.clicks[:, slot] > 0]
        winners.append(np.repeat(won[:, slot], rankings.slots))
        losers.append(won.ravel())
    lost = rankings.shown[rankings.passes > 0].ravel()
    winner, loser = np.concatenate([*winners, np.full(len(lost), nothing)]), np.concatenate([*losers, lost])
    winner, loser = winner[loser != EMPTY], loser[loser != EMPTY]
    ones = np.ones(len(winner), np.int8)
    beats = coo_array((ones, (winner, loser)), shape=(nothing + 1, nothing + 1)).tocsr()
    shown = np.zeros(nothing + 1, bool)
    shown[rankings.shown[rankings.shown != EMPTY]] = True
    shown[breadth_first_order(beats, nothing, return_predecessors=False)] = False
    return shown[:nothing]
