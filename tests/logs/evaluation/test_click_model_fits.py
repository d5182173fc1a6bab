"""Fitted click models: their laws are those of `slotwise.click_models`, and fits recover their parameters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from slotwise.click_models import choice_model, click_probabilities, click_rates, probability_of
from slotwise.core.types import EMPTY
from slotwise.jit import interpreted
from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_fits import CLICK_MODELS
from slotwise.logs.evaluation.click_model_likelihoods import (
    FittedCascade,
    FittedDCM,
    FittedMNL,
    FittedModel,
    FittedPBM,
    FittedUBM,
)
from tests.logs.synthetic_clicks import drawn_sets

ATTRACTION = np.array([0.3, 0.6, 0.15, 0.45])
TRUE: Mapping[str, FittedModel] = {
    "mnl": FittedMNL(np.array([1.0, 0.4, 0.7]), np.array([0.5, 1.2, 0.2, 0.8])),
    "pbm": FittedPBM(np.array([1.0, 0.4, 0.7]), ATTRACTION),
    "cascade": FittedCascade(3, ATTRACTION),
    "dcm": FittedDCM(np.array([0.8, 0.5, 0.5]), ATTRACTION),
    "ubm": FittedUBM(np.array([[1.0, 0.0, 0.0], [0.9, 0.5, 0.0], [0.8, 0.6, 0.3]]), ATTRACTION),
}
every_model = pytest.mark.parametrize("id", CLICK_MODELS)


@every_model
def test_a_law_is_that_of_the_choice_model(id: str) -> None:
    model = TRUE[id]
    problem = model.problem()
    with interpreted():
        users = choice_model(problem.pop("model")).make(**problem)
        sets = np.array(list(itertools.product([False, True], repeat=3)))
        for ranking in ([0, 1, 2], [3, 0, 1]):
            shown = np.tile(ranking, (len(sets), 1))
            with np.errstate(divide="ignore"):
                law = np.log([probability_of(users, ranking, clicks) for clicks in sets])
            assert model.log_likelihood(shown, sets) == pytest.approx(law)
            assert model.rates(shown)[0] == pytest.approx(click_rates(users, ranking))
            assert model.law_of_first(shown)[0] == pytest.approx(click_probabilities(users, ranking))


@every_model
def test_an_empty_slot_is_not_clicked(id: str) -> None:
    model, shown = TRUE[id], np.array([[1, EMPTY, 2]])
    assert model.rates(shown)[0, 1] == pytest.approx(0.0, abs=1e-8)
    assert np.isfinite(model.log_likelihood(shown, np.array([[True, False, False]])))


@every_model
def test_a_fit_is_near_the_users_that_clicked(id: str) -> None:
    """Within five standard errors of a rate: the largest is below √(0.25/(40,000/12)) for one of 12 pairs."""
    true = TRUE[id]
    sets = drawn_sets(true, 40_000, np.random.default_rng(7))
    fitted = CLICK_MODELS[id](sets)
    shown = np.array(list(itertools.permutations(range(4), 3)))
    assert np.abs(fitted.rates(shown) - true.rates(shown)).max() < 5 * np.sqrt(0.25 * 12 / 40_000)
    assert np.abs(fitted.law_of_first(shown) - true.law_of_first(shown)).max() < 5 * np.sqrt(0.25 * 12 / 40_000)


@every_model
def test_no_users_fit_better_than_the_fit(id: str) -> None:
    """The likelihood of a fit is its maximum, up to the pseudo-impressions: above that of the truth."""
    true = TRUE[id]
    sets = drawn_sets(true, 5_000, np.random.default_rng(8))
    of_fit, of_truth = (
        sets.times @ one.log_likelihood(sets.shown, sets.clicks) for one in (CLICK_MODELS[id](sets), true)
    )
    assert of_fit > of_truth - 0.5


@every_model
def test_an_item_that_was_hardly_seen_is_like_the_others(id: str) -> None:
    sets = drawn_sets(TRUE[id], 2_000, np.random.default_rng(9))
    one_more: dict[str, Any] = {
        "placement": None,
        "item_ids": (*sets.item_ids, "new"),
        "shown": np.vstack([sets.shown, [4, 0, 1]]),
        "clicks": np.vstack([sets.clicks, [False, False, False]]),
        "first": np.append(sets.first, -1),
        "times": np.append(sets.times, 1),
    }
    fitted = CLICK_MODELS[id](ClickSets(**one_more))
    chance = fitted.rates(np.array([[4, 0, 1]]))[0, 0]
    others = fitted.rates(np.array([[item, 0, 1] if item > 1 else [item, 2, 3] for item in range(4)]))[:, 0]
    assert 0.3 * others.min() < chance < others.max()
