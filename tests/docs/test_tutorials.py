"""The programs on the pages do what the pages say: they run against a real service."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import duckdb
import pytest

from slotwise import logs
from slotwise.client import ServiceUnreachable
from slotwise.judgements import count_cells
from tests.commands import slotwise
from tests.service.serving import serving
from tests.waiting import FOR_EVER

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
        names = _run(code.replace("timeout=0.3", f"timeout={FOR_EVER}"))
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


def test_the_events_of_the_tutorial_become_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "tutorials/search-events-to-judgements.md").read_text()
    _run(_program("tutorials/search-events-to-judgements.md"))
    for command in re.findall(r"^    slotwise (.*)$", page, re.MULTILINE):
        done = slotwise(*shlex.split(command))
        assert done.returncode == 0, done.stderr
        if command.startswith("judge"):
            assert "3  spellings of queries that differ by case" in done.stdout
    body = json.loads(Path("judgements.json").read_text())
    assert [each["query"] for each in body["judgmentRatings"]] == ["coffee", "milk", "tea"]
    assert "tea,mint" in Path("report/underplaced.csv").read_text()
    assert Path("report/judgements.html").exists()


#: made-up events of both trackers: a list of two documents that is seen twice, and a click on each view
VIEWS = {
    "lists AS": """
        CREATE TABLE product_list_viewed
            (id INT, anonymous_id TEXT, list_id TEXT, "timestamp" TIMESTAMP, search_term TEXT);
        INSERT INTO product_list_viewed VALUES
            (1, 'v', 'search', '2025-01-01 10:00', 'tea'), (2, 'v', 'search', '2025-01-01 11:00', 'tea');
        CREATE TABLE product_list_viewed_products (list_view INT, position INT, product_id TEXT);
        INSERT INTO product_list_viewed_products VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'a'), (2, 2, 'b');
        CREATE TABLE product_clicked (anonymous_id TEXT, list_id TEXT, product_id TEXT, "timestamp" TIMESTAMP);
        INSERT INTO product_clicked VALUES
            ('v', 'search', 'b', '2025-01-01 10:01'), ('v', 'search', 'a', '2025-01-01 11:01'),
            ('w', 'search', 'b', '2025-01-01 11:01')""",
    "web_page_id": """
        CREATE TABLE list_views (event_id TEXT, web_page_id TEXT, search_term TEXT);
        INSERT INTO list_views VALUES ('e', '1', 'tea'), ('f', '2', 'tea');
        CREATE TABLE list_view_documents (event_id TEXT, position INT, sku TEXT);
        INSERT INTO list_view_documents VALUES ('e', 1, 'a'), ('e', 2, 'b'), ('f', 1, 'a'), ('f', 2, 'b');
        CREATE TABLE list_clicks (web_page_id TEXT, sku TEXT);
        INSERT INTO list_clicks VALUES ('1', 'b'), ('2', 'a'), ('3', 'b')""",
}


@pytest.mark.parametrize("mark", VIEWS)
def test_the_views_of_other_trackers_show_lists_and_clicks(mark: str) -> None:
    views = re.findall(r"^```sql\n(.*?)^```", (DOCS / "reference/log-formats.md").read_text(), re.MULTILINE | re.DOTALL)
    (view,) = [each for each in views if mark in each]
    with duckdb.connect() as connection:
        connection.execute(VIEWS[mark])
        connection.execute(view)
        counts = count_cells(logs.LogSource.of(connection.sql("FROM shown").to_arrow_table(), placement="query"))
    assert counts.queries == ("tea",)
    assert counts.shown.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert counts.clicks.tolist() == [[1.0, 0.0], [0.0, 1.0]]
