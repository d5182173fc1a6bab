"""Users who look from slot to slot, in one form: the same laws as the models have, each in its own."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from slotwise.click_models import choice_model, probability_of, reward
from slotwise.click_models.browsing import browse, expected_clicks
from slotwise.core.types import EMPTY
from tests.statistical_assertions import assert_frequencies

pytestmark = pytest.mark.usefixtures("interpreting")

MODELS = ["pbm", "cascade", "dcm", "ubm"]
every_model = pytest.mark.parametrize("model", MODELS)


def _users(model: str) -> Any:
    entry = choice_model(model)
    return entry.make(**entry.example)


@every_model
def test_clicks_expected_are_the_reward_of_every_list(model: str) -> None:
    users = _users(model)
    browsing, odds = users.browsing(), users.attraction / (1.0 - users.attraction)
    for ranking in itertools.permutations(range(users.items), users.slots):
        found = expected_clicks(
            browsing.examination, browsing.continuation, odds, np.array(ranking), np.zeros(users.slots + 1)
        )
        assert found == pytest.approx(reward(users, np.array(ranking)), abs=1e-12)


@every_model
def test_sets_of_clicks_have_the_probabilities_of_the_model(model: str) -> None:
    users, ranking, rng = _users(model), np.array([1, 3, 2]), np.random.default_rng(1)
    browsing, odds = users.browsing(), users.attraction / (1.0 - users.attraction)
    clicks, seen = np.zeros(3, bool), Counter[tuple[bool, ...]]()
    for _ in range(4_000):
        first = browse(browsing.examination, browsing.continuation, odds, ranking, clicks, rng)
        seen[tuple(clicks.tolist())] += 1
        assert first == (int(np.argmax(clicks)) if clicks.any() else -1)
    every = itertools.product([False, True], repeat=3)
    law = {one: chance for one in every if (chance := probability_of(users, ranking, np.array(one))) > 0.0}
    assert set(seen) <= set(law)
    assert_frequencies(list(law.values()), [seen[one] for one in law])


@every_model
def test_an_empty_slot_is_passed_over(model: str) -> None:
    """As if an item stood there that attracts nobody."""
    users = _users(model)
    browsing, odds = users.browsing(), np.append(users.attraction / (1.0 - users.attraction), 0.0)
    room = np.zeros(4)
    empty, dull = (
        expected_clicks(browsing.examination, browsing.continuation, odds, np.array(ranking), room)
        for ranking in ([1, EMPTY, 2], [1, len(odds) - 1, 2])
    )
    assert empty == pytest.approx(dull, abs=1e-15)


def test_sorting_is_declared_optimal_only_where_it_is() -> None:
    assert {model: _users(model).browsing().sorts for model in MODELS} == {
        "pbm": True,
        "cascade": True,
        "dcm": True,
        "ubm": False,
    }
    assert not choice_model("dcm").make(continuation=[0.2, 0.9, 0.5], attraction=[0.5, 0.4, 0.3]).browsing().sorts
