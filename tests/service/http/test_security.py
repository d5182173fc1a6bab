from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from slotwise.service.decisions.outcome_tokens import Signer
from tests.postgres import Postgres
from tests.service.serving import THREE, Client, serving
from tests.waiting import wait_for

KEY = "a-key-of-ours"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('security')}/store.db"
    headers = {"Authorization": f"Bearer {KEY}"}
    with serving(store, headers=headers, server_key=SecretStr(KEY)) as serving_client:
        serving_client.define()
        yield serving_client


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", f"Token {KEY}", "Basic x", KEY]
)
def test_without_the_key_nothing_is_disclosed(client: Client, header: str) -> None:
    for method, path in (
        ("GET", "/v1/placements"),
        ("GET", "/v1/placements/home"),
        ("GET", "/v1/placements/home/estimates"),
        ("PUT", "/v1/placements/home"),
        ("POST", "/v1/placements/home/decisions"),
        ("PUT", f"/v1/decisions/{'0' * 32}/outcome"),
        ("GET", f"/v1/decisions/{'0' * 32}"),
        ("GET", "/metrics"),
        ("GET", "/v1/placements/nobody"),
    ):
        answer = client.request(
            method, path, headers={"Authorization": header}, json=None if method == "GET" else THREE
        )
        assert answer.status_code == 401, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert "WWW-Authenticate" in answer.headers
        assert KEY not in answer.text


def test_health_needs_no_key_and_a_browser_may_ask_a_person(client: Client) -> None:
    client.wait_until_ready()
    # the dashboard holds nothing: it asks people for the key, and the API for the rest
    for path in ("/healthz", "/docs", "/openapi.json", "/", "/placements/home", "/static/dashboard.js"):
        assert client.get(path, headers={"Authorization": ""}).status_code == 200
    # readiness includes a write in time, which a busy machine may miss
    ready = [partial(client.request, method, "/readyz", headers={"Authorization": ""}) for method in ("GET", "HEAD")]
    wait_for(lambda: all(ask().status_code == 200 for ask in ready), "readiness")
    asked = base64.b64encode(f"anyone:{KEY}".encode()).decode()
    assert client.get("/metrics", headers={"Authorization": f"Basic {asked}"}).status_code == 200
    # which the browser then sends along for any page that asks it to
    decided = client.post("/v1/placements/home/decisions", headers={"Authorization": f"Basic {asked}"}, content=b"{}")
    assert decided.status_code == 401


