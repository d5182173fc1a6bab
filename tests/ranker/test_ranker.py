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
from slotwise.core.errors import InvalidInput, UnreadableFile, UnwritableFile
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
    assert ranker.tally().clicks[1, 3] == 1
    assert ranker.tally().passes.sum() == 2


def test_all_clicks_of_a_visit_count() -> None:
    ranker = Ranker(IDS, 4, seed=1)
    ranking = ranker.rank()
    with pytest.raises(InvalidInput, match="'x'"):
        ranker.observe(ranking, clicked=[ranking.items[0], "x"])
    ranker.observe(ranking, clicked=[ranking.items[2], ranking.items[0], ranking.items[2]])
    expected = Tally.empty(4, 4)
    expected.count([IDS.index(item) for item in ranking.items], [0, 2])
    assert ranker.tally() == expected
    assert ranker.pending == 0
    # one click in a list is one click
    again = ranker.rank()
    ranker.observe(again, clicked=[again.items[1]])
    expected.count([IDS.index(item) for item in again.items], 1)
    assert ranker.tally() == expected


def test_an_outcome_counts_once_and_only_for_a_ranked_item() -> None:
    ranker = Ranker(IDS, 2, seed=1)
    ranking = ranker.rank()
    with pytest.raises(InvalidInput, match="which was not shown"):
        ranker.observe(ranking, clicked=next(item for item in IDS if item not in ranking.items))
    ranker.observe(ranking, clicked=ranking.items[0])  # corrected
    for again in (ranking, ranking.id):
        with pytest.raises(InvalidInput, match=f"ranking '{ranking.id}' is not pending"):
            ranker.observe(again, clicked=None)
    for unknown in ("x", 3, None):
        with pytest.raises(InvalidInput, match=r"ranking .* is not pending"):
            ranker.observe(unknown, clicked=None)  # type: ignore[arg-type]
    assert ranker.tally().rounds == 1


def test_the_oldest_rankings_expire_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PENDING", 3)
    ranker = Ranker(IDS, 2, seed=1)
    rankings = [ranker.rank() for _ in range(5)]
    assert (ranker.pending, ranker.expired) == (3, 2)
    with pytest.raises(InvalidInput, match="is not pending"):
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
                    ranker.set_value("b", 1.0 + number)
                    ranker.estimates()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    tally = ranker.tally()
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
    assert warm.tally() == tally
    assert warm.estimates()["a"].shown == 51 + 120
    assert warm.estimates()["a"].attractiveness > warm.estimates()["c"].attractiveness

    class Named(Tally):
        item_ids = ("d", "b")
        showings = np.array([[9, 9], [9, 9]])

    ranker = Ranker(IDS, 2, tally=Named(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])))
    assert ranker.tally().clicks.tolist() == [[0, 2, 0, 1], [0, 4, 0, 3]]
    assert ranker.tally().passes.tolist() == [[0, 6, 0, 5], [0, 8, 0, 7]]
    assert ranker.estimates().shown.tolist() == [0, 18, 0, 18]
    with pytest.raises(InvalidInput, match="the tally counts 'd', which is not one of the 2 items"):
        Ranker(["a", "b"], 2, tally=Named(np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])))
    with pytest.raises(InvalidInput, match="the tally has 3 slots and 4 items"):
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
    assert ranker.tally().clicks.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0]]
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
    assert again.tally() == ranker.tally()
    assert again.items == ranker.items
    assert again.retired == ("c",)
    assert again.pending == 1
    assert again.estimates().to_dict() == ranker.estimates().to_dict()
    assert again._learner.values == ranker._learner.values
    assert str(again._learner.policy) == "thompson-sampling:bias=known"
    again.observe(waiting.id, clicked=waiting.items[0])
    assert again.tally().clicks.sum() == ranker.tally().clicks.sum() + 1
    # one that was loaded twice goes on alike: its randomness is in the file
    one, two = (Ranker.load(path) for _ in range(2))
    assert [one.rank().items for _ in range(20)] == [two.rank().items for _ in range(20)]


