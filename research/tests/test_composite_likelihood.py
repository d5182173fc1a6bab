"""The composite likelihood: its maximum against brute force, its score, and data without an answer."""

from __future__ import annotations

import numpy as np
import pytest

from research.composite_likelihood import composite
from slotwise import MNL, Tally
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.simulation.data_collection import at_random
from tests.estimators.test_likelihoods import by_brute_force


@pytest.fixture(scope="module")
def seen(small: MNL) -> Rankings:
    return at_random(small, 800, np.random.default_rng(1))


def composite_log_likelihood(tally: Tally, position_bias: FloatArray, attractiveness: FloatArray) -> float:
    gamma = np.outer(position_bias, attractiveness)
    return float((tally.clicks * np.log(gamma) - (tally.clicks + tally.passes) * np.log1p(gamma)).sum())


def test_it_equals_the_brute_force_maximum(seen: Rankings) -> None:
    found = composite(seen)
    bias, alpha = by_brute_force(lambda bias, alpha: composite_log_likelihood(seen.tally, bias, alpha), 3, 4)
    assert found.converged
    assert found.attractiveness == pytest.approx(alpha, rel=1e-4)
    assert found.position_bias == pytest.approx(bias, rel=1e-4)


def test_the_score_vanishes(seen: Rankings) -> None:
    tally, found = seen.tally, composite(seen)
    gamma = np.outer(found.position_bias, found.attractiveness)
    residual = (tally.clicks - gamma * tally.passes) / (1 + gamma)
    assert residual.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert residual.sum(axis=1)[1:] == pytest.approx(0, abs=1e-6)


def test_a_slot_without_clicks_is_worth_nothing() -> None:
    estimate = composite(Rankings([[0, 1], [1, 0]], [[5, 0], [4, 0]], [9, 8], items=2))
    assert estimate.position_bias.tolist() == [1.0, 0.0]
    assert estimate.attractiveness == pytest.approx([5 / 9, 4 / 8])
    assert not estimate.identifiable


def test_slots_of_a_log_in_which_everything_is_clicked_are_unknown() -> None:
    found = composite(Rankings([[0, 1], [1, 0]], [[100, 80], [90, 70]], [0, 0], items=2))
    assert np.isnan(found.position_bias[1])
    assert np.isinf(found.intervals().position_bias.high[1])
