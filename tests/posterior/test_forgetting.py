"""Forgetting: counts decay as if weighted by hand, and the half-life in use predicts best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special

from slotwise import NO_CLICK, PolicyTask, get_policy
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.posterior import HierarchicalPosterior, draw_parameters, update
from slotwise.posterior.forgetting import (
    HALF_LIFE_GRID,
    MIN_LEAD,
    SCORE_DECAY,
    CountsByPeriod,
    best_half_life,
    end_period,
    parse_half_lives,
    start_forgetting,
)
from slotwise.posterior.posterior_interface import set_segment
from slotwise.posterior.updates import refresh
from tests.posterior.plain_posterior import drawn_rounds, list_sum, parts, plain_hierarchical_posterior

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
        end_period(posterior.forgetting, *parts(posterior))
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
        end_period(posterior.forgetting, *parts(posterior))
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
    end_period(posterior.forgetting, *parts(posterior))
    _learn(posterior, second[:13])
    for found, part in ((posterior.counts.clicks[0], 0), (posterior.counts.passes, 2)):
        assert found == pytest.approx(_counts(first)[part] + _counts(second[:13])[part], rel=1e-12)


def _log_probability(
    posterior: HierarchicalPosterior,
    past: list[FloatArray],
    now: tuple[FloatArray, FloatArray, FloatArray],
    mode: FloatArray,
) -> float:
    """Σ [log Γ(A+n) - log Γ(A) + A log B - (A+n) log(B+e)] + Σ n log λ, by scipy."""
    bias = np.exp(mode)
    shape = posterior.items.shape + past[0][0]
    rate = posterior.items.shape / posterior.items.mean + past[2][0] @ bias
    clicks, exposure = now[0][0], now[2][0] @ bias
    cells = special.gammaln(shape + clicks) - special.gammaln(shape)
    cells = cells + shape * np.log(rate) - (shape + clicks) * np.log(rate + exposure)
    return float(cells[exposure > 0.0].sum() + now[1][0] @ mode)


def test_scores_are_predictive_log_probabilities() -> None:
    posterior = plain_hierarchical_posterior(PolicyTask(2, 4, 10_000), passes="hard", half_life="auto")
    rng, rounds = np.random.default_rng(4), 1_000
    kept = [0.5 ** (rounds / half_life) for half_life in HALF_LIFE_GRID]
    past = [[np.zeros((1, 4)), np.zeros((1, 2)), np.zeros((1, 4, 2))] for _ in HALF_LIFE_GRID]
    scores = np.zeros(len(HALF_LIFE_GRID))
    for _ in range(4):
        period = [(*one, 0) for one in drawn_rounds(GAMMA, rounds, rng)]
        _learn(posterior, period)
        now = _counts(period, segments=1)
        for number in range(len(HALF_LIFE_GRID)):
            mode = _mode(posterior, past[number])
            scores[number] = SCORE_DECAY * scores[number] + _log_probability(posterior, past[number], now, mode)
            past[number] = [kept[number] * old + new for old, new in zip(past[number], now, strict=True)]
        # the hyperparameters are those of the beginning of the period, as in `refresh`
        end_period(posterior.forgetting, *parts(posterior))
        # Newton's method stops within 1e-4 of the mode, which is flat
        assert posterior.forgetting.scores == pytest.approx(scores, rel=1e-5)
        for _ in range(3):
            refresh(posterior, 1)


def _mode(posterior: HierarchicalPosterior, past: list[FloatArray]) -> FloatArray:
    c, s = posterior.bias.shape, posterior.items.shape

    def loss(log_bias: FloatArray) -> float:
        bias = np.exp(log_bias)
        rate = s / posterior.items.mean + past[2][0] @ bias
        shown = past[2][0].sum(axis=1) > 0.0
        of_slots = (c + past[1][0]) * log_bias - c * bias
        return float(((s + past[0][0]) * np.log(rate))[shown].sum() - of_slots.sum())

    found: FloatArray = optimize.minimize(loss, np.zeros(2), tol=1e-12).x
    return found


def _half_lives_in_use(gammas: list[FloatArray], seed: int, passes: str = "soft") -> list[float]:
    """The half-life in use at the end of each period of a world that has these odds, one period after another."""
    posterior, rng = (
        plain_hierarchical_posterior(PolicyTask(2, 4, 10_000), passes=passes, half_life="auto"),
        np.random.default_rng(seed),
    )
    in_use = []
    for gamma in gammas:
        for number, (ranking, clicked) in enumerate(drawn_rounds(gamma, 1_000, rng)):
            if number % 100 == 0:
                draw_parameters(posterior, rng)
            update(posterior, ranking, clicked)
        draw_parameters(posterior, rng)
        in_use.append(float(posterior.forgetting.half_lives[posterior.forgetting.best]))
    return in_use


@pytest.mark.parametrize("passes", ["hard", "soft"])
def test_nothing_is_forgotten_until_attractiveness_changes(passes: str) -> None:
    """Of 30 other seeds 4 used a half-life in one or two of the first eight periods, and all did after the change."""
    reversed_taste = np.outer(BIAS, ALPHA[::-1])
    in_use = _half_lives_in_use([GAMMA] * 8 + [reversed_taste] * 3, seed=5, passes=passes)
    assert in_use[:8].count(math.inf) >= 5
    assert max(in_use[9:]) <= 30_000.0


@pytest.mark.parametrize("passes", ["hard", "soft"])
def test_auto_is_identical_to_none_until_it_decays(passes: str) -> None:
    """To the last bit; five lists are remembered, so that others are folded on the way."""
    task, rounds = PolicyTask(2, 4, 10_000), drawn_rounds(GAMMA, 6_500, np.random.default_rng(6))
    never, may = (
        plain_hierarchical_posterior(task, passes=passes, half_life=half_life, room=5) for half_life in ("none", "auto")
    )
    for number, (ranking, clicked) in enumerate(rounds):
        for posterior in (never, may):
            update(posterior, ranking, clicked)
            if number % 50 == 0:
                draw_parameters(posterior, np.random.default_rng(number))
        for field in ("position_bias", "shape", "rate"):
            assert getattr(may, field).tolist() == getattr(never, field).tolist()
    assert may.forgetting.best == 0
    assert np.abs(may.forgetting.scores).min() > 0.0


def test_a_half_life_is_used_only_with_a_clear_lead() -> None:
    posterior = plain_hierarchical_posterior(PolicyTask(2, 4, 10_000), half_life="auto")
    for lead, best in ((MIN_LEAD - 0.1, 0), (MIN_LEAD + 0.1, 3)):
        posterior.forgetting.scores[:] = 0.0
        posterior.forgetting.scores[3] = lead / SCORE_DECAY
        posterior.forgetting.rounds_left = 0.0
        end_period(posterior.forgetting, *parts(posterior))  # without a round: all scores fade alike
        assert posterior.forgetting.best == best


def test_without_forgetting_no_period_ends() -> None:
    half_life = start_forgetting("none", 2, 4, 2)
    assert half_life.period == half_life.rounds_left == math.inf
    assert len(half_life.half_lives) == half_life.past.size == 0
    assert parse_half_lives(None).tolist() == []
    assert parse_half_lives("auto").tolist() == list(HALF_LIFE_GRID)
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
