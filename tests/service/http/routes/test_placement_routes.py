from __future__ import annotations

import itertools
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.service.serving import NOON, THREE, Client, serving
from tests.waiting import FOR_EVER

names = map("placement {}".format, itertools.count())


@pytest.fixture
def name(client: Client) -> str:
    """A placement of this test's own: two slots, items a, b and c, a minute."""
    fresh = next(names)
    client.define(fresh)
    return fresh


def test_a_placement_is_put_read_and_listed(client: Client) -> None:
    fresh = next(names)
    asked = {"slots": 2, "items": ["a", "b", {"id": "c", "value": 2.5}], "holdout": 0.25}
    first = client.put(f"/v1/placements/{fresh}", json=asked)
    again = client.put(f"/v1/placements/{fresh}", json=asked)
    assert (first.status_code, again.status_code) == (201, 200)
    wanted = {"name": fresh, **asked, "policy": None, "window_seconds": 1800.0, "position_bias": None}
    wanted |= {"segments": {}, "half_life": None, "values": None}
    wanted |= {"mode": "live", "exploring": True, "pin": {}, "new_items_at_most": None, "sticky_seconds": None}
    wanted |= {
        "max_items": None,
        "per_network_hour": None,
        "per_visitor_hour": None,
        "reward": None,
        "reward_days": 0.0,
        "guardrails": [],
        "alert_url": None,
    }
    assert first.json() == again.json() == client.get(f"/v1/placements/{fresh}").json() == wanted
    listed = client.get("/v1/placements").json()["placements"]
    assert {"name": fresh, "slots": 2, "item_count": 3}.items() <= next(p for p in listed if p["name"] == fresh).items()


def test_a_decision_has_exactly_the_fields_of_the_contract(client: Client, name: str) -> None:
    decision = client.decide(name)
    assert set(decision) == {"id", "placement", "items", "arm", "expires", "token"}
    assert decision["placement"] == name
    assert len(set(decision["items"])) == 2 <= len({"a", "b", "c"} & set(decision["items"]))
    assert decision["arm"] == "learned"
    assert datetime.fromisoformat(decision["expires"]).timestamp() == client.clock.now + 60


def test_a_body_may_be_left_out(client: Client, name: str) -> None:
    assert client.post(f"/v1/placements/{name}/decisions").status_code == 201


def test_constraints_are_obeyed(client: Client, name: str) -> None:
    for _ in range(10):
        assert client.decide(name, exclude=["a"], pin={"b": 1})["items"] == ["b", "c"]
    assert client.decide(name, exclude=["a", "b"])["items"] == ["c"]
    # what is not there cannot be shown anyway
    assert client.decide(name, exclude=["a", "b", "nobody"])["items"] == ["c"]
    assert len(client.decide(name, exclude=["nobody"])["items"]) == 2


@pytest.mark.parametrize("settings", [{}, {"exploring": False}, {"holdout": 1.0}, {"mode": "shadow"}], ids=str)
def test_only_candidates_are_shown(client: Client, name: str, settings: dict[str, Any]) -> None:
    client.define(name, items=list("abcdef"), pin={"a": 1}, **settings)
    for _ in range(5):
        assert sorted(client.decide(name, candidates=["b", "e"])["items"]) == ["b", "e"]
        assert client.decide(name, candidates=["a", "e", "f"], exclude=["f"])["items"] == ["a", "e"]
    # fewer than slots: a shorter list
    assert client.decide(name, candidates=["d"])["items"] == ["d"]
    assert client.decide(name, candidates=["b", "c", "d"], pin={"d": 2})["items"][1] == "d"
    assert len(client.decide(name)["items"]) == 2


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (["tea", "tea"], "'tea' twice"),
        (["caf\u00e9", "cafe\u0301"], "look the same"),
        (["tea", "\uff54ea"], "look the same"),
        (["te\u200da", "tea"], "look the same"),
        (["black tea", "black\u00a0tea"], "look the same"),
        (["tea", "te\u200ba"], "U+200B"),
        (["tea", "\u202etea"], "U+202E"),
    ],
)
def test_items_that_look_the_same_are_refused(client: Client, name: str, items: list[str], reason: str) -> None:
    answer = client.put(f"/v1/placements/{name}", json={"slots": 1, "items": items})
    assert answer.status_code == 422
    assert reason in answer.text
    assert len(client.get(f"/v1/placements/{name}").json()["items"]) == 3