def test_options_of_a_policy_are_kept(tmp_path: Path) -> None:
    Ranker(IDS, 2, policy="thompson-sampling:bias_shape=3").save(tmp_path / "r")
    assert Ranker.load(tmp_path / "r")._learner.policy.options == {"bias_shape": 3.0}


def test_a_damaged_or_foreign_file_is_rejected_by_name(tmp_path: Path) -> None:
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
        {"expired": "a"},
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


def test_a_failed_save_keeps_the_previous_file(tmp_path: Path) -> None:
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


def test_segments_are_known_from_the_first_time_that_they_are_named() -> None:
    ranker = Ranker(IDS, 2, seed=7)
    unnamed, mobile, seven = ranker.rank(), ranker.rank(segment="mobile"), ranker.rank(segment=7)
    assert ranker.segments == ("mobile", "7")
    assert (unnamed.segment, mobile.segment, seven.segment) == (None, "mobile", "7")
    ranker.observe(mobile.id, clicked=mobile.items[0])
    ranker.observe(seven, clicked=None)
    ranker.observe(ranker.rank(segment="7"), clicked=None)
    ranker.observe(unnamed, clicked=None)
    assert ranker.segments == ("mobile", "7")
    assert [ranker.tally(name).rounds for name in ("mobile", 7, None)] == [1, 2, 4]
    assert ranker.tally().rounds == 4
    assert ranker.estimates(segment="mobile").clicks.sum() == ranker.estimates().clicks.sum() == 1
    assert ranker.estimates(segment="7").clicks.sum() == 0
    ranker.update_from_tally(Tally(np.full((2, 4), 2), np.full((2, 4), 9)), segment="desktop")
    assert ranker.tally("desktop").clicks.sum() == 16
    assert len(ranker.best_list("desktop")) == len(ranker.best_list()) == 2


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        ("", "a segment must be text, not empty, or a whole number, got ''"),
        (2.5, "a segment must be text, not empty, or a whole number, got 2.5"),
        (True, "a segment must be text, not empty, or a whole number, got True"),
        (["mobile"], r"a segment must be text, not empty, or a whole number, got \['mobile'\]"),
        ("a\x00", "a segment must not have control characters"),
    ],
)
def test_a_segment_that_has_no_name_is_refused(segment: Any, message: str) -> None:
    ranker = Ranker(IDS, 2)
    with pytest.raises(InvalidInput, match=message):
        ranker.rank(segment=segment)
    with pytest.raises(InvalidInput, match="segment 'tablet' is not one of the 0 that were seen"):
        ranker.estimates(segment="tablet")
    assert ranker.segments == ()
    assert ranker.pending == 0


def test_there_are_not_too_many_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NAMED", 3)
    ranker = Ranker(IDS, 2)
    for name in ("a", "b", "c"):
        ranker.rank(segment=name)
    with pytest.raises(InvalidInput, match="segment 'd' exceeds the maximum of 3 segments"):
        ranker.rank(segment="d")
    assert ranker.segments == ("a", "b", "c")
    assert ranker.rank(segment="c").segment == "c"


def test_items_may_map_to_their_features() -> None:
    # as many as it takes for features to be trusted
    known: dict[str, dict[str, float | str]] = {
        **{f"hot {number}": {"kind": "hot"} for number in range(6)},
        **{f"cold {number}": {"kind": "cold"} for number in range(6)},
        "plain": {},
    }
    ranker = Ranker(known, 1, seed=8)
    ranker.update_from_tally(Tally(np.array([[80] * 6 + [5] * 6 + [20]]), np.full((1, 13), 100)))
    ranker.add("f", features={"kind": "hot"})
    ranker.add("g", features={"kind": "cold"})
    found = ranker.estimates()
    assert found["f"].attractiveness > 1.5 * found["g"].attractiveness
    assert ranker.items == (*known, "f", "g")
    with pytest.raises(InvalidInput, match=r"features must be omitted if items map to their features, got {}"):
        Ranker(known, 1, features={})
    with pytest.raises(InvalidInput, match=r"the features of 'a' must map names to values, got 1\.0"):
        Ranker({"a": 1.0, "b": 2.0}, 1)


