"""The programs on the pages do what the pages say: they run against a real service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from slotwise import logs
from slotwise.client import ServiceUnreachable
from tests.service.serving import serving

DOCS = Path(__file__).parents[2] / "docs"


def _program(page: str) -> str:
    """The first Python program on a page."""
    found = re.search(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def _run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "a page", "exec"), names)
    return names


def test_the_visitors_of_the_first_placement(tmp_path: Path) -> None:
    page = (DOCS / "tutorials" / "first-placement.md").read_text()
    definition = re.search(r"curl -X PUT localhost:8000/v1/placements/home -d '(.*)'", page)
    assert definition
    with serving(f"sqlite:///{tmp_path}/first.db") as client:
        assert client.put("/v1/placements/home", content=definition[1]).status_code == 201
        code = _program("tutorials/first-placement.md")
        _run(code.replace("http://127.0.0.1:8000", str(client.base_url)).replace("2_000", "30"))["client"].close()
        assert client.estimates()["decisions"]["reported"] == 30


def test_the_server_of_the_readme_shows_a_list(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        code = _program("../README.md").replace("http://127.0.0.1:8000", str(client.base_url))
        # a busy machine may take longer than a page would wait
        names = _run(code.replace("timeout=0.3", "timeout=60"))
        names["setup"].close()
        names["client"].close()
        assert len(set(names["decision"].items)) == 3
        assert client.get("/v1/placements/home").json()["holdout"] == 0.1


def test_the_log_of_the_tutorial_can_be_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _run(_program("tutorials/log-to-live-list.md").replace("5_000", "200"))
    tally = logs.tally("clicks.csv")
    assert sorted(tally.item_ids) == ["coffee", "juice", "milk", "tea", "water"]
    assert tally.rounds == 200


def test_the_fake_client_stands_in_for_a_service() -> None:
    fake = _run(_program("guides/test-your-integration.md"))["FakeClient"]
    client = fake(["tea", "milk"])
    decision = client.decide("home", key="view")
    assert decision.items == ("tea", "milk")
    assert client.outcome(decision, clicked="tea") is False
    assert client.outcomes == [{"clicked": "tea"}]
    with pytest.raises(ServiceUnreachable):
        fake([], down=True).decide("home")
