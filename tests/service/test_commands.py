from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from slotwise import logs
from slotwise.cli.command_app import app_of
from slotwise.core.errors import SlotwiseError
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Report, new_id
from tests.logs.strata import drawn
from tests.service.serving import NOON, serving

DAY = 86_400.0
DEFINITION = PlacementDefinition.model_validate({"slots": 1, "items": ["a", "b"]})


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A click of 100 days ago, a silence of yesterday, and a decision that is pending."""
    url = f"sqlite:///{tmp_path}/store.db"
    opened = open_store(url)
    opened.put_placement("home", DEFINITION.text())
    ages = (100 * DAY, DAY, 0.0)
    decisions = []
    for age in ages:
        then = time.time() - age
        decisions.append(IssuedDecision(new_id(then), "home", ("a",), "learned", then, then + 60.0))
    opened.write(decisions, [])
    opened.write([], [Report(decisions[0].id, Outcome("clicked", "a"), time.time() - 100 * DAY)])
    opened.finalise(time.time(), 10)
    opened.close()
    return url


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app_of(), arguments)
    if isinstance(result.exception, SlotwiseError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_compact_drops_old_decisions_and_keeps_the_counts(store: str) -> None:
    for days, dropped, merged in (("90", 1, 1), ("0.5", 1, 0), ("0.0001", 0, 0)):
        said = run("compact", "--store", store, "--older-than", days)
        assert said == f"dropped {dropped} decisions, merged the hours of {merged} days\n"
    opened = open_store(store)
    (row,) = opened.tally("home")
    assert (row.clicks, row.passes, row.shows) == (1, 1, 2)
    assert opened.counters()["home"]["learned"].pending == 1
    opened.close()
    with pytest.raises(SlotwiseError, match="older_than"):
        run("compact", "--store", store, "--older-than", "0")


def test_a_placement_is_exported_and_imported(store: str, tmp_path: Path) -> None:
    out = tmp_path / "home.json"
    run("export", "home", "--store", store, "--out", str(out))
    assert json.loads(out.read_text()) == json.loads(run("export", "home", "--store", store))
    other = f"sqlite:///{tmp_path}/other.db"
    with serving(other) as client:
        run("import", str(out), "--store", other, "--name", "taken along")
        # by a service that is running, without being told
        found = client.estimates("taken along")
        assert found["tally"] == {"items": ["a", "b"], "clicks": [[1, 0]], "passes": [[1, 0]]}
        assert found["decisions"]["issued"] == found["decisions"]["final"] == 2
        assert client.decide("taken along")["items"]
        with pytest.raises(SlotwiseError, match="already"):
            run("import", str(out), "--store", other, "--name", "taken along")
        with pytest.raises(SlotwiseError, match="control"):
            run("import", str(out), "--store", other, "--name", "a\nb")


def test_a_placement_starts_from_a_log(tmp_path: Path) -> None:
    """The log is all that it knows, cell by cell; it decides at once, and is not started twice."""
    rows = [f"{one},{slot},{'abc'[(one + slot) % 3]},{int(one % 5 == slot)}" for one in range(60) for slot in (1, 2)]
    (tmp_path / "log.csv").write_text("\n".join(["impression,slot,item,clicked", *rows]))
    url = f"sqlite:///{tmp_path}/store.db"
    arguments = ("fit", str(tmp_path / "log.csv"), "--to-store", url, "--name", "home")
    assert "Started in the store, with all that was counted: home" in run(*arguments)
    counted = logs.tally(tmp_path / "log.csv")
    with serving(url) as client:
        found = client.estimates("home")["tally"]
        order = [found["items"].index(item) for item in counted.item_ids]
        for name in ("clicks", "passes"):
            assert np.array(found[name])[:, order].tolist() == getattr(counted, name).tolist()
        assert len(client.decide("home")["items"]) == 2
        with pytest.raises(SlotwiseError, match="there is a placement 'home' in this store already"):
            run(*arguments)
    with pytest.raises(SlotwiseError, match="--to-store needs --name"):
        run(*arguments[:-2])
    # no column of the log: what the placement is to be called
    assert "with all that was counted: shelf" in run(*arguments[:-2], "--placement", "shelf")


def test_a_placement_starts_with_the_segments_of_a_log(tmp_path: Path) -> None:
    """Each visitor's counts are of their segment; a missing value is among the others."""
    device = ["phone", "desk", ""]
    rows = [
        f"{one},{slot},{'abc'[(one + slot) % 3]},{int(one % 5 == slot)},{device[one % 3]}"
        for one in range(60)
        for slot in (1, 2)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["impression,slot,item,clicked,device", *rows]))
    url = f"sqlite:///{tmp_path}/store.db"
    arguments = ("fit", str(tmp_path / "log.csv"), "--to-store", url, "--name", "home", "--segment", "device")
    assert "with all that was counted, by device: home" in run(*arguments)
    with serving(url) as client:
        assert client.get("/v1/placements/home").json()["segments"] == {"device": ["desk", "phone"]}
        for value, place in (("phone", 0), ("desk", 1), ("other", 2)):
            found = client.get(f"/v1/placements/home/estimates?segment=device:{value}").json()["tally"]
            kept = [row for row in rows if row.endswith("," + device[place])]
            assert sum(map(sum, found["clicks"])) == sum(row.split(",")[3] == "1" for row in kept)
        whole = client.estimates("home")["tally"]
        assert sum(map(sum, whole["clicks"])) == sum(row.split(",")[3] == "1" for row in rows)
        assert len(client.decide("home", context={"device": "phone"})["items"]) == 2
    with pytest.raises(SlotwiseError, match=r"needs a --time of dates and times, .* got numbers from 0 to 59"):
        run(*arguments[:-4], "--name", "other", "--time", "impression")


