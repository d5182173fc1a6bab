"""UBI events from a search server.

No package of an OpenSearch or Elasticsearch server was found on PyPI, npm or in Debian. The server here is a stand-in
on a local port: it answers a scroll as their documentation describes it, and does what a busy or failing server does.
It has never been compared with a real one.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.judgements import count_cells
from slotwise.logs import LogSource
from slotwise.logs.reading import search_server
from slotwise.logs.reading.search_server import download_events


def _document(number: int) -> dict[str, Any]:
    attributes = {"object": {"object_id": f"d{number % 3}"}, "position": {"ordinal": number % 3}}
    return {"action_name": "impression", "query_id": str(number // 3), "event_attributes": attributes}


class Search(ThreadingHTTPServer):
    """Two indices and their scrolls; `faults` are done once each, by the number of the request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        queries = [{"query_id": str(page), "user_query": "tea"} for page in range(10)]
        clicks = [_document(number) | {"action_name": "click"} for number in (0, 4, 8)]
        self.indices = {"ubi_queries": queries, "ubi_events": [*map(_document, range(30)), *clicks]}
        self.scrolls: dict[str, tuple[str, int]] = {}
        self.requests = 0
        self.opened = 0
        self.faults: dict[int, str] = {}
        self.authorization: str | None = None
        self.asked_with: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Search
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests += 1
        self.server.asked_with.append(self.headers["Authorization"])
        fault = self.server.faults.pop(self.server.requests, None)
        if fault == "hang up":
            self.close_connection = True
            if "scroll_id" in body:
                self._page(body["scroll_id"])
            return
        if fault == "skip":
            self._page(body["scroll_id"])
        elif fault is not None:
            headers = {"Location": "http://127.0.0.1:1/"} if fault == "302" else {}
            self._answer({"error": "put in on purpose"}, int(fault), headers)
            return
        if self.server.authorization not in (None, self.headers["Authorization"]):
            self._answer({"error": "unknown user"}, 401)
            return
        if self.path.startswith("/_search/scroll"):
            if body["scroll_id"] not in self.server.scrolls:
                self._answer({"error": "no such scroll"}, 404)
                return
            scroll = body["scroll_id"]
        else:
            index = self.path.split("/")[1]
            if index not in self.server.indices:
                self._answer({"error": "no such index"}, 404)
                return
            assert body["size"] <= 10_000
            self.server.opened += 1
            scroll = f"scroll {self.server.opened}"
            self.server.scrolls[scroll] = (index, 0)
        self._answer(self._page(scroll))

    def do_DELETE(self) -> None:
        for scroll in json.loads(self.rfile.read(int(self.headers["Content-Length"])))["scroll_id"]:
            self.server.scrolls.pop(scroll, None)
        self._answer({"succeeded": True})

    def _page(self, scroll: str) -> Any:
        index, start = self.server.scrolls[scroll]
        documents = self.server.indices[index]
        self.server.scrolls[scroll] = (index, start + search_server.PAGE)
        hits = [{"_index": index, "_source": each} for each in documents[start : start + search_server.PAGE]]
        return {"_scroll_id": scroll, "hits": {"total": {"value": len(documents), "relation": "eq"}, "hits": hits}}

    def _answer(self, body: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Search]:
    """A server with pages of four documents, and no wait before a repetition."""
    monkeypatch.setattr(search_server, "PAGE", 4)
    monkeypatch.setattr(search_server, "PAUSE", 0.0)
    for name in (search_server.USER, search_server.PASSWORD, search_server.API_KEY):
        monkeypatch.delenv(name, raising=False)
    with Search() as started:
        thread = threading.Thread(target=started.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield started
        started.shutdown()
        thread.join()


def _lines(files: list[str]) -> list[int]:
    return [len(Path(file).read_text().splitlines()) for file in files]


def test_both_indices_are_counted(server: Search) -> None:
    counts = count_cells(LogSource.of_file(server.address))
    assert counts.queries == ("tea",)
    assert counts.pages.tolist() == [10.0]
    assert counts.clicks.sum(axis=0).tolist() == [1.0, 1.0, 1.0]
    assert server.scrolls == {}


def test_progress_ends_at_1_and_indices_can_be_named(server: Search, tmp_path: Path) -> None:
    shares: list[float] = []
    assert _lines(download_events(f"{server.address}/ubi_events", tmp_path, shares.append)) == [33]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("fault", ["429", "503", "hang up"])
@pytest.mark.parametrize("request_number", [1, 2, 5])
def test_nothing_is_lost_if_a_request_fails(server: Search, tmp_path: Path, fault: str, request_number: int) -> None:
    """An answer that is lost after the scroll has moved on must not cost its page."""
    server.faults = {request_number: fault}
    assert _lines(download_events(server.address, tmp_path)) == [10, 33]
    assert server.faults == {}
    assert server.scrolls == {}


def test_a_lost_page_is_never_asked_for_again(server: Search, tmp_path: Path) -> None:
    """The scroll has moved on: a second request would get the page after it."""
    server.faults = {2: "hang up"}
    download_events(f"{server.address}/ubi_events", tmp_path)
    # the page that was lost, and nine pages and an empty one after a new start
    assert server.requests == 2 + 10


def test_an_index_that_comes_short_is_read_again(server: Search, tmp_path: Path) -> None:
    server.faults = {2: "skip"}
    assert _lines(download_events(f"{server.address}/ubi_events", tmp_path)) == [33]
    assert server.opened == 2


def test_a_server_that_never_answers_is_given_up(server: Search, tmp_path: Path) -> None:
    server.faults = dict.fromkeys(range(1, 100), "503")
    with pytest.raises(UnreadableFile, match="did not answer 5 times: HTTP 503"):
        download_events(server.address, tmp_path)
    server.shutdown()
    server.server_close()
    with pytest.raises(UnreadableFile, match="did not answer 5 times"):
        download_events(server.address, tmp_path)


def test_pages_that_are_lost_again_and_again_are_an_error(server: Search, tmp_path: Path) -> None:
    server.faults = dict.fromkeys(range(2, 100, 2), "hang up")
    with pytest.raises(UnreadableFile, match="lost a page of ubi_queries 5 times"):
        download_events(server.address, tmp_path)


@pytest.mark.parametrize(
    ("path", "fault", "message"),
    [
        ("/nothing", None, "has no index nothing"),
        ("/a/b", None, "http://HOST:PORT/INDEX,INDEX"),
        ("", "302", "HTTP 302"),
        ("", "400", "put in on purpose"),
    ],
)
def test_refusals_say_what_to_do(server: Search, tmp_path: Path, path: str, fault: str | None, message: str) -> None:
    server.faults = {} if fault is None else {1: fault}
    with pytest.raises((UnreadableFile, InvalidInput), match=message):
        download_events(server.address + path, tmp_path)


def test_the_user_comes_from_the_environment(server: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.authorization = "Basic " + base64.b64encode(b"me:secret").decode()
    with pytest.raises(UnreadableFile, match="set SLOTWISE_SEARCH_USER"):
        download_events(server.address, tmp_path)
    monkeypatch.setenv(search_server.USER, "me")
    monkeypatch.setenv(search_server.PASSWORD, "secret")
    assert _lines(download_events(server.address, tmp_path)) == [10, 33]
    server.authorization = "ApiKey abc"
    monkeypatch.setenv(search_server.API_KEY, "abc")
    assert _lines(download_events(server.address, tmp_path)) == [10, 33]
    with pytest.raises(InvalidInput, match="must not hold a password") as refused:
        download_events(server.address.replace("//", "//me:secret@"), tmp_path)
    assert "secret" not in str(refused.value)


def test_an_interrupt_ends_the_scroll(server: Search, tmp_path: Path) -> None:
    def interrupt(share: float) -> None:
        if share > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_events(server.address, tmp_path, interrupt)
    assert server.scrolls == {}


def test_an_answer_of_something_else_is_named(server: Search, tmp_path: Path) -> None:
    server.indices["ubi_queries"] = None  # type: ignore[assignment]
    with pytest.raises(UnreadableFile):
        download_events(server.address, tmp_path)
