from __future__ import annotations

import json

import numpy as np
import pytest

from slotwise import MNL, Ranker, Tally
from slotwise.core.errors import InvalidInput
from slotwise.ranker import Learner
from slotwise.simulation.data_collection import at_random

USERS = MNL(position_bias=[1.0, 0.4], attractiveness=[0.8, 0.3, 0.5, 0.2])
IDS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def warm() -> Ranker:
    tally = at_random(USERS, 50_000, np.random.default_rng(1)).tally
    return Ranker(IDS, 2, tally=tally)


def test_estimates_approach_the_truth_with_much_data(warm: Ranker) -> None:
    found = warm.estimates(0.9999)
    # a false alarm in 10,000 for each of five parameters, and the prior is next to nothing beside so much data
    assert found.attractiveness_interval.covers(USERS.attractiveness).all()
    assert found.position_bias_interval.covers([1.0, 0.4]).all()
    assert found.attractiveness == pytest.approx(USERS.attractiveness, rel=0.1)
    assert found["a"].probability_in_best_list == found["c"].probability_in_best_list == 1.0
    assert found["b"].probability_in_best_list == found["d"].probability_in_best_list == 0.0


def test_a_wider_level_is_a_wider_interval_and_the_rest_is_the_same(warm: Ranker) -> None:
    narrow, wide = warm.estimates(0.5)["b"], warm.estimates(0.99)["b"]
    assert wide.low < narrow.low < narrow.attractiveness == wide.attractiveness < narrow.high < wide.high
    with pytest.raises(InvalidInput, match="level must be between 0 and 1, got 1"):
        warm.estimates(1)


def test_there_is_an_answer_for_everything_from_the_start() -> None:
    learner = Learner(["a", "b", "c"], 2)
    for given in ([], [(("a", "b"), "a")], [(("a", "b"), None)]):
        for shown, clicked in given:
            learner.learn(shown, clicked)
        found = learner.estimates()
        for row in found.items:
            assert 0.0 <= row.low < row.attractiveness < row.high < np.inf
        for slot in found.slots:
            assert 0.0 < slot.low <= slot.position_bias <= slot.high < np.inf
        assert found.probability_in_best_list.sum() == pytest.approx(2.0)


def test_estimates_are_recomputed_after_a_change() -> None:
    learner = Learner(["a", "b", "c"], 1)
    before = learner.estimates()
    assert learner.estimates().attractiveness is before.attractiveness
    learner.learn(["a"], "a")
    after = learner.estimates()
    assert after["a"].clicks == after["a"].shown == 1
    learner.retire("a")
    assert learner.estimates()["a"].probability_in_best_list == 0.0
    learner.add("d")
    assert learner.estimates().ids == ("a", "b", "c", "d")
    learner.set_value("d", 1e6)
    assert learner.estimates()["d"].probability_in_best_list > 0.9


def test_a_bias_that_was_given_is_not_estimated() -> None:
    learner = Learner(IDS, 2, position_bias=[0.5, 2.0])
    learner.update_from_tally(np.ones((2, 4), int), np.full((2, 4), 5))
    assert [(slot.position_bias, slot.low, slot.high) for slot in learner.estimates().slots] == [(0.5,) * 3, (2.0,) * 3]


def test_as_plain_data_and_as_frames(warm: Ranker) -> None:
    found = warm.estimates()
    document = json.loads(json.dumps(found.to_dict()))
    assert [row["id"] for row in document["items"]] == IDS
    assert set(document["items"][0]) == {
        "id", "attractiveness", "low", "high", "probability_in_best_list", "shown", "clicks",
    }  # fmt: skip
    assert [set(row) for row in document["slots"]] == [{"slot", "position_bias", "low", "high"}] * 2
    assert [row["slot"] for row in document["slots"]] == [1, 2]
    frame, slots = found.to_frame(), found.to_frame("slots")
    assert frame["clicks"].tolist() == warm.tally().clicks.sum(axis=0).tolist()
    assert slots["slot"].tolist() == [1, 2]
    with pytest.raises(InvalidInput, match="table must be items or slots, got 'tables'"):
        found.to_frame("tables")  # type: ignore[arg-type]
    assert found.summary().count("\n") == len(IDS) + 2 + 2
    assert repr(found).startswith("<Estimates of 4 items and 2 slots: attractiveness ")
    with pytest.raises(InvalidInput, match="'x' is not one of the 4 items"):
        found["x"]


def test_many_items_in_a_second() -> None:
    rng = np.random.default_rng(2)
    tally = Tally(rng.poisson(0.1, (10, 20_000)), rng.poisson(2.0, (10, 20_000)))
    learner = Learner([f"item {number}" for number in range(20_000)], 10)
    learner.update_from_tally(tally.clicks, tally.passes)
    found = learner.estimates()
    assert found.probability_in_best_list.sum() == pytest.approx(10.0)
    assert np.isfinite(found.attractiveness).all()
