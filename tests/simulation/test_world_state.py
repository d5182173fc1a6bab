"""The laws of what changes: closed forms, against what is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise import MNL
from slotwise.click_models import best_ranking_by_brute_force, reward
from slotwise.environments import Cycle, Delay, Jump, Segment, Walk, World
from slotwise.simulation.world_state import change, draw_due, draw_segment
from tests.simulation.worlds import BIAS, OTHER_TASTES, TASTES, started
from tests.statistical_assertions import assert_frequencies, assert_mean_is

pytestmark = pytest.mark.usefixtures("interpreting")


def _with_delay(delay: Delay) -> World:
    return World(position_bias=[1.0], attractiveness=[0.5], delay=delay)


def test_random_delays_are_geometric() -> None:
    state, rng = started(_with_delay(Delay(mean_rounds=4.0)))
    delays = np.array([draw_due(state, 10, rng) - 11 for _ in range(4_000)])
    assert_frequencies(0.2 * 0.8 ** np.arange(40), np.bincount(delays, minlength=40)[:40])
    assert_mean_is(4.0, delays)
    assert_mean_is(20.0, (delays - 4.0) ** 2)


def test_delays_add_up_and_wait_for_their_batch() -> None:
    state, rng = started(_with_delay(Delay(rounds=3, every=10)))
    assert [draw_due(state, now, rng) for now in (0, 6, 7, 16)] == [10, 10, 20, 20]
    state, rng = started(_with_delay(Delay(rounds=7, mean_rounds=4.0)))
    assert_mean_is(11.0, [draw_due(state, 0, rng) - 1 for _ in range(2_000)])


def test_segments_look_by_their_shares_and_one_alone_draws_nothing() -> None:
    shares = [0.5, 0.2, 0.3]
    state, rng = started(World(position_bias=BIAS, segments=[Segment(share, TASTES[0]) for share in shares]))
    assert_frequencies(shares, np.bincount([draw_segment(state, rng) for _ in range(3_000)], minlength=3))
    alone, rng = started(World(position_bias=BIAS, attractiveness=TASTES[0]))
    before = rng.bit_generator.state
    assert draw_segment(alone, rng) == 0
    assert rng.bit_generator.state == before


def test_the_walk_is_stationary_with_its_correlation() -> None:
    """Items are independent: each is a sample. 300 rounds are 6 steps, and as long as the correlation time."""
    base = np.linspace(0.1, 0.5, 4_000)
    state, rng = started(World(position_bias=[1.0], attractiveness=base, walk=Walk(sd=0.5, rounds=300.0), step=50))
    walked = []
    for now in range(0, 301, 50):
        change(state, now, rng)
        walked.append(np.log(state.attractiveness[0] / base))
    start, near, far = walked[0], walked[1], walked[-1]
    assert_mean_is(0.0, np.array([start, near, far]).T)
    assert_mean_is(0.25, np.array([start, near, far]).T ** 2)
    assert_mean_is(0.25 * np.exp([-1 / 6, -1.0]), np.array([start * near, start * far]).T)


def test_the_cycle_is_its_formula_at_its_steps() -> None:
    cycle = Cycle(amplitude=0.6, period=48.0, phases=[0.0, 0.25, 0.6, 0.1, 0.9])
    world = World(position_bias=BIAS, segments=[Segment(0.5, taste) for taste in TASTES], cycle=cycle, step=5)
    state, rng = started(world)
    for now in range(0, 100, 5):
        assert state.next_change == now
        change(state, now, rng)
        for item, phase in enumerate([0.0, 0.25, 0.6, 0.1, 0.9]):
            factor = math.exp(0.6 * math.sin(2 * math.pi * (now / 48.0 + phase)))
            assert state.attractiveness[:, item] == pytest.approx(factor * np.array(TASTES)[:, item])


def test_phases_are_uniform_unless_given() -> None:
    many = World(position_bias=[1.0], attractiveness=np.ones(3_000), cycle=Cycle(amplitude=0.1, period=10.0))
    phases = started(many)[0].phases
    assert_frequencies(np.full(10, 0.1), np.histogram(phases, 10, (0.0, 1.0))[0])


def test_jumps_come_at_their_round() -> None:
    world = World(
        position_bias=BIAS,
        segments=[Segment(0.5, taste) for taste in TASTES],
        drift=[Jump(70, TASTES[0]), Jump(20, OTHER_TASTES)],
    )
    state, rng = started(world)
    assert not change(state, 1, rng)
    for at, tastes in ((20, OTHER_TASTES), (70, [TASTES[0]] * 2)):
        assert state.next_change == at
        change(state, at, rng)
        assert np.array_equal(state.attractiveness, tastes)


def test_the_best_list_is_best_among_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        bias, tastes = rng.uniform(0.1, 1.0, (2, 3)), rng.uniform(0.1, 1.0, (2, 5))
        segments = [Segment(0.5, taste, own) for taste, own in zip(tastes, bias, strict=True)]
        state, own_rng = started(World(segments=segments))
        change(state, 0, own_rng)
        for segment in range(2):
            users = MNL(position_bias=bias[segment], attractiveness=tastes[segment])
            best = best_ranking_by_brute_force(users)
            assert state.best[segment].tolist() == best.tolist()
            assert state.best_reward[segment] == pytest.approx(reward(users, best))
