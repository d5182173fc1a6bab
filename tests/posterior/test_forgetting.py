"""Forgetting: counts decay as if weighted by hand, and the half-life of a log predicts best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.posterior import HierarchicalPosterior, update
from slotwise.posterior.forgetting import (
    CountsByPeriod,
    best_half_life,
    end_period,
    parse_half_lives,
    period_of,
    start_forgetting,
)
from slotwise.posterior.posterior_interface import set_segment
from slotwise.posterior.taste_changes import DRIFT_HALF_LIVES, PERIOD, WINDOWS
from tests.posterior.plain_posterior import drawn_rounds, list_sum, plain_hierarchical_posterior

BIAS, ALPHA = np.array([1.0, 0.5]), np.array([0.9, 0.3, 0.6, 0.1])
GAMMA = np.outer(BIAS, ALPHA)


def _periods(count: int, rounds: int, seed: int) -> list[list[tuple[Any, int, int]]]:
    """Rounds by period, each with the segment that saw it."""
    rng = np.random.default_rng(seed)
    return [
        [(*one, int(rng.integers(0, 2))) for one in drawn_rounds(GAMMA, rounds, rng)] for _ in range(count)
    ]  # fmt: skip


def _counts(period: list[tuple[Any, int, int]], segments: int = 2) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By hand: clicks of cells, clicks of slots, passes."""
    clicks, slot_clicks, passes = np.zeros((segments, 4)), np.zeros((segments, 2)), np.zeros((segments, 4, 2))
    for ranking, clicked, segment in period:
        if clicked == NO_CLICK:
            passes[segment, ranking, np.arange(2)] += 1.0
        else:
            clicks[segment, ranking[clicked]] += 1.0
            slot_clicks[segment, clicked] += 1.0
    return clicks, slot_clicks, passes


def _learn(posterior: HierarchicalPosterior, period: list[tuple[Any, int, int]]) -> None:
    for ranking, clicked, segment in period:
        set_segment(posterior, segment)
        update(posterior, ranking, clicked)


def _end_period(posterior: HierarchicalPosterior) -> None:
    end_period(posterior.forgetting, posterior.counts, posterior.items, posterior.segments)


@pytest.mark.parametrize("half_life", [70.0, 2_000.0, 333.3])
def test_counts_decay_as_if_periods_were_weighted_by_hand(half_life: float) -> None:
    posterior = plain_hierarchical_posterior(PolicyTask(2, 4, 10_000, segments=2), passes="hard", half_life=half_life)
    rounds = max(1.0, min(1_000.0, half_life / 20.0))
    assert posterior.forgetting.period == rounds
    rounds = math.ceil(rounds)
    periods = _periods(6, rounds, seed=1)
    for period in periods:
        _learn(posterior, period)
        assert posterior.forgetting.rounds_left <= 0.0
        _end_period(posterior)
    # as many rounds as there were, even where a period ends within one
    weights = [2.0 ** (-age * rounds / half_life) for age in reversed(range(len(periods)))]
    for found, part in (
        (posterior.counts.clicks[0], 0),
        (posterior.counts.slot_clicks[0], 1),
        (posterior.counts.passes, 2),
    ):
        expected = sum(w * _counts(period)[part] for w, period in zip(weights, periods, strict=True))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    passed = sum(w * _counts(p)[2].sum() / 2 for w, p in zip(weights, periods, strict=True))
    clicked = sum(w * _counts(p)[0].sum() for w, p in zip(weights, periods, strict=True))
    assert posterior.counts.rounds == pytest.approx(passed + clicked, rel=1e-12)
    assert posterior.forgetting.rounds_left == posterior.forgetting.period