def test_without_a_key_no_other_name_is_answered(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as open_client:
        assert open_client.get("/v1/placements").status_code == 200
        for host in (
            "evil.example:8000",
            "evil",
            "evil:8000",
            "127.0.0.1.evil.example",
            "[",
            "localhost.evil",
            "0.0.0.0",
        ):
            assert open_client.get("/v1/placements", headers={"Host": host}).status_code == 403, host
        for host in ("localhost", "LOCALHOST:80", "localhost.", "127.0.0.1:7", "127.1.2.3", "[::1]:8000"):
            assert open_client.get("/v1/placements", headers={"Host": host}).status_code == 200, host
        assert (tmp_path / "store.db").stat().st_mode & 0o077 == 0


def test_a_token_reports_its_own_decision_and_nothing_else(client: Client) -> None:
    nobody = {"Authorization": ""}
    decision, other = client.decide(), client.decide()
    body = {"token": decision["token"], "clicked": decision["items"][0]}
    assert client.post("/v1/outcomes", json=body, headers=nobody).json() == {"duplicate": False}
    assert client.post("/v1/outcomes", json=body, headers=nobody).json() == {"duplicate": True}
    assert client.post("/v1/outcomes", json={**body, "clicked": None}, headers=nobody).status_code == 409
    as_key = {"Authorization": f"Bearer {decision['token']}"}
    assert client.get("/v1/placements", headers=as_key).status_code == 401
    assert client.report(other, clicked=None).json() == {"duplicate": False}


def test_forged_tokens_are_refused(client: Client) -> None:
    decision, other = client.decide(), client.decide()
    good = decision["token"]
    mixed = base64.urlsafe_b64encode(
        base64.urlsafe_b64decode(other["token"])[:24] + base64.urlsafe_b64decode(good)[24:]
    ).decode()
    foreign = Signer(b"another secret").sign(decision["id"], client.clock.now + 60)
    longer = Signer(b"").sign(decision["id"], client.clock.now + 1e6)
    for token in (
        "",
        "x",
        good[:-4],
        good[4:],
        good + "AAAA",
        good.swapcase(),
        mixed,
        foreign,
        longer,
        "é" * 20,
        "\x00",
    ):
        answer = client.post("/v1/outcomes", json={"token": token, "clicked": None})
        assert answer.status_code == 403, token
        assert not token or token not in answer.text
    assert client.post("/v1/outcomes", json={"token": 7, "clicked": None}).status_code == 422
    assert client.post("/v1/outcomes", json={"clicked": None}).status_code == 422
    assert client.report(decision, clicked=None).json() == {"duplicate": False}


def test_an_expired_token_is_refused_and_counted_as_late(client: Client) -> None:
    client.define("late")
    decision = client.decide("late")
    client.clock.now += 60.0
    assert client.beacon(decision, clicked=None).status_code == 403
    assert client.settle("late")["decisions"]["late"] == 1


def test_a_beacon_is_taken_from_another_origin_as_plain_text(client: Client) -> None:
    decision = client.decide()
    body = f'{{"token": "{decision["token"]}", "clicked": null}}'
    headers = {"Authorization": "", "Content-Type": "text/plain;charset=UTF-8", "Origin": "https://shop.example"}
    answer = client.post("/v1/outcomes", content=body, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example"
    ask = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST", "Authorization": ""}
    preflight = client.options("/v1/outcomes", headers={**ask, "Access-Control-Request-Headers": "content-type"})
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "https://shop.example"
    assert preflight.headers["Access-Control-Allow-Credentials"] == "true"
    assert "content-type" in preflight.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Origin" not in client.get("/v1/placements", headers=ask).headers


def test_without_a_key_other_pages_may_only_report(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define()
        own = str(client.base_url).rstrip("/")
        for origin, status in {
            "https://evil.example": 403,
            "http://[": 403,
            "null": 403,
            "": 403,
            "http://localhost:3000": 403,
            "http://127.0.0.1": 403,
            f"{own}0": 403,
            own: 201,
        }.items():
            answer = client.post("/v1/placements/home/decisions", headers={"Origin": origin})
            assert answer.status_code == status, origin
        decision = client.decide()
        body = {"token": decision["token"], "clicked": None}
        assert client.post("/v1/outcomes", json=body, headers={"Origin": "https://shop.example"}).status_code == 200


def test_an_error_inside_shows_nothing_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define()
        (tmp_path / "store.db").unlink()
        answer = client.post("/v1/placements/home/decisions")
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "1"
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        for text in (answer.text, client.get("/readyz").text, client.put("/v1/placements/new", json=THREE).text):
            assert str(tmp_path) not in text
            assert "Traceback" not in text
    assert "is gone" in " ".join(str(getattr(record, "problem", "")) for record in caplog.records)


def test_a_bug_inside_shows_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("something of ours")

    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define()
        monkeypatch.setattr("slotwise.service.decisions.decide.decide", broken)
        answer = client.post("/v1/placements/home/decisions")
    assert answer.status_code == answer.json()["status"] == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "ours" not in answer.text
    assert "something of ours" in caplog.text


def test_a_lost_database_is_reported_and_used_again_once_back(postgres: Postgres) -> None:
    with serving(postgres.fresh()) as client:
        client.define()
        kept = client.decide()
        postgres.stop()
        try:
            assert client.get("/readyz").status_code == 503
            assert client.post("/v1/placements/home/decisions").status_code == 503
            assert client.report(kept, clicked=None).status_code == 503
            assert client.get("/v1/placements/home/estimates").status_code == 503
            assert client.get("/healthz").status_code == 200
        finally:
            postgres.start()
        assert client.report(kept, clicked=None).json() == {"duplicate": False}
        client.wait_until_ready()
        assert client.settle()["decisions"]["no_click"] == 1


READ_KEY = "a-key-for-looking"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('reading')}/store.db"
    with serving(
        store,
        headers={"Authorization": f"Bearer {READ_KEY}"},
        server_key=SecretStr(KEY),
        read_key=SecretStr(READ_KEY),
    ) as client:
        full = {"Authorization": f"Bearer {KEY}"}
        assert client.put("/v1/placements/home", json=THREE, headers=full).status_code == 201
        yield client


def test_the_read_key_reads_everything(reader: Client) -> None:
    full = {"Authorization": f"Bearer {KEY}"}
    decision = reader.post("/v1/placements/home/decisions", headers=full).json()
    paths = [
        path.replace("{name}", "home").replace("{id}", decision["id"])
        for path, methods in reader.get("/openapi.json").json()["paths"].items()
        if "get" in methods
    ]
    assert len(paths) > 8
    for path in (*paths, "/metrics"):
        answer = reader.get(path)
        assert answer.status_code == 200, (path, answer.text)
        # so a page knows that it cannot change anything
        assert answer.headers["Slotwise-Access"] == "read"
        assert decision["token"] not in answer.text
        assert "Slotwise-Access" not in reader.get(path, headers=full).headers


def test_the_read_key_changes_nothing(reader: Client) -> None:
    before = reader.get("/v1/placements/home/changes").json()
    operations = [
        (method.upper(), path.replace("{name}", "home").replace("{id}", "0" * 32))
        for path, methods in reader.get("/openapi.json").json()["paths"].items()
        for method in methods
        if method != "get" and path != "/v1/outcomes"
    ]
    assert len(operations) > 7
    for method, path in operations:
        answer = reader.request(method, path, json={**THREE, "slots": 1})
        assert answer.status_code == 403, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert "SLOTWISE_READ_KEY" in answer.json()["detail"]
    assert reader.get("/v1/placements/home/changes").json() == before
    assert reader.estimates()["decisions"]["issued"] <= 1


def test_basic_authentication_takes_the_read_key_for_metrics_only(reader: Client) -> None:
    asked = {"Authorization": f"Basic {base64.b64encode(f'anyone:{READ_KEY}'.encode()).decode()}"}
    assert reader.get("/metrics", headers=asked).status_code == 200
    assert reader.get("/v1/placements", headers=asked).status_code == 401
