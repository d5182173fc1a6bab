from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from slotwise.core.types import EMPTY
from slotwise.logs.counting import click_sets as module
from slotwise.logs.counting.click_sets import ClickSets, click_sets


def _as_counts(sets: ClickSets) -> dict[tuple[Any, ...], int]:
    ids = {EMPTY: "-", **dict(enumerate(sets.item_ids))}
    lines = zip(sets.shown, sets.clicks, sets.first, sets.times, strict=True)
    return {
        (*(ids[item] for item in shown.tolist()), *clicks.tolist(), int(first)): int(times)
        for shown, clicks, first, times in lines
    }


LOG = {
    "items": [["a", "b", "c"], ["a", "b", "c"], ["b", "a"], ["a", "b", "c"], ["a", "b", "c"]],
    "clicked": [["c", "a"], ["c", "a"], [], ["b"], ["z"]],
}


def test_all_clicks_are_there_and_the_first_is_that_in_time() -> None:
    (found,) = click_sets(pa.table(LOG))
    assert found.ordered
    assert _as_counts(found) == {
        ("a", "b", "c", True, False, True, 2): 2,
        ("b", "a", "-", False, False, False, -1): 1,
        ("a", "b", "c", False, True, False, 1): 1,
    }
    assert (found.impressions, found.several) == (4, 2)


def test_without_an_order_the_first_is_the_uppermost() -> None:
    rows = {"impression": [1, 1, 1], "slot": [0, 1, 2], "item": ["a", "b", "c"], "clicked": [0, 1, 1]}
    (found,) = click_sets(pa.table(rows))
    assert not found.ordered
    assert _as_counts(found) == {("a", "b", "c", False, True, True, 1): 1}


def test_placements_and_weights_are_kept_apart_and_counted() -> None:
    rows = {
        "page": ["x", "x", "y", "y"],
        "impression": [1, 1, 1, 1],
        "slot": [1, 2, 1, 2],
        "item": ["a", "b", "c", "a"],
        "clicked": [1, 1, 0, 0],
        "times": [3, 3, 5, 5],
        "turn": [2, 1, None, None],
    }
    x, y = click_sets(pa.table(rows), placement="page", weight="times", order="turn")
    assert (x.placement, _as_counts(x)) == ("x", {("a", "b", True, True, 1): 3})
    assert (y.placement, _as_counts(y)) == ("y", {("c", "a", False, False, -1): 5})


def test_a_large_log_is_sampled_by_whole_impressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_IMPRESSIONS", 300)
    log = pa.table({"items": [["a", "b"]] * 3_000, "clicked": [["b", "a"]] * 3_000})
    (found,) = click_sets(log)
    assert _as_counts(found) == {("a", "b", True, True, 1): found.impressions}
    assert 200 < found.impressions < 400


def test_a_split_is_of_impressions() -> None:
    (found,) = click_sets(pa.table(LOG))
    one, other = found.split(0.5, np.random.default_rng(1))
    assert one.impressions + other.impressions == found.impressions
    assert found.rankings.rounds == 4
    assert found.rankings.clicks.sum() == 3
