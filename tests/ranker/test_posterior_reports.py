from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.ranker import Learner

CLICKS = np.array([[400, 200, 100], [300, 150, 75]])
PASSES = np.full((2, 3), 1000)


def taught(**options: object) -> Learner:
    learner = Learner(["a", "b", "c"], slots=2, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]
    learner.update_from_tally(CLICKS, PASSES)
    return learner


def test_draws_are_centred_on_the_value_of_the_model() -> None:
    """With γ = clicks/passes known to a few percent, Σγ/(1 + Σγ) of each list."""
    drawn = taught().list_values([["a", "b"], ["c"]])
    assert drawn.mean(axis=1) == pytest.approx([0.55 / 1.55, 0.1 / 1.1], rel=0.05)
    assert (drawn.std(axis=1) < 0.03).all()


def test_values_are_weights_and_equal_counts_give_equal_draws() -> None:
    plain, valued = taught(), taught(values={"a": 10.0})
    lists = [["a", "b"], ["c", "b"]]
    assert valued.list_values(lists)[0].mean() > 5 * plain.list_values(lists)[0].mean()
    assert valued.list_values(lists)[1] == pytest.approx(plain.list_values(lists)[1])
    assert (plain.list_values(lists) == taught().list_values(lists)).all()


def test_drawing_does_not_change_the_learner() -> None:
    learner = taught()
    before = learner.estimates().attractiveness.copy()
    learner.list_values([["a", "b"]])
    assert (learner.estimates().attractiveness == before).all()
    with pytest.raises(InvalidInput, match="nobody"):
        learner.list_values([["nobody"]])