@pytest.mark.parametrize(
    "wish",
    [
        {"exclude": ["a", "b", "c"]},
        {"exclude": ["a", "b", "c", "nobody"]},
        {"exclude": "abc"},
        {"exclude": [1]},
        {"pin": {"nobody": 1}},
        {"pin": {"a": 0}},
        {"pin": {"a": 3}},
        {"pin": {"a": 1, "b": 1}},
        {"pin": {"a": True}},
        {"pin": {"a": 1}, "exclude": ["a"]},
        {"limit": 3},
        {"candidates": []},
        {"candidates": ["nobody"]},
        {"candidates": ["a"], "exclude": ["a"]},
        {"candidates": ["a"], "pin": {"b": 1}},
        {"candidates": ["a"] * 1_001},
        [],
        None,
    ],
)
def test_impossible_constraints_are_rejected(client: Client, name: str, wish: Any) -> None:
    answer = client.post(f"/v1/placements/{name}/decisions", json=wish)
    assert answer.status_code == 422 or (wish is None and answer.status_code == 201), answer.text


def test_outcomes_are_counted_at_the_deadline_and_once(client: Client, name: str) -> None:
    clicked, passed, unseen, silent = (client.decide(name, pin={"a": 1, "b": 2}) for _ in range(4))
    assert client.report(clicked, clicked="b").json() == {"duplicate": False}
    assert client.report(clicked, clicked="b").json() == {"duplicate": True}
    assert client.report(passed, clicked=None).json() == {"duplicate": False}
    assert client.report(unseen, shown=False).json() == {"duplicate": False}
    before = client.estimates(name)
    assert before["decisions"]["pending"] == 4
    assert not any(map(any, before["tally"]["clicks"]))
    found = client.settle(name)
    assert found["tally"] == {
        "items": ["a", "b", "c"],
        "clicks": [[0, 0, 0], [0, 1, 0]],
        "passes": [[2, 0, 0], [0, 2, 0]],
    }
    assert found["decisions"] == {
        "issued": 4,
        "final": 4,
        "pending": 0,
        "clicked": 1,
        "no_click": 2,
        "not_shown": 1,
        "capped": 0,
        "late": 0,
        "several": 0,
        "value": 0.0,
        "reported": 0,
        "reported_until": None,
    }
    assert [(item["id"], item["shown"], item["clicks"]) for item in found["items"]] == [
        ("a", 3, 0),
        ("b", 3, 1),
        ("c", 0, 0),
    ]
    late = client.report(silent, clicked="a")
    assert late.status_code == 410
    assert client.report(silent, clicked="a").status_code == 410
    assert client.estimates(name)["decisions"]["late"] == 1
    assert client.estimates(name)["tally"] == found["tally"]


def test_estimates_have_exactly_the_fields_of_the_contract(client: Client, name: str) -> None:
    found = client.estimates(name)
    assert set(found) == {
        "items",
        "position_bias",
        "tally",
        "best_list",
        "decisions",
        "by_segment",
        "window_seconds",
        "uplift",
        "shadow",
        "half_life",
        "candidate_items",
        "model_check",
    }
    fields = {"id", "attractiveness", "low", "high", "probability_in_best_list", "shown", "clicks"}
    assert all(set(item) == fields for item in found["items"])
    assert [set(slot) for slot in found["position_bias"]] == [{"slot", "estimate", "low", "high"}] * 2
    assert [slot["slot"] for slot in found["position_bias"]] == [1, 2]
    assert found["uplift"] is None


def test_a_click_may_replace_a_no_click_and_nothing_else_may_change(client: Client, name: str) -> None:
    decision = client.decide(name)
    shown = decision["items"]
    assert client.report(decision, clicked=None).status_code == 200
    assert client.report(decision, shown=False).status_code == 409
    assert client.report(decision, clicked=shown[0]).json() == {"duplicate": False}
    assert client.report(decision, clicked=shown[0]).json() == {"duplicate": True}
    for other in ({"clicked": shown[1]}, {"clicked": None}, {"shown": False}):
        answer = client.report(decision, **other)
        assert answer.status_code == 409
        assert shown[0] in answer.json()["detail"]
    assert client.settle(name)["decisions"]["clicked"] == 1


@pytest.mark.parametrize(
    "outcome", [{}, {"shown": True}, {"shown": None}, {"clicked": 1}, {"clicked": "a", "shown": False}]
)
def test_invalid_outcomes_are_rejected(client: Client, name: str, outcome: Any) -> None:
    assert client.report(client.decide(name), **outcome).status_code == 422


