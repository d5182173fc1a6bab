from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from slotwise import logs
from slotwise.core.errors import InvalidInput, UnwritableFile
from slotwise.service.reports.parquet_export import export
from slotwise.service.reports.placement_estimates import estimated
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import Store, open_store
from slotwise.service.storage.decision_types import Arm, IssuedDecision, Outcome, Report, new_id
from tests.service.test_commands import run

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0
HOME = PlacementDefinition.model_validate({"slots": 2, "items": ["a", "b|c", "[d]", "é"]})


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """300 decisions within three days, of all kinds of outcomes, and two that are pending."""
    opened = open_store(url)
    opened.put_placement("home", HOME.text())
    opened.put_placement("other", HOME.text())
    rng = np.random.default_rng(7)
    for number in range(302):
        issued = NOON + (number // 100) * DAY + number
        items = tuple(rng.permutation([item.id for item in HOME.items])[: 1 + (number % 10 > 0)].tolist())
        arm: Arm = "holdout" if number % 7 == 0 else "learned"
        placement = "other" if number % 50 == 0 else "home"
        segment = ("", '{"device":"mobile"}', '{"device":"mobile","visitor":"new"}')[number % 3]
        decision = IssuedDecision(new_id(issued), placement, items, arm, issued, issued + 60.0, segment=segment)
        opened.write([decision], [])
        outcome = rng.choice(["clicked", "no_click", "not_shown", "silent"])
        if outcome != "silent":
            reported = Outcome(outcome)
            if outcome == "clicked":
                first, *then = rng.permutation(items)[: rng.integers(1, 3)].tolist()
                reported = Outcome("clicked", first, tuple(then), 2.5 if number % 2 else None)
            opened.write([], [Report(decision.id, reported, issued + 1.0)])
    opened.finalise(NOON + 2 * DAY + 299.0 + 60.0, 1_000)
    opened.finalise(NOON + 2 * DAY + 299.0 + 60.0, 1_000)
    yield opened
    opened.close()


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder).to_pylist()
    return found


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_every_final_decision_is_in_the_file_of_its_day_once(store: Store, tmp_path: Path) -> None:
    # a batch that ends within a day, and one that ends in the next
    done = export(store, tmp_path / "log", at_once=70)
    assert (done.decisions, done.files, done.pending) == (300, 3, 2)
    assert names(tmp_path / "log") == [f"decisions-2026-11-{day}.parquet" for day in (14, 15, 16)]
    found = rows(tmp_path / "log")
    assert len({row["id"] for row in found}) == 300
    for row in found:
        logged = store.logged(row["id"])
        assert logged is not None
        assert row["time"].timestamp() == logged.decision.issued
        assert (row["placement"], row["arm"]) == (logged.decision.placement, logged.decision.arm)
        assert tuple(row["items"]) == logged.decision.items
        assert row["silent"] == (logged.outcome is None)
        assert row["shown"] == (row["outcome"] != "not_shown")
        assert row["outcome"] == ("no_click" if logged.outcome is None else logged.outcome.kind)
        assert row["clicked"] == (None if logged.outcome is None else logged.outcome.item)
        assert tuple(row["clicks"]) == (() if logged.outcome is None else logged.outcome.clicks)
        assert row["value"] == (None if logged.outcome is None else logged.outcome.value)
        assert row["segment"] == logged.decision.segment
        assert dict(row["context"]) == (json.loads(row["segment"]) if row["segment"] else {})
    assert {len(row["clicks"]) for row in found} == {0, 1, 2}
    assert {row["value"] for row in found} == {None, 2.5}
    assert {row["outcome"] for row in found} == {"clicked", "no_click", "not_shown"}


def test_fit_finds_the_tally_that_the_service_has(store: Store, tmp_path: Path) -> None:
    """The same but for decisions with several clicks: the service counts all of them, and `fit` the first."""
    export(store, tmp_path / "log", at_once=70)
    read = logs.tallies(tmp_path / "log", logs.Columns(placement="placement"))
    assert any(len(set(row["clicks"])) > 1 for row in rows(tmp_path / "log"))
    for name in ("home", "other"):
        own = estimated(HOME, store.tally(name)).tally
        order = [own["items"].index(item) for item in read[name].item_ids]
        clicks, passes = (np.array(own[which])[: read[name].slots, order] for which in ("clicks", "passes"))
        several = [row for row in rows(tmp_path / "log") if row["placement"] == name and len(set(row["clicks"])) > 1]
        for row in several:
            is_most = 2 * len(set(row["clicks"])) > len(row["items"])
            for slot, item in enumerate(row["items"]):
                pair = slot, read[name].item_ids.index(item)
                clicks[pair] -= item in row["clicks"] and item != row["clicked"]
                passes[pair] -= is_most or item not in row["clicks"]
        assert read[name].clicks.tolist() == clicks.tolist()
        assert read[name].passes.tolist() == passes.tolist()
        assert passes.sum() == read[name].passes.sum()


def test_fit_and_evaluate_read_the_folder_as_it_is(store: Store, url: str, tmp_path: Path) -> None:
    said = run("decisions", "--store", url, "--out", str(tmp_path / "log"))
    assert said == "wrote 300 decisions into 3 files; 2 are not final yet and were left out\n"
    fitted = json.loads(run("fit", str(tmp_path / "log"), "--placement", "placement", "--json"))
    counted = {name: one["impressions"] for name, one in fitted["placements"].items()}
    counters = store.counters()
    for name in ("home", "other"):
        assert counted[name] == sum(arm.clicked + arm.no_click for arm in counters[name].values())
    evaluated = json.loads(run("evaluate", str(tmp_path / "log"), "--ranking", "a", "--json"))
    assert evaluated


def test_a_time_and_a_placement_can_be_chosen(store: Store, tmp_path: Path) -> None:
    done = export(store, tmp_path / "log", since=NOON + DAY, until=NOON + DAY + 150.0, placement="home")
    found = rows(tmp_path / "log")
    assert (done.decisions, done.pending) == (len(found), 0) == (49, 0)
    assert names(tmp_path / "log") == ["decisions-2026-11-15.parquet"]
    assert {row["placement"] for row in found} == {"home"}
    assert all(NOON + DAY <= row["time"].timestamp() < NOON + DAY + 150.0 for row in found)


def test_nothing_to_write_writes_nothing(store: Store, tmp_path: Path) -> None:
    done = export(store, tmp_path / "log", placement="nobody's")
    assert (done.decisions, done.files, done.pending) == (0, 0, 0)
    assert names(tmp_path / "log") == []


def test_an_interruption_leaves_only_complete_files(store: Store, tmp_path: Path) -> None:
    def interrupt_on_the_second_day(step: str) -> None:
        if step.startswith("140 "):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, tmp_path / "log", at_once=70, report=interrupt_on_the_second_day)
    assert names(tmp_path / "log") == ["decisions-2026-11-14.parquet"]
    assert len(rows(tmp_path / "log")) == 100
    # and once more from the beginning
    assert export(store, tmp_path / "log").decisions == len(rows(tmp_path / "log")) == 300


def test_impossible_exports_are_rejected_by_name(store: Store, url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="since must be before until, got 2026-11-15 12:00 and 2026-11-14 12:00"):
        export(store, tmp_path / "log", since=NOON + DAY, until=NOON)
    with pytest.raises(InvalidInput, match=r"until must be a date or a time, .* got 'yesterday'"):
        run("decisions", "--store", url, "--out", str(tmp_path / "log"), "--until", "yesterday")
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableFile, match="file"):
        export(store, tmp_path / "file")