def test_without_exploring_it_shows_the_best_list_and_goes_on_learning() -> None:
    ranker = Ranker(IDS, 2, seed=9)
    ranker.update_from_tally(Tally(np.array([[9, 8, 8, 0], [9, 8, 7, 0]]), np.full((2, 4), 30)))
    varied = {ranker.rank().items for _ in range(40)}
    ranker.exploring = False
    assert not ranker.exploring
    best = ranker.best_list()
    assert {ranker.rank().items for _ in range(40)} == {best}
    assert len(varied) > 1
    # under the rules of a decision it is the best that they allow
    assert best[0] not in ranker.rank(exclude=[best[0]]).items
    assert ranker.rank(pin={"d": 1}).items == ("d", best[0])
    assert ranker.rank(exclude=["a", "b", "c"]).items == ("d",)
    with pytest.raises(InvalidInput, match="pin puts 'd' into slot 2, but only 1 of the items are left"):
        ranker.rank(exclude=["a", "b", "c"], pin={"d": 2})
    for _ in range(300):
        ranker.observe(ranker.rank(pin={"d": 1}), clicked="d")
        ranker.observe(ranker.rank(pin={"d": 1}), clicked=None)
    assert ranker.tally().clicks[0, 3] == 300
    assert ranker.rank().items[0] == "d"
    ranker.retire("d")
    assert "d" not in ranker.rank().items
    ranker.set_value("c", 100.0)
    assert "c" in ranker.rank().items
    ranker.exploring = True
    assert ranker.exploring


def test_without_exploring_each_segment_has_its_own_list() -> None:
    ranker = Ranker(IDS, 1, seed=10)
    likes = np.array([[90, 1, 1, 1]])
    ranker.update_from_tally(Tally(likes, np.full((1, 4), 100)), segment="mobile")
    ranker.update_from_tally(Tally(likes[:, ::-1].copy(), np.full((1, 4), 100)), segment="desktop")
    ranker.exploring = False
    assert {ranker.rank(segment="mobile").items for _ in range(10)} == {("a",)} == {ranker.best_list("mobile")}
    assert {ranker.rank(segment="desktop").items for _ in range(10)} == {("d",)}


def _lived_through_a_reversal(**more: Any) -> Ranker:
    """Two items take turns in one slot: the first is liked for 1,500 page views, and then the second for 600."""
    ranker, rng = Ranker(["a", "b"], 1, seed=11, **more), np.random.default_rng(12)
    for now in range(2_100):
        ranking = ranker.rank(pin={"ab"[now % 2]: 1})
        liked = ranking.items[0] == ("a" if now < 1_500 else "b")
        ranker.observe(ranking, clicked=ranking.items[0] if rng.random() < (0.6 if liked else 0.1) else None)
    return ranker


def test_old_counts_are_forgotten_also_after_loading(tmp_path: Path) -> None:
    """The seed is fixed. The tally is all that was seen, and in it the first item is still the better one."""
    forgetful, other = _lived_through_a_reversal(half_life=150.0), _lived_through_a_reversal()
    assert other.best_list() == ("a",)
    assert forgetful.best_list() == ("b",)
    assert forgetful.tally().rounds == other.tally().rounds == 2_100
    forgetful.save(tmp_path / "ranker")
    # a policy that starts anew, of which neither remembers anything but counts
    loaded = Ranker.load(tmp_path / "ranker")
    forgetful.add("c")
    for ranker in (forgetful, loaded):
        assert ranker.best_list()[0] != "a"
        assert sum(ranker.rank().items == ("a",) for _ in range(50)) < 10
        assert ranker.estimates()["b"].attractiveness > 1.5 * ranker.estimates()["a"].attractiveness
