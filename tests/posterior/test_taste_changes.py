"""Changes of tastes: what is compared, what is adopted, and what changes for draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from slotwise import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.posterior import HierarchicalPosterior, draw_parameters, update
from slotwise.posterior.state import DECAYED
from slotwise.posterior.taste_changes import (
    DRIFT_HALF_LIVES,
    DRIFT_SHAPES,
    FALSE_ALARMS,
    NO_DRIFT,
    PERIOD,
    SCORE_DECAY,
    WINDOWS,
    watch,
)
from tests.posterior.plain_posterior import drawn_rounds, plain_hierarchical_posterior

BIAS, ALPHA = np.array([1.0, 0.5]), np.array([0.9, 0.3, 0.6, 0.1])
GAMMA = np.outer(BIAS, ALPHA)
TASK = PolicyTask(2, 4, 100_000)


def _watch(posterior: HierarchicalPosterior) -> bool:
    return watch(posterior.forgetting, posterior.counts, posterior.items, posterior.segments)


def _learn(posterior: HierarchicalPosterior, gamma: FloatArray, periods: int, rng: np.random.Generator) -> None:
    """Rounds with random lists, one period after the other."""
    for number, (ranking, clicked) in enumerate(drawn_rounds(gamma, periods * int(PERIOD), rng)):
        update(posterior, ranking, clicked)
        if number % 50 == 49:
            draw_parameters(posterior, rng)


def _log_probability(shape: FloatArray, rate: FloatArray, clicks: FloatArray, expected: FloatArray) -> float:
    """Of clicks whose mean is `expected` times a Gamma variable, less that of Poisson clicks with mean `expected`."""
    found = stats.nbinom.logpmf(clicks, shape, rate / (rate + expected)) - stats.poisson.logpmf(clicks, expected)
    return float(np.sum(found))


def test_scores_are_predictive_log_likelihood_ratios() -> None:
    posterior = plain_hierarchical_posterior(TASK, half_life="auto")
    rng, changes = np.random.default_rng(4), posterior.forgetting.changes
    _learn(posterior, GAMMA, 3, rng)
    before = changes.drifts.copy(), changes.leads.copy(), changes.unchanged
    for ranking, clicked in drawn_rounds(GAMMA, int(PERIOD), rng):
        update(posterior, ranking, clicked)
    rounds = PERIOD - posterior.forgetting.rounds_left
    _watch(posterior)
    (now, *past), (expected, *past_expected) = changes.clicks, changes.expected
    unchanged = changes.unchanged - SCORE_DECAY * before[2]
    assert unchanged == pytest.approx(-expected.sum())
    added = changes.drifts - SCORE_DECAY * before[0] - unchanged
    for number, half_life in enumerate(DRIFT_HALF_LIVES):
        for place, shape in enumerate(DRIFT_SHAPES):
            row = WINDOWS + number
            ratio = _log_probability(shape + past[row], shape + past_expected[row], now, expected)
            assert added[number * len(DRIFT_SHAPES) + place] == pytest.approx(ratio, abs=1e-6)
        # and the memory decays
        kept = posterior.counts.clicks[DECAYED + WINDOWS + number, 0]
        assert kept == pytest.approx(0.5 ** (rounds / half_life) * past[WINDOWS + number] + now)
    shape, mean = posterior.items.shape, posterior.items.mean
    for window in np.flatnonzero(changes.ages > 1.0):
        rate = shape * posterior.segments.mean[0] / mean + past_expected[window]
        ratio = _log_probability(shape + past[window], rate, now, expected)
        assert changes.leads[window] - before[1][window] == pytest.approx(ratio, abs=1e-6)


@pytest.mark.parametrize("passes", ["hard", "soft"])
def test_auto_is_identical_to_none_until_something_changes(passes: str) -> None:
    """To the last bit; five lists are remembered, so that others are folded on the way."""
    rounds = drawn_rounds(GAMMA, 6_500, np.random.default_rng(6))
    never, may = (
        plain_hierarchical_posterior(TASK, passes=passes, half_life=half_life, room=5) for half_life in ("none", "auto")
    )
    for number, (ranking, clicked) in enumerate(rounds):
        for posterior in (never, may):
            update(posterior, ranking, clicked)
            if number % 50 == 0:
                draw_parameters(posterior, np.random.default_rng(number))
        for field in ("position_bias", "shape", "rate"):
            assert getattr(may, field).tolist() == getattr(never, field).tolist()
    assert may.forgetting.changes.age >= 8.0
    assert np.abs(may.forgetting.changes.drifts).min() > 0.0


def test_after_a_break_only_the_counts_since_are_left() -> None:
    posterior, rng = plain_hierarchical_posterior(TASK, half_life="auto"), np.random.default_rng(5)
    _learn(posterior, GAMMA, 40, rng)
    assert posterior.counts.rounds == pytest.approx(40 * PERIOD, rel=0.05)
    _learn(posterior, np.outer(BIAS, ALPHA[::-1]), 8, rng)
    assert posterior.counts.rounds < 10 * PERIOD
    assert posterior.forgetting.changes.age <= 9.0
    draw_parameters(posterior, rng)
    assert np.argsort(posterior.shape / posterior.rate).tolist() == np.argsort(ALPHA[::-1]).tolist()


def test_under_drift_means_move_and_the_posterior_stays_as_wide() -> None:
    posterior, rng = plain_hierarchical_posterior(TASK, half_life="auto"), np.random.default_rng(7)
    _learn(posterior, GAMMA, 4, rng)
    changes = posterior.forgetting.changes
    plain = []
    for ratio in (np.ones(4), np.array([0.5, 1.0, 2.0, 1.0])):
        changes.ratio[:] = ratio
        posterior.draw.decisions_left, posterior.is_current = 0, False
        draw_parameters(posterior, np.random.default_rng(1))
        plain.append((posterior.shape.copy(), posterior.shape / posterior.rate))
    assert plain[1][0].tolist() == plain[0][0].tolist()
    assert plain[1][1] == pytest.approx(plain[0][1] * [0.5, 1.0, 2.0, 1.0])


def test_a_small_wave_is_drift_and_not_a_break() -> None:
    """Items that swing by 20 % within 24 periods: followed, and nothing is dropped."""
    posterior, rng = plain_hierarchical_posterior(TASK, half_life="auto"), np.random.default_rng(8)
    changes, phases, drifts = posterior.forgetting.changes, np.arange(4) / 4.0, 0
    for period in range(96):
        wave = np.exp(0.2 * np.sin(2.0 * np.pi * (period / 24.0 + phases)))
        _learn(posterior, GAMMA * wave, 1, rng)
        drifts += changes.drift != NO_DRIFT
    assert drifts > 30
    assert posterior.counts.rounds == pytest.approx(96 * PERIOD, rel=0.02)


def test_evidence_has_to_be_enough() -> None:
    posterior = plain_hierarchical_posterior(TASK, half_life="auto")
    changes = posterior.forgetting.changes
    for missing, drift in ((0.1, NO_DRIFT), (-0.1, 3)):
        changes.drifts[:], changes.unchanged = 0.0, 0.0
        changes.drifts[3] = (-math.log(FALSE_ALARMS) - missing) / SCORE_DECAY
        _watch(posterior)  # without a round: all scores fade alike
        assert changes.drift == drift
    changes.age = 9.0
    changes.leads[changes.ages == 1.0] = math.log(10.0 / FALSE_ALARMS) - 0.1
    assert not _watch(posterior)
    changes.leads[changes.ages == 2.0] = math.log(11.0 / FALSE_ALARMS) + 0.1
    assert _watch(posterior)
    assert changes.age == 3.0


def test_the_ages_of_windows_are_spread_out() -> None:
    posterior = plain_hierarchical_posterior(TASK, half_life="auto")
    for _ in range(100):
        _watch(posterior)
    ages = np.sort(posterior.forgetting.changes.ages)
    assert ages[0] == 0.0
    assert len(set(ages)) == WINDOWS
    assert ages[-1] > 50.0
    assert ((ages[1:] + 1.0) / (ages[:-1] + 1.0)).max() < 4.5