def test_a_placement_gets_the_half_life_of_the_log(tmp_path: Path) -> None:
    """Its counts are as old as they are in the log, and fade as fast as the log says."""
    ended = NOON - DAY
    truth = drawn(3, 12_000, change=True)
    log = truth.log
    at = np.array(log["at"]).astype("datetime64[us]").astype(np.int64) / 1e6
    log = log.set_column(log.schema.get_field_index("at"), "at", pa.array((at - at.max() + ended).tolist()))
    pq.write_table(log, tmp_path / "log.parquet")
    url = f"sqlite:///{tmp_path}/store.db"
    arguments = ("fit", str(tmp_path / "log.parquet"), "--time", "at", "--to-store", url, "--name", "home")
    said = run(*arguments)
    found = logs.fit(tmp_path / "log.parquet", time="at")
    assert found.changes is not None
    assert found.changes.half_life is not None
    hours = found.changes.half_life * found.changes.periods.width / 3_600.0
    assert "Counts have a half-life of " in said
    with serving(url) as client:
        assert client.get("/v1/placements/home").json()["half_life"] == pytest.approx(hours)
        told = client.estimates("home")
        assert told["half_life"] == pytest.approx(hours)
        # the tally is of everything, what is believed of the end: item 2 is wanted four times as much as at first
        assert sum(map(sum, told["tally"]["clicks"])) == found.tally.clicks.sum()
        (believed,) = (item for item in told["items"] if item["id"] == "item 2")
        assert believed["low"] < truth.after[0, 2] < believed["high"]
        assert believed["low"] > truth.before[0, 2]
        assert client.get("/v1/placements/home/history").json()["periods"] == []


def test_a_log_in_which_nothing_changed_is_not_forgotten(tmp_path: Path) -> None:
    pq.write_table(drawn(4, 3_000).log, tmp_path / "log.parquet")
    url = f"sqlite:///{tmp_path}/store.db"
    said = run("fit", str(tmp_path / "log.parquet"), "--time", "at", "--to-store", url, "--name", "home")
    assert said.rstrip().endswith("with all that was counted: home")
    exported = json.loads(run("export", "home", "--store", url))
    assert exported["definition"]["half_life"] is None
    # but it is known when each count was, should the owner want it to be
    assert len({row[0] for row in exported["periods"]}) > 10


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"name": ""},
        {"name": "a/b"},
        {"tally": [[0, "a", 1, 1, 2]]},
        {"tally": [[1, "a", -1, 1, 2]]},
        {"tally": [[1, "a", 1, 1, 2], [1, "a", 1, 1, 2]]},
        {"definition": {"slots": 3, "items": ["a"]}},
        {"counters": {"learned": {"colour": 1}}},
        {"more": 1},
    ],
)
def test_a_foreign_file_is_not_imported(store: str, tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "home.json"
    file.write_text(json.dumps({**json.loads(run("export", "home", "--store", store)), "name": "new", **change}))
    with pytest.raises(SlotwiseError, match="not an exported placement"):
        run("import", str(file), "--store", store)
    opened = open_store(store)
    assert [version.placement for version in opened.versions()] == ["home"]
    opened.close()


def test_a_backup_is_a_store(store: str, tmp_path: Path) -> None:
    run("backup", str(tmp_path / "copy.db"), "--store", store)
    assert run("export", "home", "--store", f"sqlite:///{tmp_path}/copy.db") == run("export", "home", "--store", store)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for command in (["compact", "--older-than", "1"], ["export", "home"], ["backup", str(tmp_path / "x.db")]):
        with pytest.raises(SlotwiseError, match="no store"):
            run(*command, "--store", f"sqlite:///{tmp_path}/absent.db")
    assert not any(tmp_path.iterdir())


def test_a_file_carries_modes_and_changes_and_missing_fields_get_defaults(tmp_path: Path) -> None:
    store, other, out = f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db", tmp_path / "home.json"
    asked = {"exploring": False, "new_items_at_most": 0.5, "sticky_seconds": 60.0}
    with serving(store) as client:
        client.define("home", **asked)
        client.put("/v1/placements/home/items/d")
        changes = client.get("/v1/placements/home/changes").json()
        run("export", "home", "--store", store, "--out", str(out))
    before = json.loads(out.read_text())
    before["changes"] = []
    for field in asked:
        del before["definition"][field]
    (tmp_path / "before.json").write_text(json.dumps(before))
    with serving(other) as client:
        run("import", str(out), "--store", other)
        found = client.get("/v1/placements/home")
        assert asked.items() <= found.json().items()
        assert client.get("/v1/placements/home/changes").json() == changes
        # its versions go on beyond those that it had
        assert client.put("/v1/placements/home/items/e").headers["etag"] == '"3"'
        run("import", str(tmp_path / "before.json"), "--store", other, "--name", "before")
        assert client.get("/v1/placements/before").json()["exploring"] is True
        assert client.get("/v1/placements/before/changes").json() == {"changes": []}
