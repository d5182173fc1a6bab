from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.jit.background_compile import compiling
from slotwise.ranker import Learner
from slotwise.ranker import feature_table as module
from slotwise.ranker.feature_table import FeatureTable
from slotwise.ranker.item_catalog import Catalog

IDS = [f"{kind} {number}" for kind in ("shoe", "hat") for number in range(8)]
KINDS = {item: {"kind": item.split()[0]} for item in IDS}
#: shoes are liked five times as much as hats
CLICKS = np.array([[50 if item.startswith("shoe") else 10 for item in IDS]])
PASSES = np.full((1, len(IDS)), 100)


def test_a_new_item_starts_at_the_prediction_of_its_features() -> None:
    learner = Learner(IDS, 1, features=KINDS, rng=np.random.default_rng(1))
    learner.update_from_tally(CLICKS, PASSES)
    learner.add("shoe 8", features={"kind": "shoe"})
    learner.add("hat 8", features={"kind": "hat"})
    learner.add("scarf 0", features={"kind": "scarf"})
    learner.add("thing 0")
    found = learner.estimates()
    assert found["shoe 8"].shown == 0
    assert found["shoe 8"].attractiveness > 2.5 * found["hat 8"].attractiveness
    # of what no other item has, and of what is not known, nothing is said
    assert found["scarf 0"].attractiveness == found["thing 0"].attractiveness
    assert found["hat 8"].attractiveness < found["thing 0"].attractiveness < found["shoe 8"].attractiveness
    assert learner.features["scarf 0"] == {"kind": "scarf"}
    assert "thing 0" not in learner.features


def test_without_features_new_items_are_alike() -> None:
    learner = Learner(IDS, 1)
    learner.update_from_tally(CLICKS, PASSES)
    learner.add("shoe 8")
    learner.add("hat 8")
    found = learner.estimates()
    assert found["shoe 8"].attractiveness == found["hat 8"].attractiveness


def test_features_may_come_later_and_of_retired_items_again() -> None:
    learner = Learner(IDS, 1, rng=np.random.default_rng(2))
    learner.add("a", features={"price": 3})
    assert len(learner.choose()) == 1
    learner.retire("a")
    learner.add("a")
    assert learner.features == {"a": {"price": 3.0}}
    learner.retire("a")
    learner.add("a", features={"price": 4.0, "kind": "shoe"})
    assert learner.features == {"a": {"price": 4.0, "kind": "shoe"}}
    assert len(learner.choose()) == 1


def test_numbers_are_standardised_and_only_shared_categories_are_kept() -> None:
    given = {"a": {"price": 10, "kind": "shoe"}, "b": {"price": 30, "kind": "shoe"}, "c": {"kind": "hat"}}
    features = Catalog(["a", "b", "c", "d"], features=given).features
    encoded = features.encoded(4)
    assert encoded is not None
    assert encoded.tolist() == [[-1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    assert FeatureTable().encoded(4) is None


def test_the_least_common_categories_have_no_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COLUMNS", 2)
    kinds = ["x", "x", "x", "y", "y", "z", "z"]
    given = {str(item): {"kind": kind, "price": item} for item, kind in enumerate(kinds)}
    features = Catalog(list(given), features=given).features
    encoded = features.encoded(7)
    assert encoded is not None
    assert encoded[:, 0].tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert encoded.shape == (7, 2)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["a"], "features must map items to their features, got"),
        ({"x": {"price": 1}}, "features names 'x', which is not one of the 16 items"),
        ({"hat 0": ["price"]}, r"the features of 'hat 0' must map names to values, got \['price'\]"),
        ({"hat 0": {"": 1.0}}, "features of 'hat 0' must have names of text, not empty, got ''"),
        ({"hat 0": {3: 1.0}}, "features of 'hat 0' must have names of text, not empty, got 3"),
        ({"hat 0": {"price": None}}, "the feature 'price' of 'hat 0' must be a number, .* got None"),
        ({"hat 0": {"price": True}}, "the feature 'price' of 'hat 0' must be a number, .* got True"),
        ({"hat 0": {"price": float("nan")}}, "the feature 'price' of 'hat 0' must be at most 1e.100 in size, got nan"),
        (
            {"hat 0": {"price": 1.0}, "hat 1": {"price": "cheap"}},
            "the feature 'price' of 'hat 1' must be a number, as others of other items, got 'cheap'",
        ),
    ],
)
def test_features_that_cannot_be_are_refused_by_name(features: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Learner(IDS, 1, features=features)


def test_a_rejected_change_has_no_effect() -> None:
    learner = Learner(IDS, 1, features=KINDS)
    with pytest.raises(InvalidInput, match=r"the feature 'kind' of 'new' must be text, .* got 5"):
        learner.add("new", features={"size": 4.0, "kind": 5})
    assert learner.items == tuple(IDS)
    assert learner.features == KINDS
    learner.add("new", features={"size": "large"})
    with pytest.raises(InvalidInput, match="features are given, but pbm-ucb cannot learn from them"):
        Learner(IDS, 1, features=KINDS, policy="pbm-ucb", position_bias=[1.0])
    with compiling("never"):
        plain = Learner(IDS, 1, policy="pbm-ucb", position_bias=[1.0])
    with pytest.raises(InvalidInput, match="features are given, but pbm-ucb cannot learn from them"):
        plain.add("new", features={"size": 1.0})
    assert plain.items == tuple(IDS)
