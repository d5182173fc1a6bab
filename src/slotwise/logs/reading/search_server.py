"""UBI events read live from OpenSearch or Elasticsearch, with a scroll.

Both servers answer the same three requests: a search with `scroll`, its further pages, and the end of the scroll
(https://docs.opensearch.org/latest/api-reference/search-apis/scroll/). A scroll is a snapshot, so the number of
documents that it announces is checked at the end. A page whose answer is lost cannot be asked for again; the index is
then read anew.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from slotwise.core.errors import InvalidInput, UnreadableFile

INDICES = ("ubi_queries", "ubi_events")
#: documents of a page, the bytes that its answer may have, and how long the server keeps a scroll between two pages
PAGE, MAX_ANSWER, KEPT = 5_000, 256 * 2**20, "5m"
#: seconds to wait for an answer, attempts, and seconds before the first repetition; each is twice the last
TIMEOUT, ATTEMPTS, PAUSE = 60.0, 5, 0.5
#: answers of a server that is too busy to begin
BUSY = (429, 502, 503, 504)
FIELDS = [
    "action_name",
    "query_id",
    "user_query",
    "timestamp",
    "application",
    "event_attributes.object.object_id",
    "event_attributes.position.ordinal",
    "query_response_hit_ids",
]
USER, PASSWORD, API_KEY = "SLOTWISE_SEARCH_USER", "SLOTWISE_SEARCH_PASSWORD", "SLOTWISE_SEARCH_API_KEY"

Sleep = Callable[[float], None]
Progress = Callable[[float], None]


class LostPage(Exception):
    """The answer to a page of a scroll did not arrive."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could take the password to another host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        return None


def is_search_server(path: str) -> bool:
    """Return whether a log is the address of a search server."""
    return path.startswith(("http://", "https://"))


def download_events(
    address: str, folder: Path, progress: Progress = lambda _: None, sleep: Sleep = time.sleep
) -> list[str]:
    """Write the documents of each index to a file of JSON lines in `folder`, and return the files.

    Parameters
    ----------
    address
        `http://host:9200` for the indices `ubi_queries` and `ubi_events`, or `http://host:9200/INDEX,INDEX`.
    folder
        An existing folder.
    progress
        Is told the share of the documents that are there.
    sleep
        Waits for so many seconds before a request is repeated.
    """
    parts = urlsplit(address)
    if "@" in parts.netloc:
        raise InvalidInput(f"the address must not hold a password: set {USER} and {PASSWORD}, or {API_KEY}")
    server = _Server(f"{parts.scheme}://{parts.netloc}", _authorization(os.environ), sleep)
    names = [name for name in parts.path.strip("/").split(",") if name] or list(INDICES)
    if any(re.search(r"[/?#\s]", name) for name in names):
        raise InvalidInput(f"an address is http://HOST:PORT/INDEX,INDEX, got the path {parts.path!r}")
    files = []
    for place, name in enumerate(names):
        file = folder / f"{place}.ndjson"
        _copy(server, name, file, lambda share, place=place: progress((place + share) / len(names)))  # type: ignore[misc]
        files.append(str(file))
    return files


def _copy(server: _Server, index: str, path: Path, progress: Progress) -> None:
    for attempt in range(ATTEMPTS):
        try:
            with path.open("wb") as file, contextlib.closing(_pages(server, index)) as pages:
                _write(pages, file, index, progress)
        except LostPage as problem:
            if attempt == ATTEMPTS - 1:
                raise UnreadableFile(f"{server.address} lost a page of {index} {ATTEMPTS} times: {problem}") from None
            server.wait(attempt)
        else:
            return


def _write(pages: Iterator[tuple[int, list[Any]]], file: BinaryIO, index: str, progress: Progress) -> None:
    count, total = 0, 0
    for total, hits in pages:
        for hit in hits:
            file.write(json.dumps(hit.get("_source", {})).encode() + b"\n")
        count += len(hits)
        progress(count / max(1, total))
    if count != total:
        raise LostPage(f"got {count:,} of {total:,} documents of {index}")