def test_a_click_on_an_item_not_shown_is_rejected(client: Client, name: str) -> None:
    decision = client.decide(name, exclude=["a"])
    for item in ("a", "nobody"):
        answer = client.report(decision, clicked=item)
        assert answer.status_code == 422
        assert item in answer.json()["detail"]
    assert client.report(decision, clicked="b").json() == {"duplicate": False}


def test_unknown_resources_are_not_found(client: Client) -> None:
    unknown = "0" * 32
    for answer in (
        client.get("/v1/placements/nobody"),
        client.get("/v1/placements/nobody/estimates"),
        client.post("/v1/placements/nobody/decisions", json={}),
        client.put(f"/v1/decisions/{unknown}/outcome", json={"clicked": None}),
        client.put("/v1/decisions/%00'--/outcome", json={"clicked": None}),
        client.get("/v2"),
        client.get("/v1/placements/"),
    ):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == 404


def test_a_method_that_is_not_allowed_is_answered_with_those_that_are(client: Client, name: str) -> None:
    for path, allowed in {
        "/v1/placements": {"GET", "HEAD"},
        f"/v1/placements/{name}": {"GET", "HEAD", "PUT"},
        f"/v1/placements/{name}/decisions": {"POST"},
        "/v1/outcomes": {"POST"},
        "/static/page.css": {"GET", "HEAD"},
        "/healthz": {"GET", "HEAD"},
    }.items():
        answer = client.request("PROPFIND", path)
        assert answer.status_code == 405, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert allowed <= {*answer.headers["Allow"].split(", ")}, path
        for method in answer.headers["Allow"].split(", "):
            assert client.request(method, path).status_code != 405, (method, path)


def test_a_method_that_http_does_not_have_is_refused(client: Client) -> None:
    answer = client.request("BREW", "/v1/placements")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_items_come_go_and_come_back_and_nothing_is_lost(client: Client, name: str) -> None:
    decision = client.decide(name, pin={"a": 1, "b": 2})
    client.report(decision, clicked="a")
    client.settle(name)
    client.define(name, items=["b", "c", {"id": "d", "value": 3.0}])
    assert {*client.decide(name, exclude=["b"])["items"]} == {"c", "d"}
    found = client.settle(name)
    assert [item["id"] for item in found["items"]] == ["b", "c", "d"]
    assert found["tally"]["items"] == ["b", "c", "d", "a"]
    assert found["tally"]["clicks"][0][3] == 1
    assert client.post(f"/v1/placements/{name}/decisions", json={"pin": {"a": 1}}).status_code == 422
    client.define(name, items=["a", "b", "c"])
    assert client.estimates(name)["items"][0]["clicks"] == 1


