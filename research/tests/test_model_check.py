"""The study of the test of slots and items: what it plays, and that the test may be switched off."""

from __future__ import annotations

import numpy as np
import pytest

from research import model_check
from slotwise.click_models.base import click_probabilities, reward
from slotwise.jit import interpreted


def test_users_with_odds_of_pairs_click_by_them() -> None:
    with interpreted():
        users = model_check.PairChoices(odds=np.array([[0.5, 1.0], [0.5, 0.25]]), slots=2, items=2)
        ranking = np.array([1, 0])
        assert click_probabilities(users, ranking).tolist() == [0.4, 0.2, 0.4]
        assert reward(users, ranking) == pytest.approx(0.6)


@pytest.mark.parametrize("by_day", [False, True])
def test_the_test_fires_on_strong_effects_and_not_if_it_is_off(by_day: bool) -> None:
    rng = np.random.default_rng(1)
    with interpreted():
        users = model_check.pair_choices(rng, 1.5)
        found = model_check.play(users, 1_500, rng, by_day=by_day)
        trusting = model_check.play(users, 600, rng, by_day=by_day, test=False)
    assert found.fired > 0
    assert found.most > np.log(100.0)
    assert (trusting.fired, trusting.most) == (0, 0.0)