def _pages(server: _Server, index: str) -> Generator[tuple[int, list[Any]], None, None]:
    """Yield the number of all documents and those of a page; end the scroll in any case."""
    search = {"size": PAGE, "sort": ["_doc"], "track_total_hits": True, "_source": FIELDS}
    answer = server.ask("POST", f"/{quote(index)}/_search?scroll={KEPT}", search, repeatable=True)
    scroll = answer.get("_scroll_id")
    try:
        total = int(answer["hits"]["total"]["value"])
        yield total, answer["hits"]["hits"]
        while answer["hits"]["hits"]:
            answer = server.ask("POST", "/_search/scroll", {"scroll": KEPT, "scroll_id": scroll}, repeatable=False)
            scroll = answer.get("_scroll_id", scroll)
            yield total, answer["hits"]["hits"]
    except (KeyError, TypeError, ValueError):
        raise UnreadableFile(
            f"{server.address} answered like no OpenSearch or Elasticsearch: {answer!r:.200}"
        ) from None
    finally:
        if scroll is not None:
            with contextlib.suppress(Exception):
                server.ask("DELETE", "/_search/scroll", {"scroll_id": [scroll]}, repeatable=False)


def _authorization(environment: Mapping[str, str]) -> dict[str, str]:
    if environment.get(API_KEY):
        return {"Authorization": f"ApiKey {environment[API_KEY]}"}
    if environment.get(USER):
        both = f"{environment[USER]}:{environment.get(PASSWORD, '')}"
        return {"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}
    return {}


class _Server:
    """Requests to a search server, repeated if it is too busy to begin."""

    def __init__(self, address: str, headers: Mapping[str, str], sleep: Sleep) -> None:
        self.address = address
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect())

    def wait(self, attempt: int) -> None:
        """Wait before the next attempt."""
        self._sleep(PAUSE * 2.0**attempt)

    def ask(self, method: str, path: str, body: object, *, repeatable: bool) -> dict[str, Any]:
        """Return an answer; a lost one raises `LostPage`, unless the request may be repeated."""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), self._headers, method=method)
        for attempt in range(ATTEMPTS):
            try:
                with self._opener.open(request, timeout=TIMEOUT) as answer:
                    content = answer.read(MAX_ANSWER + 1)
                if len(content) > MAX_ANSWER:
                    raise UnreadableFile(f"{self.address} sent a page of more than {MAX_ANSWER:,} bytes")
                return dict(json.loads(content))
            except urllib.error.HTTPError as problem:
                with problem:
                    if problem.code not in BUSY:
                        raise UnreadableFile(self._refused(problem, path)) from None
                reason = f"HTTP {problem.code}"
            except (OSError, HTTPException, ValueError, TypeError) as problem:
                reason = str(getattr(problem, "reason", problem)) or type(problem).__name__
                if not repeatable and not isinstance(getattr(problem, "reason", None), ConnectionRefusedError):
                    raise LostPage(reason) from None
            if attempt < ATTEMPTS - 1:
                self.wait(attempt)
        raise UnreadableFile(f"{self.address} did not answer {ATTEMPTS} times: {reason}")

    def _refused(self, problem: urllib.error.HTTPError, path: str) -> str:
        if problem.code in (401, 403):
            return f"{self.address} refused the user (HTTP {problem.code}): set {USER} and {PASSWORD}, or {API_KEY}"
        if problem.code == 404 and path.startswith("/_search"):
            return f"{self.address} has ended the scroll: nothing came for longer than {KEPT}"
        if problem.code == 404:
            index = path.partition("/_search")[0].strip("/")
            return f"{self.address} has no index {index}: name the indices, as in {self.address}/ubi_queries,ubi_events"
        with contextlib.suppress(Exception):
            detail = problem.read(300).decode(errors="replace")
            return f"{self.address} answered HTTP {problem.code}: {detail}"
        return f"{self.address} answered HTTP {problem.code}"
