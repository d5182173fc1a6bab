from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import Ranker
from slotwise.errors import UnreadableFile

#: written when rankers knew neither segments nor features
FIRST = Path(__file__).parent / "format_1.npz"
IDS = ["a", "b", "c", "d"]


def _with_everything() -> Ranker:
    ranker = Ranker(
        {item: {"kind": "hot" if item < "c" else "cold", "price": float(number)} for number, item in enumerate(IDS)},
        2,
        memory=60.0,
        new_items_at_most=0.3,
        values={"b": 2.0},
        seed=1,
    )
    for now in range(300):
        ranking = ranker.rank(segment=(None, "mobile", "desktop")[now % 3])
        ranker.observe(ranking, clicked=ranking.items[now % 2] if now % 3 == 0 else None)
    ranker.add("é ✓", value=3.0, features={"kind": "hot"})
    ranker.retire("c")
    ranker.freeze()
    return ranker


def test_all_of_it_is_written_and_read(tmp_path: Path) -> None:
    ranker, path = _with_everything(), tmp_path / "ranker"
    waiting = ranker.rank(segment="mobile")
    ranker.save(path)
    again = Ranker.load(path)
    for name in ("items", "retired", "segments", "pending", "forgotten", "is_frozen", "tally"):
        assert getattr(again, name) == getattr(ranker, name), name
    for segment in (None, "mobile", "desktop"):
        assert again.tally_of(segment) == ranker.tally_of(segment)
        assert again.estimates(segment=segment).as_dict() == ranker.estimates(segment=segment).as_dict()
        assert again.best_list(segment) == ranker.best_list(segment)
    assert again._learner.features == ranker._learner.features
    assert again._learner.values == ranker._learner.values
    assert again._learner.policy == ranker._learner.policy
    assert again._learner.policy.options == {"memory": 60.0, "new_items_at_most": 0.3}
    assert again._learner._counts.in_order() == ranker._learner._counts.in_order()
    before = again.tally_of("mobile").rounds
    again.observe(waiting.id, clicked=None)
    assert again.tally_of("mobile").rounds == before + 1
    one, two = Ranker.load(path), Ranker.load(path)
    for loaded in (one, two):
        loaded.thaw()
    lists = [[loaded.rank(segment=name).items for name in ("mobile", None, "new") * 7] for loaded in (one, two)]
    assert lists[0] == lists[1]


def test_the_first_format_is_still_read() -> None:
    ranker = Ranker.load(FIRST)
    assert ranker.items == ("a", "b", "c", "d", "é ✓")
    assert ranker.retired == ("c",)
    assert ranker.tally.clicks.tolist() == [[0, 7, 0, 0, 0], [7, 0, 0, 0, 0]]
    assert ranker.tally.passes.tolist() == [[0, 26, 0, 0, 0], [19, 0, 2, 5, 0]]
    assert ranker.estimates().shown.tolist() == [30, 40, 4, 6, 0]
    assert [slot.estimate for slot in ranker.estimates().slots] == [1.0, 0.5]
    assert ranker._learner.values == {"a": 1.0, "b": 2.0, "c": 1.0, "d": 1.0, "é ✓": 3.0}
    assert str(ranker._learner.policy) == "random-bound-known:level=0.4"
    assert (ranker.segments, ranker.is_frozen) == ((), False)
    # as the program that wrote it would have gone on
    assert ranker._learner.rng.bit_generator.state["state"]["state"] == 298325143579329861699694728365816306621
    assert (ranker.pending, ranker.forgotten) == (3, 2)
    assert not {"c"} & {item for _ in range(20) for item in ranker.rank().items}
    ranker.observe("0e0a567876c26b35a615a926f651e499", clicked="b")
    assert ranker.tally.clicks[0, 1] == 8


@pytest.mark.parametrize(
    "change",
    [
        {"segments": ["mobile"]},
        {"segments": ["mobile", "mobile"]},
        {"segments": ["mobile", None]},
        {"frozen": "yes"},
        {"features": {"x": {}}},
        {"features": {"a": {"price": "dear"}, "b": {"price": 1.0}}},
        {"pending": [["x", ["a"], 3]]},
        {"pending": [["x", ["a"]]]},
        {"options": {"memory": "none"}},
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "ranker.npz"
    _with_everything().save(path)
    with np.load(io.BytesIO(path.read_bytes())) as found:
        arrays = dict(found)
    words = json.loads(arrays.pop("words").tobytes())
    np.savez(path, words=np.frombuffer(json.dumps(words | change).encode(), np.uint8), **arrays)
    with pytest.raises(UnreadableFile, match=r"ranker\.npz is damaged or not a ranker"):
        Ranker.load(path)
