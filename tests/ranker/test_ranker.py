from __future__ import annotations

import contextlib
import io
import json
import resource
import threading
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import Ranker, Tally
from slotwise.errors import InvalidInput, UnreadableFile, UnwritableFile
from slotwise.ranker import ranker as module

IDS = ["a", "b", "c", "d"]


def test_rank_and_observe() -> None:
    ranker = Ranker(IDS, 2, seed=1)
    first, second = ranker.rank(), ranker.rank(pin={"d": 2}, exclude=["a"])
    assert second.items[1] == "d"
    assert "a" not in second.items
    assert first.id != second.id
    assert ranker.pending == 2
    ranker.observe(second.id, clicked="d")
    ranker.observe(first, clicked=None)
    assert ranker.pending == 0
    assert ranker.tally.clicks[1, 3] == 1
    assert ranker.tally.passes.sum() == 2


def test_an_outcome_is_taken_once_and_only_of_what_was_ranked() -> None:
    ranker = Ranker(IDS, 2, seed=1)
    ranking = ranker.rank()
    with pytest.raises(InvalidInput, match="which was not shown"):
        ranker.observe(ranking, clicked=next(item for item in IDS if item not in ranking.items))
    ranker.observe(ranking, clicked=ranking.items[0])  # corrected
    for again in (ranking, ranking.id):
        with pytest.raises(InvalidInput, match=f"ranking '{ranking.id}' waits for no outcome"):
            ranker.observe(again, clicked=None)
    for unknown in ("x", 3, None):
        with pytest.raises(InvalidInput, match=r"ranking .* waits for no outcome"):
            ranker.observe(unknown, clicked=None)  # type: ignore[arg-type]
    assert ranker.tally.rounds == 1


def test_the_oldest_rankings_are_forgotten_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PENDING_LIMIT", 3)
    ranker = Ranker(IDS, 2, seed=1)
    rankings = [ranker.rank() for _ in range(5)]
    assert (ranker.pending, ranker.forgotten) == (3, 2)
    with pytest.raises(InvalidInput, match="waits for no outcome"):
        ranker.observe(rankings[1], clicked=None)
    ranker.observe(rankings[2], clicked=None)


def test_a_seed_fixes_the_lists() -> None:
    one, two, other = (
        [Ranker([str(item) for item in range(30)], 3, seed=seed).rank().items for _ in range(1)] for seed in (4, 4, 5)
    )
    assert one == two != other


def test_threads_lose_nothing_and_count_nothing_twice() -> None:
    """Eight threads rank, observe, add, value and estimate; afterwards every outcome is in the tally."""
    ranker = Ranker(IDS, 2, seed=2)
    counted = {"clicks": 0, "passes": 0}
    lock, problems = threading.Lock(), []

    def visit(number: int) -> None:
        rng = np.random.default_rng(number)
        try:
            for now in range(150):
                ranking = ranker.rank(exclude=["a"] if rng.random() < 0.3 else [])
                clicked = str(rng.choice(ranking.items)) if rng.random() < 0.4 else None
                ranker.observe(ranking, clicked)
                with lock:
                    counted["clicks" if clicked else "passes"] += 1
                if now % 50 == number:
                    ranker.add(f"item {number} {now}", value=1.0)
                if now == 100:
                    ranker.value("b", 1.0 + number)
                    ranker.estimates()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    tally = ranker.tally
    assert tally.clicks.sum() == counted["clicks"]
    assert tally.passes.sum() == 2 * counted["passes"]
    assert sum(counted.values()) == 8 * 150
    assert len(ranker.items) == 4 + 8 * 3
    assert ranker.pending == 0


def test_memory_does_not_grow_with_past_decisions() -> None:
    ranker = Ranker(IDS, 2, seed=6)

    def decide(count: int) -> int:
        for _ in range(count):
            ranking = ranker.rank(pin={"b": 1})
            ranker.observe(ranking, clicked=None)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        # what the interpreter and numba keep of calls levels off
        before = decide(2_000)
        # an id and its list that were kept would take some 400,000 bytes
        assert decide(2_000) - before < 20_000
    finally:
        tracemalloc.stop()


def test_a_tally_starts_it_warm_in_order_or_by_id() -> None:
    tally = Tally(np.array([[50, 5, 0, 0], [1, 40, 0, 0]]), np.full((2, 4), 60))
    warm = Ranker(IDS, 2, tally=tally, seed=3)
    assert warm.tally == tally
    assert warm.estimates()["a"].shown == 51 + 120
    assert warm.estimates()["a"].attractiveness > warm.estimates()["c"].attractiveness

    class Named(Tally):
        item_ids = ("d", "b")
        showings = np.array([[9, 9], [9, 9]])

    ranker = Ranker(IDS, 2, tally=Named(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])))
    assert ranker.tally.clicks.tolist() == [[0, 2, 0, 1], [0, 4, 0, 3]]
    assert ranker.tally.passes.tolist() == [[0, 6, 0, 5], [0, 8, 0, 7]]
    assert ranker.estimates().shown.tolist() == [0, 18, 0, 18]
    with pytest.raises(InvalidInput, match="the tally counts 'd', which is not one of the 2 items"):
        Ranker(["a", "b"], 2, tally=Named(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])))
    with pytest.raises(InvalidInput, match="the tally is of 3 slots and 4 items"):
        Ranker(IDS, 2, tally=Tally.empty(3, 4))
    with pytest.raises(InvalidInput, match="tally must be a Tally, got 3"):
        Ranker(IDS, 2, tally=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="seed must be at least 0"):
        Ranker(IDS, 2, seed=-1)


