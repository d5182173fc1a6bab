"""The laws of items that come and go at random, against what is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise.environments import Churn, World
from slotwise.environments.availability import NEVER
from slotwise.simulation.world_items import draw_arrivals, draw_attractiveness, draw_items, draw_lifetimes
from tests.statistical_assertions import assert_mean_is

CHURN = Churn(middle=0.2, spread=0.7, arrivals=3.0, every=100, lifetime=50.0, start=2)


def test_arrivals_are_a_poisson_process() -> None:
    """Mean and variance of the arrivals within 200 rounds are both 6, and those of their second half both 3."""
    rng, room = np.random.default_rng(1), CHURN.start + CHURN.most_arrivals(200)
    drawn = np.array([draw_arrivals(CHURN, room, rng) for _ in range(3_000)])
    assert (drawn[:, :2] == 0).all()
    assert (np.diff(drawn, axis=1) >= 0).all()
    assert drawn[:, 2:].min() == 1
    within = (drawn[:, 2:] <= 200).sum(axis=1)
    late = within - (drawn[:, 2:] <= 100).sum(axis=1)
    assert_mean_is([6.0, 3.0], np.array([within, late]).T)
    assert_mean_is([6.0, 3.0], np.array([(within - 6.0) ** 2, (late - 3.0) ** 2]).T)


def test_lifetimes_are_geometric() -> None:
    stays = draw_lifetimes(CHURN, 5_000, np.random.default_rng(1))
    assert stays.min() == 1
    assert_mean_is(50.0, stays)
    assert_mean_is(50.0**2 - 50.0, (stays - 50.0) ** 2)
    assert draw_lifetimes(Churn(middle=1.0, spread=0.0), 2, np.random.default_rng(1)).tolist() == [NEVER] * 2


def test_as_many_are_there_as_come_in_a_lifetime() -> None:
    """With 30 at the start, 1 arrival per 10 rounds and a lifetime of 300, 30 are expected to be there at any time."""
    churn = Churn(middle=0.2, spread=0.5, arrivals=1.0, every=10, lifetime=300.0, start=30)
    world, rng = World(position_bias=[1.0, 0.5], churn=churn), np.random.default_rng(1)
    there = []
    for _ in range(500):
        drawn = draw_items(world, 1_000, rng)
        assert len(drawn.arrivals) == world.items_in(1_000)
        there.append([((drawn.arrivals <= at) & (drawn.departures > at)).sum() for at in (100, 400, 1_000)])
    assert_mean_is(30.0, there)


@pytest.mark.parametrize("agreement", [0.0, 0.6, 1.0])
def test_attractiveness_is_log_normal_and_segments_agree(agreement: float) -> None:
    churn = Churn(middle=0.2, spread=0.7, agreement=agreement, features=4, explained=0.3)
    rng = np.random.default_rng(2)
    # items of one world share its weights; the first of many worlds are independent
    drawn = np.array([draw_attractiveness(churn, 2, 1, rng)[0][:, 0] for _ in range(4_000)])
    logs = np.log(drawn / 0.2)
    assert_mean_is(0.0, logs)
    assert_mean_is(0.49, logs**2)
    assert_mean_is(0.49 * agreement, logs[:, 0] * logs[:, 1])


@pytest.mark.parametrize(("agreement", "features"), [(1.0, 1), (0.5, 3), (0.0, 2)])
def test_features_explain_their_part(agreement: float, features: int) -> None:
    """What a regression on the features leaves has the rest of the variance, and they are standard normal."""
    churn = Churn(middle=0.2, spread=0.7, agreement=agreement, features=features, explained=0.4)
    attractiveness, rows = draw_attractiveness(churn, 2, 5_000, np.random.default_rng(3))
    assert rows.shape == (5_000, features)
    assert_mean_is(1.0, rows**2)
    logs = np.log(attractiveness / 0.2).T
    weights = np.linalg.lstsq(rows, logs, rcond=None)[0]
    left = (logs - rows @ weights) * math.sqrt(5_000 / (5_000 - features))
    assert_mean_is(0.49 * 0.6, left**2)
    assert_mean_is(0.49 * 0.4, (rows @ weights) ** 2)


def test_given_items_keep_their_places_and_leave_by_the_law_of_churn_unless_they_are_given_theirs() -> None:
    rng, given = np.random.default_rng(1), [0.5, 0.6]
    staying = World(position_bias=[1.0], attractiveness=given, churn=CHURN, departures=[None, 7])
    drawn = draw_items(staying, 100, rng)
    assert drawn.attractiveness[0, :2].tolist() == [0.5, 0.6]
    assert drawn.departures[:2].tolist() == [NEVER, 7]
    leaving = World(position_bias=[1.0], attractiveness=given, churn=CHURN)
    assert_mean_is(50.0, [draw_items(leaving, 100, rng).departures[:2] for _ in range(1_000)])


def test_there_is_always_an_item() -> None:
    churn = Churn(middle=0.2, spread=0.5, arrivals=1.0, every=20, lifetime=5.0, start=1)
    world, rng = World(position_bias=[1.0], churn=churn), np.random.default_rng(1)
    for _ in range(20):
        drawn = draw_items(world, 300, rng)
        for now in range(300):
            assert ((drawn.arrivals <= now) & (drawn.departures > now)).any()
