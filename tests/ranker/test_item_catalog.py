from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.ranker.item_catalog import Catalog


def test_item_attributes_survive_retiring_and_offering_again() -> None:
    items = Catalog(["a", "b", "c"], values={"b": 2.0}, retired=["c"], features={"a": {"price": 3.0}})
    items.retire("b")
    assert items.worth.excluded.tolist() == [1, 2]
    items.offer("b", 5.0, None)
    items.offer("d", 1.0, {"price": 4.0})
    items.set_value("a", 0.5)
    assert items.ids == ["a", "b", "c", "d"]
    assert items.worth.values.tolist() == [0.5, 5.0, 1.0, 1.0]
    assert items.worth.excluded.tolist() == [2]
    assert items.features.named(items.ids) == {"a": {"price": 3.0}, "d": {"price": 4.0}}
    assert items.named(np.array([3, EMPTY, 0])) == ("d", "a")


def test_a_decision_obeys_its_own_rules_and_shows_nothing_retired() -> None:
    items = Catalog(["a", "b", "c"], retired=["c"])
    constraints = items.checked(items.constraints(["a"], {"b": 1}, 2))
    assert (constraints.excluded.tolist(), constraints.pinned, constraints.allowed) == ([0, 2], {1: 0}, 1)
    with pytest.raises(InvalidInput, match="pin names 'c', which is retired"):
        items.checked(items.constraints((), {"c": 1}, 2))


def test_retiring_the_last_items_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="retired must leave an item to show, got all 2"):
        Catalog(["a", "b"], retired=["a", "b"])
    items = Catalog(["a", "b"], retired=["a"])
    with pytest.raises(InvalidInput, match="'a' is retired already"):
        items.retire("a")
    with pytest.raises(InvalidInput, match="'b' cannot be retired: it is the last item left"):
        items.retire("b")
