"""Where and how often items were shown: what it says of them, and how little where that was a few times."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise.estimators.pooled.cell_prior import CellPrior
from slotwise.estimators.pooled.exposure_prior import Shown


def test_chance_is_the_sampling_variance_of_slots_and_impressions() -> None:
    """2,000 items that a page shows alike: their slots and shares of 40 impressions differ by chance alone."""
    rng = np.random.default_rng(3)
    wanted = np.array([0.3, 0.2, 0.1])
    shown = np.array([rng.multinomial(40, [*wanted, 0.4])[:3] for _ in range(2_000)], np.float64).T
    found = Shown.of(shown, np.full(2_000, 40.0))
    share = wanted / wanted.sum()
    assert found.of_one == pytest.approx(np.diag(share) - np.outer(share, share), abs=0.01)
    # standardised: chance is all of its variance
    assert found.by_chance.mean() == pytest.approx(1.0, rel=0.1)


def test_one_slot_and_equal_exposure_give_no_covariates() -> None:
    found = Shown.of(np.array([[4.0, 4.0]]), np.array([4.0, 4.0]))
    assert found.slot_shares.shape == found.how_often.shape == (2, 0)
    assert not found.by_chance.any()


def test_a_rarely_shown_cell_has_a_wider_prior() -> None:
    shown = Shown.of(np.array([[30.0, 1.0, 0.0], [10.0, 1.0, 1.0]]), np.full(3, 40.0))
    prior = CellPrior.of(0.5, shown, np.zeros(3, np.int64), np.arange(3))
    prior.weights = np.array([0.0, 0.8, -0.4, 0.3])
    # slots say 0.8 or -0.4 of a cell, and it is in either by chance
    by_slots = (0.8 + 0.4) ** 2 * shown.of_one[0, 0] / np.array([40.0, 2.0, 1.0])
    assert 1.0 / prior.shapes - 1.0 / prior.shape == pytest.approx(by_slots + 0.3**2 * shown.by_chance)
