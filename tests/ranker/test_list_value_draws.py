from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.ranker import Learner

CLICKS = np.array([[400, 200, 100], [300, 150, 75]])
PASSES = np.full((2, 3), 1000)


def taught(**options: object) -> Learner:
    learner = Learner(["a", "b", "c"], slots=2, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]
    learner.absorb(CLICKS, PASSES)
    return learner


def test_draws_are_around_what_the_model_says() -> None:
    """With γ = clicks/passes known to a few percent, Σγ/(1 + Σγ) of each list."""
    drawn = taught().prospects([["a", "b"], ["c"]])
    assert drawn.mean(axis=1) == pytest.approx([0.55 / 1.55, 0.1 / 1.1], rel=0.05)
    assert (drawn.std(axis=1) < 0.03).all()


def test_values_weigh_and_the_same_counts_say_the_same() -> None:
    plain, valued = taught(), taught(values={"a": 10.0})
    lists = [["a", "b"], ["c", "b"]]
    assert valued.prospects(lists)[0].mean() > 5 * plain.prospects(lists)[0].mean()
    assert valued.prospects(lists)[1] == pytest.approx(plain.prospects(lists)[1])
    assert (plain.prospects(lists) == taught().prospects(lists)).all()


def test_what_was_drawn_changes_nothing() -> None:
    learner = taught()
    before = learner.estimates().attractiveness.copy()
    learner.prospects([["a", "b"]])
    assert (learner.estimates().attractiveness == before).all()
    with pytest.raises(InvalidInput, match="nobody"):
        learner.prospects([["nobody"]])