def test_slots_may_change_and_keep_their_counts(client: Client, name: str) -> None:
    client.report(client.decide(name, pin={"a": 1, "b": 2}), clicked="b")
    client.settle(name)
    client.define(name, slots=1)
    assert len(client.decide(name)["items"]) == 1
    assert client.estimates(name)["tally"]["clicks"] == [[0, 0, 0], [0, 1, 0]]
    client.define(name, slots=3)
    assert len(client.decide(name)["items"]) == 3
    assert client.estimates(name)["tally"]["clicks"] == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_a_decision_is_looked_up_by_its_id(client: Client, name: str) -> None:
    decision = client.decide(name)
    address = f"/v1/decisions/{decision['id']}"
    wanted = {
        "id": decision["id"],
        "placement": name,
        "issued": datetime.fromtimestamp(client.clock.now, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
        "expires": decision["expires"],
        "context": {},
        "arm": "learned",
        "items": decision["items"],
        "final": False,
        "outcome": None,
        "clicked": [],
        "value": None,
        "late": False,
        "capped": False,
        "events": [],
    }

    def looked_up() -> dict[str, Any]:
        found: dict[str, Any] = client.get(address).json()
        # which come when they are found
        assert found.pop("propensities") is None or len(decision["items"]) == 2
        return found

    assert looked_up() == wanted
    clicked = decision["items"][1]
    client.report(decision, clicked=clicked)
    wanted |= {"outcome": "clicked", "clicked": [clicked]}
    assert looked_up() == wanted
    client.settle(name)
    client.report(decision, clicked=None)
    assert looked_up() == wanted | {"final": True, "late": True}


@pytest.mark.parametrize("id", ["0" * 32, "f" * 31, "é", "%00", "..%2Fplacements"])
def test_a_decision_that_is_not_there_is_404(client: Client, id: str) -> None:
    answer = client.get(f"/v1/decisions/{id}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_holdout_shows_items_as_given_and_gives_the_uplift(client: Client) -> None:
    fresh = next(names)
    client.define(fresh, holdout=0.5)
    arms = {"learned": 0, "holdout": 0}
    # an arm has fewer than two with probability 41/2^40
    for _ in range(40):
        decision = client.decide(fresh)
        arms[decision["arm"]] += 1
        if decision["arm"] == "holdout":
            assert decision["items"] == ["a", "b"]
            client.report(decision, clicked="a")
    assert client.decide(fresh, exclude=["a"])["items"] != ["a", "b"]
    found = client.settle(fresh)["uplift"]
    # all of them, but perhaps for the one without the first item
    assert found["holdout"]["clicks"] == arms["holdout"]
    assert found["holdout"]["click_rate"] > 0.5
    assert found["learned"]["clicks"] == 0
    assert found["difference"] == found["learned"]["click_rate"] - found["holdout"]["click_rate"]
    # nothing was clicked in the learned arm
    assert (found["low"], found["high"], found["anytime"], found["ratio"]) == (None, None, None, None)
    assert found["too_early"] == "the learned arm has 0 views with a click, and 10 are needed"


def test_the_uplift_is_of_a_time_and_of_value_where_there_is_any(client: Client) -> None:
    fresh = next(names)
    client.define(fresh, slots=1, items=["a", {"id": "b", "value": 2.0}], holdout=0.5)
    # each arm is empty with probability 2^-60
    for number in range(60):
        decision = client.decide(fresh)
        client.report(decision, clicked=decision["items"][0] if number % 2 else None)
    client.settle(fresh)
    address = f"/v1/placements/{fresh}/estimates"
    found = client.get(address).json()["uplift"]
    assert (found["measure"], found["since"], found["until"]) == ("value_per_view", None, None)
    assert found["holdout"]["value_per_view"] == found["holdout"]["click_rate"]
    assert found["learned"]["value_per_view"] >= found["learned"]["click_rate"]
    day = datetime.fromtimestamp(client.clock.now, UTC).date().isoformat()
    assert client.get(address, params={"since": day}).json()["uplift"] == found | {"since": f"{day}T00:00:00.000Z"}
    assert client.get(address, params={"until": day}).json()["uplift"] is None
    for_a_week = client.get(address, params={"period": "7d"}).json()["uplift"]
    assert for_a_week["learned"] == found["learned"]
    assert for_a_week["since"] is not None
    for wrong, field in (({"since": "now"}, "since"), ({"period": "7d", "until": day}, "period")):
        refused = client.get(address, params=wrong)
        assert refused.status_code == 422
        assert refused.json()["detail"].startswith(field)


@pytest.mark.parametrize("policy", ["epoch-ucb", "toprank", "nobody", "thompson-sampling:acts=never", "", 7])
def test_policies_that_cannot_be_are_refused(client: Client, policy: Any) -> None:
    answer = client.put(f"/v1/placements/{next(names)}", json={**THREE, "policy": policy})
    assert answer.status_code == 422, answer.text


def test_known_bias_is_used(client: Client) -> None:
    fresh = next(names)
    client.define(fresh, position_bias=[0.5, 1.0])
    client.decide(fresh)
    assert [slot["estimate"] for slot in client.settle(fresh)["position_bias"]] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slots", 0),
        ("slots", 4),
        ("slots", 101),
        ("slots", "2"),
        ("slots", True),
        ("slots", 1.5),
        ("items", []),
        ("items", ["a", "b", "a"]),
        ("items", ["a", "b", ""]),
        ("items", ["a", "b", "c\x00"]),
        ("items", ["a", "b", "c\u2028"]),
        ("items", ["a", "b", "x" * 201]),
        ("items", ["a", "b", {"id": "c", "value": 0}]),
        ("items", ["a", "b", {"id": "c", "value": -1}]),
        ("items", ["a", "b", {"id": "c", "worth": 1}]),
        ("items", [f"item {n}" for n in range(100_001)]),
        ("window_seconds", 0),
        ("window_seconds", 365 * 86_400),
        ("window_seconds", None),
        ("holdout", 1.5),
        ("holdout", -0.1),
        ("position_bias", [1.0]),
        ("position_bias", [1.0, 0.0]),
        ("windows", 3),
    ],
)
def test_definitions_that_cannot_be_are_refused_by_field(client: Client, field: str, value: Any) -> None:
    fresh = next(names)
    answer = client.put(f"/v1/placements/{fresh}", json={**THREE, field: value})
    assert answer.status_code == 422
    assert field in answer.json()["detail"]
    assert len(answer.content) < 5_000
    assert client.get(f"/v1/placements/{fresh}").status_code == 404


