from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise import MNL, NO_CLICK
from slotwise.click_models import (
    best_ranking,
    best_ranking_by_brute_force,
    click_probabilities,
    draw,
    regret,
    reward,
)
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.jit import jit
from tests.statistical_assertions import assert_frequencies, assert_mean_is

positive = st.floats(0.01, 3.0)


@st.composite
def problems(chosen: st.DrawFn) -> MNL:
    items = chosen(st.integers(1, 5))
    slots = chosen(st.integers(1, items))
    return MNL(
        position_bias=chosen(st.lists(positive, min_size=slots, max_size=slots)),
        attractiveness=chosen(st.lists(positive, min_size=items, max_size=items)),
    )


@given(problems())
@settings(max_examples=40, deadline=None)
def test_laws_of_every_ranking(users: MNL) -> None:
    best = reward(users, best_ranking(users))
    assert best == pytest.approx(reward(users, best_ranking_by_brute_force(users)), abs=1e-12)
    for ranking in itertools.permutations(range(users.items), users.slots):
        probabilities = click_probabilities(users, ranking)
        assert probabilities.sum() == pytest.approx(1.0)
        assert (probabilities > 0).all()
        assert reward(users, ranking) == pytest.approx(1.0 - probabilities[NO_CLICK])
        assert regret(users, ranking) >= -1e-12
        assert regret(users, ranking) == pytest.approx(best - reward(users, ranking))


def test_closed_form() -> None:
    users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.5, 1.0])
    # γ = (1, 0.25): S = 1.25
    assert click_probabilities(users, [1, 0]) == pytest.approx(np.array([1.0, 0.25, 1.0]) / 2.25)
    assert best_ranking(users).tolist() == [1, 0]
    assert regret(users, [0, 1]) == pytest.approx(1.25 / 2.25 - 1.0 / 2.0)


def test_best_ranking_fills_slots_by_bias_not_by_number() -> None:
    users = MNL(position_bias=[0.1, 1.0, 0.5], attractiveness=[0.2, 0.9, 0.4, 0.6])
    assert best_ranking(users).tolist() == [2, 1, 3]


def test_draws_have_the_choice_probabilities(paper_users: MNL) -> None:
    ranking = np.arange(paper_users.slots)[::-1].copy()
    rng = np.random.default_rng(1)
    clicked = np.array([draw(paper_users, ranking, rng) for _ in range(20_000)])
    counts = np.bincount(clicked % (paper_users.slots + 1), minlength=paper_users.slots + 1)
    assert_frequencies(click_probabilities(paper_users, ranking), counts)


@jit
def _epochs(users: Any, ranking: Any, count: int, rng: Any) -> Any:
    clicks = np.zeros((count, len(ranking)))
    for epoch in range(count):
        clicked = draw(users, ranking, rng)
        while clicked != NO_CLICK:
            clicks[epoch, clicked] += 1
            clicked = draw(users, ranking, rng)
    return clicks


def _clicks_per_epoch(users: MNL, ranking: Any, count: int, seed: int) -> Any:
    return _epochs(users, ranking, count, np.random.default_rng(seed))


def test_clicks_of_an_epoch_are_geometric(paper_users: MNL) -> None:
    """Lemma 1: P(n_k = n) = (1-p)ⁿp with p = 1/(1+γ_k)."""
    ranking = best_ranking(paper_users)
    clicks = _clicks_per_epoch(paper_users, ranking, 40_000, seed=2)
    for slot, gamma in enumerate(paper_users.position_bias * paper_users.attractiveness[ranking]):
        p = 1.0 / (1.0 + gamma)
        most = int(clicks[:, slot].max())
        law = [(1 - p) ** n * p for n in range(most + 1)] + [(1 - p) ** (most + 1)]
        assert_frequencies(law, np.append(np.bincount(clicks[:, slot].astype(int)), 0))


def test_clicks_of_an_epoch_are_not_independent(paper_users: MNL) -> None:
    """A long epoch is long for all of its slots: covariance γ_kγ_m, and variance γ_k + γ_k²."""
    ranking = best_ranking(paper_users)
    gamma = paper_users.position_bias * paper_users.attractiveness[ranking]
    clicks = _clicks_per_epoch(paper_users, ranking, 40_000, seed=3)
    centred = clicks - gamma
    products = centred[:, :, None] * centred[:, None, :]
    assert_mean_is(np.outer(gamma, gamma) + np.diag(gamma), products)


@pytest.mark.parametrize(
    ("position_bias", "attractiveness", "message"),
    [
        ([1.0, 0.5, 0.2], [0.3, 0.2], "position_bias has 3 slots but attractiveness only 2 items"),
        ([], [0.3], "position_bias must be a list of at least one number, got []"),
        ([1.0], [], "attractiveness must be a list of at least one number, got []"),
        ([1.0, -0.5], [0.3, 0.2], "position_bias must be positive and finite, got -0.5 for slot 2"),
        ([1.0], [0.3, 0.0], "attractiveness must be positive and finite, got 0.0 for item 2"),
        ([math.nan], [0.3], "position_bias must be positive and finite, got nan for slot 1"),
        ([1.0], [math.inf], "attractiveness must be positive and finite, got inf for item 1"),
        (["x"], [0.3], "position_bias must be a list of numbers, got ['x']"),
        (["1", "0.5"], [0.3, 0.2], "position_bias must be a list of numbers, got ['1', '0.5']"),
        ([True, 0.5], [0.3, 0.2], "position_bias must be a list of numbers, got [True, 0.5]"),
        ([10**400], [0.3], "position_bias must be a list of numbers, got [1000"),
        ([1.0, 1.0], [1e308, 1.5e308], "attractiveness must leave the weight of a list finite, got 1.5e+308"),
        ([[1.0]], [0.3], "position_bias must be a list of at least one number, got [[1.0]]"),
        (1.0, [0.3], "position_bias must be a list of at least one number, got 1.0"),
    ],
)
def test_parameters_are_checked(position_bias: Any, attractiveness: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        MNL(position_bias=position_bias, attractiveness=attractiveness)


@pytest.mark.parametrize("ranking", [[0, 1], [0, 1, 1], [0, 1, 4], [0, 1, -1], [0.0, 1.0, 2.0], "abc", [[0, 1, 2]]])
def test_rankings_are_checked(small: MNL, ranking: Any) -> None:
    rng = np.random.default_rng(0)
    for ask in (
        lambda: reward(small, ranking),
        lambda: draw(small, ranking, rng),
        lambda: regret(small, ranking),
        lambda: click_probabilities(small, ranking),
    ):
        with pytest.raises(InvalidRanking, match="ranking"):
            ask()


def test_parameters_are_copied() -> None:
    bias = np.array([1.0, 0.5])
    users = MNL(position_bias=bias, attractiveness=[0.5, 1.0])
    bias[0] = 7.0
    assert users.position_bias.tolist() == [1.0, 0.5]