def test_a_log_starts_it_warm() -> None:
    """As `slotwise.logs.tally` counts it: by its own names, with what else was on the page."""
    pa, logs = pytest.importorskip("pyarrow"), pytest.importorskip("slotwise.logs")
    counted = logs.tally(
        pa.table(
            {"impression": [1, 1, 2, 2], "slot": [1, 2, 1, 2], "item": ["d", "b", "b", "d"], "clicked": [0, 1, 0, 0]}
        )
    )
    ranker = Ranker(IDS, counted.slots, tally=counted)
    assert ranker.tally.clicks.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0]]
    assert ranker.estimates().shown.tolist() == [0, 2, 0, 2]
    assert set(Ranker(counted.item_ids, counted.slots, tally=counted).rank().items) == {"b", "d"}


def _used() -> Ranker:
    ranker = Ranker(IDS, 2, position_bias=[1.0, 0.5], values={"b": 2.0}, seed=5)
    for now in range(40):
        ranking = ranker.rank()
        ranker.observe(ranking, clicked=ranking.items[now % 2] if now % 3 == 0 else None)
    ranker.add("é ✓", value=3.0)
    ranker.retire("c")
    return ranker


def test_save_and_load(tmp_path: Path) -> None:
    ranker, path = _used(), tmp_path / "ranker"
    waiting = ranker.rank()
    ranker.save(path)
    again = Ranker.load(path)
    assert again.tally == ranker.tally
    assert again.items == ranker.items
    assert again.retired == ("c",)
    assert again.pending == 1
    assert again.estimates().as_dict() == ranker.estimates().as_dict()
    assert again._learner.values == ranker._learner.values
    assert again._learner.policy.id == "random-bound-known"
    again.observe(waiting.id, clicked=waiting.items[0])
    assert again.tally.clicks.sum() == ranker.tally.clicks.sum() + 1
    # one that was loaded twice goes on alike: its randomness is in the file
    one, two = (Ranker.load(path) for _ in range(2))
    assert [one.rank().items for _ in range(20)] == [two.rank().items for _ in range(20)]


def test_options_of_a_policy_are_kept(tmp_path: Path) -> None:
    Ranker(IDS, 2, policy="random-bound:bias_shape=3").save(tmp_path / "r")
    assert Ranker.load(tmp_path / "r")._learner.policy.options == {"bias_shape": 3.0}


def test_what_is_damaged_or_foreign_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ranker.npz"
    _used().save(path)
    whole = path.read_bytes()
    for length in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(UnreadableFile, match=r"ranker\.npz"):
            Ranker.load(path)
    spoilt = bytearray(whole)
    spoilt[len(whole) // 3] ^= 255
    path.write_bytes(bytes(spoilt))
    with pytest.raises(UnreadableFile, match=r"ranker\.npz"):
        Ranker.load(path)
    for place in range(7, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        # a bit that nothing depends on may be turned over; nothing else gets out
        with contextlib.suppress(UnreadableFile):
            Ranker.load(path)
    with np.load(io.BytesIO(whole)) as found:
        arrays = dict(found)
    words = json.loads(arrays.pop("words").tobytes())
    for change in (
        {"pending": 5},
        {"pending": [["x"]]},
        {"pending": [["x", ["?"]]]},
        {"forgotten": "a"},
        {"policy": 5},
    ):
        np.savez(path, words=np.frombuffer(json.dumps(words | change).encode(), np.uint8), **arrays)
        with pytest.raises(UnreadableFile, match=r"ranker\.npz is damaged or not a ranker"):
            Ranker.load(path)
    with pytest.raises(UnwritableFile, match="there is no folder"):
        _used().save(tmp_path / "nowhere" / "ranker.npz")
    Tally.empty(2, 3).save(path)
    with pytest.raises(UnreadableFile, match=r"ranker\.npz is damaged or not a ranker"):
        Ranker.load(path)
    path.write_text("{}")
    with pytest.raises(UnreadableFile, match=r"ranker\.npz is damaged or not a ranker"):
        Ranker.load(path)
    with pytest.raises(UnreadableFile, match="there is no file"):
        Ranker.load(tmp_path / "none")
    with pytest.raises(UnreadableFile):
        Ranker.load(tmp_path)


def test_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "ranker"
    _used().save(path)
    newer: dict[str, Any] = {}
    with zipfile.ZipFile(path) as stored:
        for name in stored.namelist():
            newer[name.removesuffix(".npy")] = np.load(io.BytesIO(stored.read(name)))
    newer["words"] = np.frombuffer(
        newer["words"].tobytes().replace(b"slotwise ranker 1", b"slotwise ranker 2"), np.uint8
    )
    np.savez(path, **newer)
    with pytest.raises(UnreadableFile, match="holds 'slotwise ranker 2', not 'slotwise ranker 1'"):
        Ranker.load(f"{path}.npz")


def test_what_was_saved_before_survives_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "ranker"
    ranker = _used()
    ranker.save(path)
    before = path.read_bytes()
    ranker.observe(ranker.rank(), clicked=None)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # a full disk, as far as this process is concerned
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            ranker.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["ranker"]
