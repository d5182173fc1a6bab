from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise import EMPTY, MNL, NO_CLICK, Tally, simulate
from slotwise.core.errors import InvalidInput, InvalidRanking, UnreadableFile
from slotwise.policies import PolicySpec
from tests.registered_components import default_first, variants
from tests.statistical_assertions import assert_mean_is

rounds = st.lists(st.tuples(st.permutations(range(4)), st.integers(NO_CLICK, 2)), max_size=30)


def _tally(history: list[tuple[list[int], int]]) -> Tally:
    tally = Tally.empty(slots=3, items=4)
    for ranking, clicked in history:
        tally.count(ranking[:3], clicked)
    return tally


@given(rounds, st.data())
def test_a_tally_is_additive_and_order_free(history: list[Any], data: st.DataObject) -> None:
    whole = _tally(history)
    cut = data.draw(st.integers(0, len(history)))
    shuffled = data.draw(st.permutations(history))
    assert _tally(history[:cut]) + _tally(history[cut:]) == whole
    assert _tally(shuffled) == whole
    assert sum([_tally([one]) for one in history], start=Tally.empty(3, 4)) == whole
    assert whole.rounds == len(history)


def test_a_sum_and_a_slice_are_tallies_of_their_own() -> None:
    one = _tally([([0, 1, 2, 3], 1)])
    for other in (sum([one]), one[:]):
        assert isinstance(other, Tally)
        other.count([0, 1, 2], 0)
    assert one == _tally([([0, 1, 2, 3], 1)])


@given(rounds, st.lists(st.integers(0, 3), unique=True, min_size=1))
def test_slices_keep_the_counts_of_their_items(history: list[Any], items: list[int]) -> None:
    whole = _tally(history)
    part = whole[items]
    assert part.clicks.tolist() == whole.clicks[:, items].tolist()
    assert part.passes.tolist() == whole.passes[:, items].tolist()
    assert whole[:] == whole
    assert whole[2].items == 1


@pytest.mark.parametrize("chosen", default_first(variants()), ids=str)
def test_clicks_less_gamma_passes_is_a_martingale_under_any_policy(small: MNL, chosen: PolicySpec) -> None:
    run = simulate(small, chosen, rounds=150, replications=1_500, seed=4)[str(chosen)]
    gamma = np.outer(small.position_bias, small.attractiveness)
    assert_mean_is(0.0, np.array([tally.clicks - gamma * tally.passes for tally in run.tallies]))
    assert all(tally.rounds == 150 for tally in run.tallies)


def test_saving_and_loading(tmp_path: Path) -> None:
    tally = _tally([([0, 1, 2, 3], 1), ([3, 1, 0, 2], NO_CLICK)])
    tally.save(tmp_path / "tally.npz")
    assert Tally.load(tmp_path / "tally.npz") == tally
    assert [file.name for file in tmp_path.iterdir()] == ["tally.npz"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tally([]).save(tmp_path / "tally.npz")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="No space left"):
        _tally([([0, 1, 2, 3], 1)]).save(tmp_path / "tally.npz")
    assert Tally.load(tmp_path / "tally.npz") == _tally([])
    assert [file.name for file in tmp_path.iterdir()] == ["tally.npz"]


def test_damaged_and_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    tally = _tally([([0, 1, 2, 3], 1)])
    tally.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_text(json.dumps({"clicks": []}))
    np.savez(tmp_path / "foreign.npz", clicks=np.zeros((1, 1)))
    np.savez(tmp_path / "newer.npz", format=np.array("slotwise tally 9"))
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("cut.npz", "empty.npz", "text.npz", "foreign.npz", "newer.npz", "array.npy", "absent.npz"):
        with pytest.raises(UnreadableFile, match=re.escape(name)):
            Tally.load(tmp_path / name)


@pytest.mark.parametrize(
    ("clicks", "passes", "message"),
    [
        ([[1, 2]], [[1, 2], [3, 4]], "clicks is (1, 2), but passes is (2, 2)"),
        ([[1, -2]], [[1, 2]], "clicks must not be negative, got -2 in slot 0, item 1"),
        ([[1.5]], [[1]], "clicks must hold whole numbers, got float64"),
        ([1, 2], [[1, 2]], "clicks must be a slots × items array, got shape (2,)"),
        ([[]], [[]], "clicks must be a slots × items array"),
    ],
)
def test_counts_are_checked(clicks: Any, passes: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Tally(clicks, passes)


def test_rounds_are_checked() -> None:
    tally = Tally.empty(2, 3)
    with pytest.raises(InvalidInput, match="clicked must be a slot from 0 to 1 or -1, got 2"):
        tally.count([0, 1], 2)
    with pytest.raises(InvalidRanking):
        tally.count([0, 0], 1)
    with pytest.raises(InvalidInput, match="cannot be added"):
        _ = tally + Tally.empty(2, 4)
    with pytest.raises(InvalidInput, match="not among the 3"):
        _ = tally[[5]]
    with pytest.raises(InvalidInput, match="slots must be at least 1, got 0"):
        Tally.empty(0, 3)
    assert tally == Tally.empty(2, 3)
    assert tally != "a tally"


def test_empty_slots_are_not_counted() -> None:
    tally = Tally.empty(slots=3, items=3)
    tally.count([2, EMPTY, 0], clicked=NO_CLICK)
    tally.count([2, EMPTY, 0], clicked=2)
    assert tally.passes.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert tally.clicks.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    with pytest.raises(InvalidInput, match=r"clicked is slot 1, which is empty in \[2, -2, 0\]"):
        tally.count([2, EMPTY, 0], clicked=1)


@pytest.mark.parametrize(
    ("clicked", "clicks", "passes"),
    [
        ([], [0, 0, 0, 0], [1, 1, 1, 1]),
        ([1], [0, 1, 0, 0], [0, 0, 0, 0]),
        ([1, 1], [0, 1, 0, 0], [0, 0, 0, 0]),
        # the items left are passed
        ([3, 1], [0, 1, 0, 1], [1, 0, 1, 0]),
        # more than half of the list: each item was judged by itself
        ([0, 3, 1], [1, 1, 0, 1], [1, 1, 1, 1]),
    ],
)
def test_a_round_with_several_clicks_is_a_sequence_of_choices(
    clicked: list[int], clicks: list[int], passes: list[int]
) -> None:
    tally = Tally.empty(slots=5, items=4)
    tally.count([0, 1, 2, 3, EMPTY], clicked)
    assert tally.clicks.sum(axis=0).tolist() == clicks
    assert tally.passes.sum(axis=0).tolist() == passes
    assert np.array_equal(tally.clicks[:4], np.diag(clicks))
    for wrong in ([0, 4], [0, 5], [NO_CLICK, 1]):
        with pytest.raises(InvalidInput, match="clicked"):
            tally.count([0, 1, 2, 3, EMPTY], wrong)


def test_many_rounds_at_once_are_the_same_one_by_one() -> None:
    rng = np.random.default_rng(1)
    tally = Tally.empty(slots=3, items=5)
    lists = np.array([rng.permutation(5)[:3] for _ in range(200)])
    clicked = rng.integers(NO_CLICK, 3, 200)
    for shown, slot in zip(lists, clicked, strict=True):
        tally.count(shown, int(slot))
    assert Tally.of_rounds(lists, clicked, items=5) == tally
