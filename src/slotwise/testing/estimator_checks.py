"""Conformance checks of an estimator: consistency, order of items, and data without a click."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.click_models import MNL, draw
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators import Estimate, EstimatorEntry
from slotwise.estimators.estimator_registry import estimator as get_estimator
from slotwise.jit import interpreted

USERS = MNL(position_bias=[1.0, 0.5], attractiveness=[0.9, 0.5, 0.3])
ROUNDS = 12_000
#: the relative error allowed after that many rounds: at least ten standard errors
TOLERANCE = 0.25


def check_estimator(estimator: str | EstimatorEntry) -> None:
    """Check that an estimator finds attractiveness and position bias, in any order of the items.

    Parameters
    ----------
    estimator
        A registered estimator or its id.

    Raises
    ------
    AssertionError
        If a requirement is not met; the message names it.

    Examples
    --------
    >>> check_estimator("known-bias")
    """
    entry = get_estimator(estimator) if isinstance(estimator, str) else estimator
    counts = _rounds(USERS.attractiveness)
    with interpreted():
        estimate = _estimate(entry, counts)
        _check_close(entry, "attractiveness", _scaled(estimate), USERS.attractiveness)
        _check_close(entry, "position_bias", estimate.position_bias / estimate.position_bias[0], USERS.position_bias)
        other = _estimate(entry, _relabelled(counts))
    same = np.allclose(_scaled(other)[::-1], _scaled(estimate), rtol=1e-4)
    assert same, f"{entry.id} must give each item the same attractiveness in any order of the items"


def _rounds(attractiveness: FloatArray) -> Rankings:
    rng = np.random.default_rng(1)
    users = MNL(position_bias=USERS.position_bias, attractiveness=attractiveness)
    lists = np.array([rng.permutation(users.items)[: users.slots] for _ in range(ROUNDS)])
    clicked = np.array([draw(users, ranking, rng) for ranking in lists])
    return Rankings.of_rounds(lists, clicked, items=users.items)


def _relabelled(counts: Rankings) -> Rankings:
    last = USERS.items - 1
    return Rankings(last - counts.shown, counts.clicks, counts.passes, items=USERS.items)


def _estimate(entry: EstimatorEntry, counts: Rankings) -> Estimate:
    data: Any = counts if entry.needs == "rankings" else counts.tally
    return entry.tried(data, USERS.position_bias)


def _scaled(estimate: Estimate) -> FloatArray:
    """Attractiveness in the first slot, which has no arbitrary scale."""
    return np.asarray(estimate.attractiveness * estimate.position_bias[0])


def _check_close(entry: EstimatorEntry, name: str, value: FloatArray, truth: FloatArray) -> None:
    error = float(np.abs(value / truth - 1.0).max())
    assert error < TOLERANCE, f"{entry.id} must estimate {name} {truth.tolist()}, got {value.round(3).tolist()}"
