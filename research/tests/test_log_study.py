"""The study of fits of logs: what it draws, and what it says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from research.log_study import log_tables as log_study
from research.log_study.simulated_logs import KINDS
from research.studies import write
from slotwise.logs.evaluation.holdout_comparison import MODELS


@pytest.mark.parametrize("name", KINDS)
def test_logs_match_their_description(name: str) -> None:
    made = KINDS[name].make(np.random.default_rng(3))
    for one in made:
        assert one.seen.items == len(one.item_ids) == len(one.attractiveness)
        assert one.seen.slots == len(one.position_bias)
    moved = max(int((one.seen.showings > 0).sum(axis=0).max()) for one in made)
    assert moved == 1 if name == "fixed" else moved > 1
    rate = sum(one.seen.clicks.sum() for one in made) / sum(one.seen.rounds for one in made)
    assert rate > 0.7 if name == "clicked" else name.startswith("several") or rate < 0.65


def test_dropping_impressions_with_two_clicks_lowers_the_click_rate() -> None:
    (first,), (drop,) = (KINDS[f"several, {rule}"].make(np.random.default_rng(4)) for rule in ("first", "drop"))
    assert drop.seen.rounds < 0.9 * first.seen.rounds
    assert drop.seen.clicks.sum() / drop.seen.rounds < first.seen.clicks.sum() / first.seen.rounds - 0.05


def test_the_pooled_fit_predicts_small_queries_best_and_all_models_are_scored() -> None:
    lists, ids, words = log_study._of_kind(KINDS["search"], seed=6)
    assert "300 queries" in words
    some = slice(0, 60)
    found = log_study.foretold(lists[some], ids[some], splits=1)
    assert all(np.isfinite(value) and value < 0.0 for value in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert next(iter(found)).startswith("`pooled`")
    assert {"`scaling`", "`maximum-likelihood`", "`maximum-a-posteriori`", "all alike, weak prior"} <= found.keys()


def test_a_model_of_all_placements_as_one_has_slots_that_they_share_and_items_of_their_own() -> None:
    lists, _, _ = log_study._of_kind(KINDS["search"], seed=6)
    model = MODELS[log_study.FIRST]
    found = log_study._together(model, lists[:20])
    slots = [odds[:, 0] / odds[0, 0] for odds in found]
    np.testing.assert_allclose(slots, np.tile(slots[0], (20, 1)))
    assert [odds.shape for odds in found] == [(one.slots, one.items) for one in lists[:20]]
    np.testing.assert_allclose(log_study._together(model, lists[:1]), [model(lists[0])])


def test_a_quick_study_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [
        f"{view},{slot},{item},{int(view % 4 == slot)}" for view in range(40) for slot, item in ((1, "a"), (2, "b"))
    ]
    log.write_text("impression,slot,item,clicked\n" + "\n".join(rows) + "\n")
    write("logs", tmp_path / "out", quick=True, log=log)
    text = (tmp_path / "out" / "tables.md").read_text()
    assert "of log.csv, 1 placements and 40 impressions:" in text
