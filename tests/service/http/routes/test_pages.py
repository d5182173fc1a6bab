"""The pages for people, in a real Chromium: a request is tried out on /docs, and nothing leaves the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from slotwise.service.http.openapi import document
from slotwise.service.http.routes.decision_routes import DecisionApi
from slotwise.service.http.routes.placement_routes import PlacementApi
from tests.service.browser import Tab, needs_a_browser, opened
from tests.service.serving import serving
from tests.waiting import FOR_EVER

KEY = "s3cret"


def send(tab: Tab, operation: str, **fields: str) -> tuple[str, Any]:
    """What a person does on /docs, and the status and answer that the page then shows."""
    form = f"document.querySelector('#{operation} form')"
    tab.run(f"document.getElementById({json.dumps(operation)}).open = true")
    for name, value in fields.items():
        tab.run(f"{form}.elements[{json.dumps(name)}].value = {json.dumps(value)}")
    tab.run(f"{form}.querySelector('.answer').hidden = true; {form}.querySelector('[type=submit]').click()")
    tab.wait_for(f"!{form}.querySelector('.answer').hidden")
    return tab.run(f"{form}.querySelector('.status').textContent"), json.loads(
        tab.run(f"{form}.querySelector('.answer').textContent")
    )


@needs_a_browser
def test_a_decision_and_its_outcome_are_tried_out_on_docs_without_a_network(tmp_path: Path) -> None:
    with (
        serving(f"sqlite:///{tmp_path}/store.db", server_key=KEY, headers={"Authorization": f"Bearer {KEY}"}) as client,
        opened(tmp_path / "browser") as tab,
    ):
        url = str(client.base_url).rstrip("/")
        tab.open(f"{url}/docs#decide")
        assert tab.run("document.getElementById('decide').open")
        status, refusal = send(tab, "decide")
        assert status.startswith("401")
        assert "Bearer KEY" in refusal["detail"]
        tab.run(f"document.getElementById('key').value = {json.dumps(KEY)}")
        assert send(tab, "put_placement")[0].startswith("201")
        status, decision = send(tab, "decide")
        assert status.startswith("201")
        assert len(decision["items"]) == 3
        # the decision's id, token and first item have gone into the forms for its outcome
        assert send(tab, "report")[1] == {"duplicate": False}
        assert send(tab, "report_by_token")[1] == {"duplicate": True}
        status, problem = send(tab, "report", body='{"clicked": 7}')
        assert status.startswith("422")
        assert problem["errors"][0] == {"field": "clicked", "detail": "Input should be a valid array", "value": "7"}
        assert client.estimates("home")["decisions"]["pending"] == 1
        assert send(tab, "estimates")[1]["decisions"]["pending"] == 1
        tab.open(f"{url}/docs")
        # it fits on a phone
        tab.call("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=1, mobile=True)
        tab.wait_for("document.documentElement.scrollWidth <= 360")
        assert all(request.startswith(f"{url}/") for request in tab.requests if not request.startswith("data:"))


@needs_a_browser
def test_the_dashboard_shows_names_as_they_are_and_runs_none_of_them(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client, opened(tmp_path / "browser") as tab:
        evil = "<img src=x onerror=alert(1)>"
        client.put(f"/v1/placements/{evil}", json={"slots": 1, "items": [evil, "b"]}).raise_for_status()
        tab.open(f"{str(client.base_url).rstrip('/')}/")
        assert tab.wait_for("document.querySelector('.placements a')?.textContent") == evil
        assert tab.run("document.images.length") == 0


def test_the_page_and_the_document_have_every_operation(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        page, openapi = client.get("/docs"), client.get("/openapi.json").json()
        for path, methods in openapi["paths"].items():
            for method in methods:
                assert f'data-method="{method.upper()}" data-path="{path}"' in page.text
        # nothing on it is from elsewhere, and the browser is told to see to it
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "//" not in page.text.replace("</", "")
        for asset in ("/static/docs.js", "/static/page.css"):
            assert asset in page.text
            assert client.get(asset).status_code == 200


def test_every_example_is_one_that_its_own_type_takes() -> None:
    operations = [*DecisionApi(None).operations(), *PlacementApi(None).operations()]  # type: ignore[arg-type]
    types = document(operations)["components"]["schemas"]
    named = {id(part): part for operation in operations for part in (operation.body, operation.answer) if part}
    tried = 0
    for part in named.values():
        schema = part.json_schema()
        choices = [
            choice["$ref"].rpartition("/")[2]
            for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
            if "$ref" in choice
        ]
        names = choices or [schema.get("title")]
        for name in names:
            for example in types.get(name, schema)["examples"]:
                part.validate_json(json.dumps(example))
                tried += 1
    assert tried >= 10


def test_deleting_a_placement_asks_for_its_name_twice(tmp_path: Path) -> None:
    described = document(PlacementApi(None).operations())  # type: ignore[arg-type]
    asked = described["paths"]["/v1/placements/{name}"]["delete"]["parameters"]
    assert {one["name"]: one["required"] for one in asked} == {"name": True, "confirm": True, "If-Match": False}
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        # and the page does not fill it in for them
        assert '<input name="confirm" data-in="query" required placeholder="home">' in client.get("/docs").text


@pytest.mark.parametrize("path", ["/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/docs/"])
def test_unknown_pages_are_not_found(tmp_path: Path, path: str) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        answer = httpx.get(f"{client.base_url}".rstrip("/") + path, timeout=FOR_EVER)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