@pytest.mark.parametrize("path", ["%00", "a%0Ab", "x" * 201, "%E2%80%A8"])
def test_names_that_cannot_be_are_refused(client: Client, path: str) -> None:
    assert client.put(f"/v1/placements/{path}", json=THREE).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"slots": NaN}',
        b'{"slots": 1, "items": ["\\ud800"]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"slots": 1e999, "items": ["a"]}',
        b'{"slots": 1, "items": ["a"], "holdout": Infinity}',
    ],
)
def test_malformed_bodies_are_refused(client: Client, name: str, body: bytes) -> None:
    answers = [
        client.put(f"/v1/placements/{name}", content=body),
        client.put(f"/v1/decisions/{'0' * 32}/outcome", content=body),
        client.post("/v1/outcomes", content=body),
    ]
    if body:
        answers.append(client.post(f"/v1/placements/{name}/decisions", content=body))
    for answer in answers:
        assert answer.status_code in (422, 413), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_bodies_too_large_are_refused(client: Client, name: str) -> None:
    decision = client.decide(name)
    padding = {"clicked": "x" * 100_000}
    assert client.put(f"/v1/decisions/{decision['id']}/outcome", json=padding).status_code == 413
    assert client.post("/v1/outcomes", json=padding).status_code == 413
    assert client.post(f"/v1/placements/{name}/decisions", content=b" " * 5_000_000).status_code == 413
    assert client.put(f"/v1/placements/{name}", content=b" " * 33_600_000).status_code == 413


def test_names_may_be_in_any_script(client: Client) -> None:
    fresh = next(names) + " 首页 🛒 'x' \"y\" %s ?"
    items = ["ä", "二", "🛒", "'; DROP TABLE decisions; --"]
    client.put("/v1/placements/" + fresh.replace("%", "%25").replace("?", "%3F"), json={"slots": 4, "items": items})
    answer = client.post(f"/v1/placements/{fresh.replace('%', '%25').replace('?', '%3F')}/decisions")
    assert sorted(answer.json()["items"]) == sorted(items)
    assert client.report(answer.json(), clicked="🛒").status_code == 200


def test_the_metrics_are_the_stores(client: Client, name: str) -> None:
    client.report(client.decide(name), clicked=None)
    client.settle(name)
    counted = f'slotwise_outcomes_total{{kind="no_click",placement="{name}"}} 1.0'
    give_up = time.monotonic() + FOR_EVER
    while counted not in (text := client.get("/metrics").text):
        assert time.monotonic() < give_up, text
        time.sleep(0.05)
    assert f'slotwise_decisions_total{{arm="learned",placement="{name}"}} 1.0' in text
    assert f'slotwise_pending{{placement="{name}"}} 0.0' in text
    assert f'slotwise_silent_share{{placement="{name}"}} 0.0' in text
    assert "slotwise_snapshot_staleness_bound_seconds 1.0" in text
    assert 'slotwise_request_seconds_count{request="decide"}' in text


def test_pages_are_whole_and_escaped(client: Client) -> None:
    client.put("/v1/placements/<script>alert(1)<", json={**THREE, "items": ["<b>", "b", "c"]})
    page = client.get("/")
    assert page.status_code == 200
    assert "<script>" not in page.text
    assert "<b>" not in page.text
    assert "/v1/placements/{name}/decisions" in client.get("/docs").text


def test_health_and_readiness(client: Client) -> None:
    assert client.get("/healthz").status_code == 200
    client.wait_until_ready()


def test_restarting_goes_on_where_it_was(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    with serving(store) as first:
        first.define()
        waiting = first.decide(pin={"a": 1, "b": 2})
        reported = first.decide(pin={"a": 1, "b": 2})
        first.report(reported, clicked="b")
    with serving(store) as second:
        # the deadline passed while nobody was there
        second.clock.now = NOON + 61
        found = second.settle(seconds=0)
        assert found["decisions"]["clicked"] == found["decisions"]["no_click"] == 1
        assert second.report(waiting, clicked="a").status_code == 410


def test_placements_of_the_settings_are_made_once(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    with serving(store, placements={"demo": THREE}) as client:
        assert client.decide("demo")["placement"] == "demo"
        client.define("demo", items=["x", "y"])
    with serving(store, placements={"demo": THREE}) as client:
        assert json.loads(client.get("/v1/placements/demo").text)["items"] == ["x", "y"]
