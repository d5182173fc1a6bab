"""Conformance checks of a click model: its answers follow from the probability of every set of clicks."""

from __future__ import annotations

import itertools

import numpy as np

from slotwise.click_models import (
    ChoiceModelEntry,
    best_ranking,
    best_ranking_by_brute_force,
    click_probabilities,
    click_rates,
    draw_clicks,
    first_click,
    may_click_several,
    probability_of,
    reward,
)
from slotwise.click_models.model_registry import choice_model
from slotwise.core.types import ClickModel, Ranking
from slotwise.jit import interpreted

DRAWS = 4_000
#: standard errors: a false alarm in some 15,000 draws
ERRORS = 4.0


def check_click_model(model: str | ChoiceModelEntry) -> None:
    """Check that a click model's probabilities, rates, reward, draws and best ranking agree with each other.

    Parameters
    ----------
    model
        A registered click model or its id. Its `example` should have more items than slots, and at most 6.

    Raises
    ------
    AssertionError
        If a requirement is not met; the message names it.

    Examples
    --------
    >>> check_click_model("cascade")
    """
    entry = choice_model(model) if isinstance(model, str) else model
    with interpreted():
        users = entry.make(**entry.example)
        assert 1 < users.slots < users.items <= 6, f"the example of {entry.id} must have 2 to 5 slots and more items"
        rankings = [np.array(ranking) for ranking in itertools.permutations(range(users.items), users.slots)]
        for ranking in rankings:
            _check_law(entry, users, ranking)
        _check_draws(entry, users, rankings[0])
        best, found = reward(users, best_ranking(users)), reward(users, best_ranking_by_brute_force(users))
    assert abs(best - found) < 1e-9, f"{entry.id}: the best ranking has reward {best}, and brute force finds {found}"


def _check_law(entry: ChoiceModelEntry, users: ClickModel, ranking: Ranking) -> None:
    slots = len(ranking)
    sets = np.array(list(itertools.product([False, True], repeat=slots)))
    law = np.array([probability_of(users, ranking, clicks) for clicks in sets])
    where = f"{entry.id} with the ranking {ranking.tolist()}"
    assert (law >= 0.0).all(), f"{where}: a probability is negative"
    assert np.isclose(law.sum(), 1.0), f"{where}: the probabilities of all sets of clicks add up to {law.sum()}"
    rates = click_rates(users, ranking)
    assert np.allclose(rates, law @ sets), f"{where}: click_rates must be {law @ sets}, got {rates}"
    value = reward(users, ranking)
    assert np.isclose(value, (law @ sets).sum()), f"{where}: reward must be {(law @ sets).sum()}, got {value}"
    first = np.zeros(slots + 1)
    np.add.at(first, [first_click(clicks) for clicks in sets], law)
    chances = click_probabilities(users, ranking)
    assert np.allclose(chances, first), f"{where}: click_probabilities must be {first}, got {chances}"
    several = law[sets.sum(axis=1) > 1].max()
    assert may_click_several(users) or several == 0.0, f"{where}: several clicks have the probability {several}"


def _check_draws(entry: ChoiceModelEntry, users: ClickModel, ranking: Ranking) -> None:
    rng, clicks, total = np.random.default_rng(1), np.zeros(len(ranking), np.bool_), np.zeros(len(ranking))
    for _ in range(DRAWS):
        draw_clicks(users, ranking, clicks, rng)
        total += clicks
    rates = np.asarray(click_rates(users, ranking))
    error = np.sqrt(np.maximum(rates * (1.0 - rates), 1.0 / DRAWS) / DRAWS)
    close = np.abs(total / DRAWS - rates) < ERRORS * error
    assert close.all(), f"{entry.id}: draws have the click rates {total / DRAWS}, and not {rates}"
