"""When: what happened by hour and by day, over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from slotwise.service.storage import open_store
from slotwise.service.storage.decision_types import DAY, HOUR
from tests.postgres import Postgres
from tests.service.serving import Client, serving
from tests.waiting import FOR_EVER

#: the beginning of a day, after the time at which the server's clock starts
MIDNIGHT = 1_800_057_600.0


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('history')}/store.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.fresh()


@pytest.fixture
def client(store: str) -> Iterator[Client]:
    with serving(store) as serving_client:
        serving_client.clock.now = MIDNIGHT
        yield serving_client


def _history(client: Client, **asked: Any) -> dict[str, Any]:
    answer = client.get("/v1/placements/home/history", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _visit(client: Client, item: str, device: str, clicked: bool) -> None:
    decision = client.decide(context={"device": device}, pin={item: 1}, exclude=[{"a": "b", "b": "a"}[item]])
    client.report(decision, **({"clicked": item, "value": 2.0} if clicked else {"clicked": None}))


def _wait_for_end(client: Client, hours: int) -> list[Any]:
    give_up = time.monotonic() + FOR_EVER
    while True:
        ends = [period["at_the_end"] for period in _history(client, by="hour")["periods"]]
        if sum(end is not None for end in ends) >= hours:
            return ends
        assert time.monotonic() < give_up
        time.sleep(0.1)


def test_periods_have_all_that_happened_in_them(client: Client, store: str) -> None:
    client.define(segments={"device": ["mobile"]}, holdout=0.0)
    _visit(client, "a", "mobile", clicked=True)
    _visit(client, "b", "mobile", clicked=False)
    client.settle(seconds=HOUR)
    _wait_for_end(client, 1)
    _visit(client, "a", "desktop", clicked=True)
    pending = client.decide(context={"device": "mobile"})
    assert pending
    first, second = _history(client, by="hour")["periods"]
    assert (first["start"], first["hours"]) == ("2027-01-16T00:00:00.000Z", 1)
    counted = {kind: first["decisions"][kind] for kind in ("issued", "final", "clicked", "no_click", "value")}
    assert counted == {"issued": 2, "final": 2, "clicked": 1, "no_click": 1, "value": 2.0}
    assert first["by_arm"] == {"learned": first["decisions"]}
    assert first["by_segment"] == [{"segment": {"device": "mobile"}, "decisions": first["decisions"]}]
    assert first["shown"] == {
        "items": ["a", "b", "c"],
        "shows": [[1, 1, 0], [0, 0, 2]],
        "clicks": [[1, 0, 0], [0, 0, 0]],
    }
    assert len(first["at_the_end"]["best_list"]) == 2
    assert set(first["at_the_end"]["best_list"]) <= set(first["at_the_end"]["probabilities"])
    assert second["start"] == "2027-01-16T01:00:00.000Z"
    assert (second["decisions"]["issued"], second["decisions"]["pending"]) == (2, 2)
    assert {str(one["segment"]) for one in second["by_segment"]} == {"{}", "{'device': 'mobile'}"}
    assert second["at_the_end"] is None
    client.settle()
    (day,) = _history(client)["periods"]
    assert (day["start"], day["hours"], day["decisions"]["issued"]) == (first["start"], 24, 4)
    assert day["shown"]["shows"][0][0] >= 2
    assert day["at_the_end"] == first["at_the_end"]
    assert _history(client, since="2027-01-16T01:00Z", by="hour")["periods"][0]["start"] == second["start"]
    assert _history(client, until="2027-01-16T01:00Z", by="hour")["periods"] == [first]
    assert _history(client, until="2027-01-16")["periods"] == []
    opened = open_store(store)
    opened.merge_hours(MIDNIGHT + DAY, 10)
    opened.close()
    assert _history(client)["periods"] == [day]
    (merged,) = _history(client, by="hour")["periods"]
    assert merged == day


def test_changes_of_the_definition_are_in_it(client: Client) -> None:
    client.define()
    client.clock.now += 5.0
    client.define(window_seconds=61.0)
    created, changed = _history(client)["changes"]
    assert created["time"] == "2027-01-16T00:00:00.000Z"
    assert changed["time"] == "2027-01-16T00:00:05.000Z"
    assert changed["fields"] == {"window_seconds": {"before": 60.0, "after": 61.0}}
    assert _history(client, until="2027-01-16")["changes"] == []


@pytest.mark.parametrize("by", ["hour", "day"])
@pytest.mark.parametrize(
    "asked",
    [
        {"until": "9999-12-31T23:59:59Z"},
        {"since": "0001-01-01T00:00:00+00:01"},
        {"since": "0001-01-01", "until": "9999-12-31T23:59:59-23:59"},
    ],
)
@pytest.mark.parametrize("path", ["history", "timeline"])
def test_the_ends_of_the_calendar_are_times_too(client: Client, path: str, asked: dict[str, str], by: str) -> None:
    client.define()
    answer = client.get(f"/v1/placements/home/{path}", params={**asked, "by": by})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "asked",
    [
        {"by": "week"},
        {"since": "yesterday"},
        {"until": ""},
        {"since": "2027-01-16", "until": "2027-01-15"},
        {"sicne": "2027-01-16"},
    ],
)
def test_invalid_parameters_are_rejected_by_name(client: Client, asked: dict[str, str]) -> None:
    client.define()
    answer = client.get("/v1/placements/home/history", params=asked)
    assert answer.status_code == 422
    assert next(iter(asked)) in answer.text
    assert client.get("/v1/placements/nobody/history").status_code == 404
