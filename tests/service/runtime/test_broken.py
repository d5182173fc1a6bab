"""One placement that cannot be read hurts itself alone, and absurd numbers are refused on every way in."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from slotwise.core.errors import UnreadableFile
from slotwise.service.placements.export_format import from_file, to_text
from slotwise.service.placements.placement_registry import BrokenPlacement
from slotwise.service.reports.overview import OverviewRequest, Overviews
from slotwise.service.runtime import Worker
from slotwise.service.storage import open_store
from tests.service.process import Process, free_port
from tests.service.runtime.test_worker import definition
from tests.service.serving import serving
from tests.waiting import FOR_EVER, wait_for

ABSURD: list[dict[str, Any]] = [
    {"position_bias": [1.7e308, 1.0]},
    {"position_bias": [1.0, 1e-300]},
    {"policy": "toprank"},
    {"policy": "nobody"},
    {"policy": "pbm-ucb"},
    {"policy": "epoch-ucb", "position_bias": [1.0, 0.5]},
]


def spoil(folder: Path, **changes: Any) -> None:
    """What an older program, or a hand, may have put into the store."""
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as connection:
        ((text,),) = connection.execute("SELECT definition FROM definitions WHERE placement = 'spoilt'")
        connection.execute(
            "UPDATE definitions SET definition = ? WHERE placement = 'spoilt'",
            (json.dumps({**json.loads(text), **changes}),),
        )
        connection.execute("UPDATE placements SET version = version + 1 WHERE name = 'spoilt'")


@pytest.mark.parametrize("changes", ABSURD)
def test_absurd_definitions_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        definition(**changes)


@pytest.mark.parametrize(
    "changes", [*ABSURD, {"slots": "many"}, {"policy": "thompson-sampling:nonsense=1"}, {"position_bias": [1.0]}]
)
def test_a_placement_that_cannot_be_read_hurts_itself_alone(tmp_path: Path, changes: dict[str, Any]) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define("home")
        client.define("spoilt")
        spoil(tmp_path, **changes)
        wait_for(lambda: client.get("/v1/placements").json()["broken"], "it to be found broken")
        listed = client.get("/v1/placements").json()
        assert [placement["name"] for placement in listed["placements"]] == ["home"]
        ((name, why),) = [broken.values() for broken in listed["broken"]]
        assert name == "spoilt"
        for answer in (
            client.post("/v1/placements/spoilt/decisions"),
            client.get("/v1/placements/spoilt"),
            client.get("/v1/placements/spoilt/estimates"),
            client.get("/v1/placements/spoilt/overview"),
            client.get("/v1/placements/spoilt/state"),
        ):
            assert answer.status_code == 500
            assert answer.headers["content-type"] == "application/problem+json"
            assert why in answer.json()["detail"]
        assert client.get("/v1/placements/home/state").status_code == 200
        client.wait_until_ready()
        client.decide("home")
        # put again, it is as good as any other
        client.define("spoilt")
        client.decide("spoilt")
        assert client.get("/v1/placements").json()["broken"] == []


def test_a_placement_that_cannot_be_estimated_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Overviews.document

    async def document(desk: Overviews, asked: OverviewRequest, *others: float) -> Any:
        if asked.name == "odd":
            raise ArithmeticError("something of ours")
        return await whole(desk, asked, *others)

    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define("home")
        client.define("odd")
        monkeypatch.setattr(Overviews, "document", document)
        # the server closes the connection after that
        answer = httpx.get(f"{client.base_url}/v1/placements/odd/state", timeout=FOR_EVER)
        assert answer.status_code == 500
        assert "ours" not in answer.text
        assert client.get("/v1/placements/home/state").json()["kind"] == "nothing_yet"
        assert len(client.get("/v1/placements").json()["placements"]) == 2


def test_an_internal_error_while_learning_is_not_disclosed_and_stays_contained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slotwise.service.placements.placement_state import Placement

    def broken(*_: object) -> None:
        raise OverflowError("something of ours")

    async def test() -> None:
        store = f"sqlite:///{tmp_path}/store.db"
        async with Worker(
            store, placements={"home": definition(window_seconds=0.1), "other": definition()}, write_seconds=FOR_EVER
        ) as worker:
            monkeypatch.setattr(Placement, "learn", broken)
            await worker.decide("home")
            while not worker.broken():
                await asyncio.sleep(0.05)
            with pytest.raises(BrokenPlacement, match="an internal error"):
                await worker.decide("home")
            await worker.decide("other")

    asyncio.run(test())


def exported(tmp_path: Path) -> dict[str, Any]:
    store = open_store(f"sqlite:///{tmp_path}/exported.db")
    store.put_placement("home", definition().text())
    content: dict[str, Any] = json.loads(to_text(store.carry_out("home")))
    store.close()
    return content


@pytest.mark.parametrize("changes", [*ABSURD, {"policy": "thompson-sampling:nonsense=1"}])
def test_absurd_definitions_are_not_imported(tmp_path: Path, changes: dict[str, Any]) -> None:
    content = exported(tmp_path)
    content["definition"].update(changes)
    (tmp_path / "home.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile, match=r"home\.json"):
        from_file(tmp_path / "home.json")


def test_absurd_counts_are_not_imported(tmp_path: Path) -> None:
    content = exported(tmp_path)
    path = tmp_path / "home.json"
    for count, fits in ((10**12, True), (10**12 + 1, False), (2**53, False), (2**63, False), (-1, False)):
        content["tally"] = [["", slot, item, count, count, count, 0, 0.0, 0.0] for slot in (1, 2) for item in "abc"]
        path.write_text(json.dumps(content))
        if fits:
            assert len(from_file(path).tally) == 6
        else:
            with pytest.raises(UnreadableFile, match="tally"):
                from_file(path)


def test_a_file_of_another_format_is_refused_by_name(tmp_path: Path) -> None:
    content = {**exported(tmp_path), "format": "slotwise placement 1"}
    (tmp_path / "home.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile, match=r"home\.json .*format.*slotwise placement 1"):
        from_file(tmp_path / "home.json")


@pytest.mark.parametrize(
    "line", ["position_bias = [1.7e308]", 'policy = "toprank"', 'policy = "thompson-sampling:nonsense=1"']
)
def test_absurd_definitions_in_a_file_of_settings_are_named(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "serve.toml").write_text(f'[placements.demo]\nslots = 1\nitems = ["a", "b"]\n{line}\n')
    monkeypatch.setenv("SLOTWISE_CONFIG", str(tmp_path / "serve.toml"))
    process = Process(tmp_path, f"sqlite:///{tmp_path}/store.db", free_port())
    assert process.popen.wait(FOR_EVER) == 2
    (said,) = process.log.read_text().splitlines()
    assert said.startswith("error: setting placements.demo")