def test_lists_decay_likewise() -> None:
    """With soft passes the rounds of each list decay, and are weighed at the current estimates."""
    posterior = plain_hierarchical_posterior(PolicyTask(2, 4, 10_000, segments=2), half_life=400.0)
    periods = _periods(4, 20, seed=2)
    for period in periods:
        _learn(posterior, period)
        _end_period(posterior)
    expected: dict[tuple[int, ...], float] = {}
    for age, period in enumerate(reversed(periods)):
        for ranking, _, segment in period:
            key = (segment, *ranking.tolist())
            expected[key] = expected.get(key, 0.0) + 2.0 ** (-age * 20 / 400.0)
    seen = posterior.counts.lists
    found = {tuple(seen.lists[n].tolist()): float(seen.rounds[0, n]) for n in range(seen.count)}
    assert found == pytest.approx(expected, rel=1e-12)
    passes = np.zeros((2, 4, 2))
    for (segment, *ranking), rounds in expected.items():
        passes[segment, ranking, np.arange(2)] += rounds / (1.0 + list_sum(posterior, segment, ranking))
    assert posterior.counts.passes == pytest.approx(passes, rel=1e-12)


def test_the_current_period_counts_in_full() -> None:
    posterior = plain_hierarchical_posterior(PolicyTask(2, 4, 10_000, segments=2), passes="hard", half_life=400.0)
    first, second = _periods(2, 20, seed=3)
    _learn(posterior, first)
    _end_period(posterior)
    _learn(posterior, second[:13])
    for found, part in ((posterior.counts.clicks[0], 0), (posterior.counts.passes, 2)):
        assert found == pytest.approx(_counts(first)[part] + _counts(second[:13])[part], rel=1e-12)


def test_without_forgetting_no_period_ends() -> None:
    half_life = start_forgetting("none", 2, 4, 2)
    assert half_life.period == half_life.rounds_left == math.inf
    assert len(half_life.half_lives) == half_life.passes.size == 0
    assert parse_half_lives(None).tolist() == []
    assert parse_half_lives("auto").tolist() == [math.inf] * WINDOWS + list(DRIFT_HALF_LIVES)
    assert period_of("auto") == PERIOD
    assert parse_half_lives(500).tolist() == [500.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (-5, "half_life must be positive and finite, got -5"),
        (0, "half_life must be positive and finite, got 0"),
        (math.nan, "half_life must be positive and finite, got nan"),
        (math.inf, "half_life must be positive and finite, got inf"),
        ("a week", "half_life must be none, auto or a number of rounds, got 'a week'"),
        ("1000", "half_life must be none, auto or a number of rounds, got '1000'"),
        (True, "half_life must be a number, got True"),
        ([100], r"half_life must be a number, got \[100\]"),
    ],
)
def test_bad_values_are_refused_by_name(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_half_lives(wrong)
    with pytest.raises(InvalidInput, match=message):
        get_policy("thompson-sampling", half_life=wrong).start(PolicyTask(2, 4, 10))


CANDIDATES = (60.0, 30.0, 15.0, 8.0, 4.0)


def _drawn_counts(alpha: FloatArray, seed: int) -> CountsByPeriod:
    """Clicks drawn from attractiveness by period and item; items are passed a different number of times."""
    rng = np.random.default_rng(seed)
    passes = rng.poisson(np.geomspace(4.0, 100.0, alpha.shape[1]), alpha.shape)
    clicks = np.where(passes > 0, rng.negative_binomial(np.maximum(passes, 1), 1.0 / (1.0 + alpha)), 0)
    return CountsByPeriod.of_matrices(clicks.astype(float), passes.astype(float))


@pytest.mark.parametrize("mean", [0.02, 0.4])
def test_few_series_without_a_change_get_a_half_life(mean: float) -> None:
    # 1 in 100 does; more than 7 of 150 with a probability of 2e-4. With Poisson predictions, 38 in 100 of the
    # frequently clicked ones did
    alpha = np.full((30, 12), mean) * np.geomspace(0.3, 3.0, 12)
    assert sum(best_half_life(_drawn_counts(alpha, seed), CANDIDATES) is not None for seed in range(150)) <= 7


@pytest.mark.parametrize("seed", range(3))
def test_items_that_take_turns_get_a_short_half_life(seed: int) -> None:
    turns = (np.arange(30)[:, None] // 6 + np.arange(12)) % 2
    half_life = best_half_life(_drawn_counts(np.where(turns, 0.4, 0.1), seed), CANDIDATES)
    assert half_life is not None
    assert half_life <= 8.0
