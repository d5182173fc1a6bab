from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise import Ranker
from slotwise.core.errors import UnreadableFile

#: written when rankers knew neither segments nor features
IDS = ["a", "b", "c", "d"]


def _with_everything() -> Ranker:
    ranker = Ranker(
        {item: {"kind": "hot" if item < "c" else "cold", "price": float(number)} for number, item in enumerate(IDS)},
        2,
        half_life=60.0,
        new_items_at_most=0.3,
        values={"b": 2.0},
        seed=1,
    )
    for now in range(300):
        ranking = ranker.rank(segment=(None, "mobile", "desktop")[now % 3])
        ranker.observe(ranking, clicked=ranking.items[now % 2] if now % 3 == 0 else None)
    ranker.add("é ✓", value=3.0, features={"kind": "hot"})
    ranker.retire("c")
    ranker.exploring = False
    return ranker


def test_all_of_it_is_written_and_read(tmp_path: Path) -> None:
    ranker, path = _with_everything(), tmp_path / "ranker"
    waiting = ranker.rank(segment="mobile")
    ranker.save(path)
    again = Ranker.load(path)
    for name in ("items", "retired", "segments", "pending", "expired", "exploring"):
        assert getattr(again, name) == getattr(ranker, name), name
    for segment in (None, "mobile", "desktop"):
        assert again.tally(segment) == ranker.tally(segment)
        assert again.estimates(segment=segment).to_dict() == ranker.estimates(segment=segment).to_dict()
        assert again.best_list(segment) == ranker.best_list(segment)
    assert again._learner.features == ranker._learner.features
    assert again._learner.values == ranker._learner.values
    assert again._learner.policy == ranker._learner.policy
    assert again._learner.policy.options == {"half_life": 60.0, "new_items_at_most": 0.3}
    assert again._learner._factory.counts.in_order() == ranker._learner._factory.counts.in_order()
    before = again.tally("mobile").rounds
    again.observe(waiting.id, clicked=None)
    assert again.tally("mobile").rounds == before + 1
    one, two = Ranker.load(path), Ranker.load(path)
    for loaded in (one, two):
        loaded.exploring = True
    lists = [[loaded.rank(segment=name).items for name in ("mobile", None, "new") * 7] for loaded in (one, two)]
    assert lists[0] == lists[1]


@pytest.mark.parametrize(
    "change",
    [
        {"segments": ["mobile"]},
        {"segments": ["mobile", "mobile"]},
        {"segments": ["mobile", None]},
        {"exploring": "yes"},
        {"features": {"x": {}}},
        {"features": {"a": {"price": "dear"}, "b": {"price": 1.0}}},
        {"pending": [["x", ["a"], 3]]},
        {"pending": [["x", ["a"]]]},
        {"options": {"half_life": "none"}},
    ],
    ids=str,
)
def test_inconsistent_saved_state_is_rejected(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "ranker.npz"
    _with_everything().save(path)
    with np.load(io.BytesIO(path.read_bytes())) as found:
        arrays = dict(found)
    words = json.loads(arrays.pop("words").tobytes())
    np.savez(path, words=np.frombuffer(json.dumps(words | change).encode(), np.uint8), **arrays)
    with pytest.raises(UnreadableFile, match=r"ranker\.npz is damaged or not a ranker"):
        Ranker.load(path)
