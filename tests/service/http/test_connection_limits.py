"""Connections that drip, idle, flood or do not read hold nobody else up, and are closed."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from slotwise.service.http.connection_limits import (
    OTHER_FILES,
    Connection,
)
from tests.service.process import free_port, running
from tests.service.serving import THREE, Client, serving
from tests.waiting import FOR_EVER, wait_for

HEAD = b"POST /v1/outcomes HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
#: far more than anybody has to send before being refused
MANY = 400_000
#: more than any test takes
LONG = 3_000.0


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('connections')}/store.db"
    with serving(store, header_seconds=1.0, body_seconds=1.5, send_seconds=1.0, keep_alive_seconds=1) as serving_client:
        serving_client.define()
        yield serving_client


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Closes nothing while it is looked at."""
    store = f"sqlite:///{tmp_path_factory.mktemp('patient')}/store.db"
    with serving(store, header_seconds=LONG, body_seconds=LONG, keep_alive_seconds=int(LONG)) as serving_client:
        serving_client.define()
        yield serving_client


@pytest.fixture
def unhurried(tmp_path: Path) -> Iterator[Client]:
    """Waits long enough for a body to be refused for its size, and not for ever if it is not."""
    with serving(f"sqlite:///{tmp_path}/store.db", body_seconds=20.0) as serving_client:
        serving_client.define()
        yield serving_client


def connected(client: Client) -> socket.socket:
    url = client.base_url
    assert url.port is not None
    return socket.create_connection((url.host, url.port), timeout=FOR_EVER)


def open_at(client: Client) -> list[Connection]:
    return [one for one in list(client.server.server_state.connections) if isinstance(one, Connection)]


def rest(connection: socket.socket) -> bytes:
    """What is answered until the other side closes the connection, which it must."""
    answered = b""
    with suppress(ConnectionError):
        while part := connection.recv(65_536):
            answered += part
    return answered


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1.1 (\d+) ", answer)
    assert found is not None, answer
    return int(found[1])


def drip(connection: socket.socket, answers: list[bytes]) -> None:
    """Chunks of one byte each for as long as they are taken, or very many."""
    connection.sendall(CHUNKED)
    with suppress(ConnectionError):
        for _ in range(MANY // 1000):
            connection.sendall(b"1\r\n \r\n" * 1000)
    connection.settimeout(FOR_EVER)
    with suppress(TimeoutError):
        answers.append(rest(connection))


def test_endless_chunks_are_rejected_and_delay_no_other_request(client: Client) -> None:
    answers: list[bytes] = []
    with ExitStack() as stack:
        dripping = [stack.enter_context(connected(client)) for _ in range(4)]
        threads = [threading.Thread(target=drip, args=(connection, answers)) for connection in dripping]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for method, path in (("POST", "/v1/placements/home/decisions"), ("GET", "/healthz")):
                # one that the service closes at this very moment, as it was idle for a second, is opened again
                with suppress(httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                    assert client.request(method, path).is_success
        for thread in threads:
            thread.join()
    assert [status(answer) in (408, 413) for answer in answers] == [True] * 4


def test_tiny_chunks_are_read_nevertheless(patient: Client) -> None:
    body = b'{"token": "%s", "clicked": null}' % patient.decide()["token"].encode()
    for duplicate in (False, True):
        answer = patient.post("/v1/outcomes", content=(bytes([byte]) for byte in body))
        assert answer.json() == {"duplicate": duplicate}


def test_a_large_body_is_refused_before_it_is_whole_and_its_sender_sees_why(unhurried: Client) -> None:
    with connected(unhurried) as announced:
        announced.sendall(HEAD + b"Content-Length: 60000000\r\n\r\n ")
        assert status(rest(announced)) == 413
    with connected(unhurried) as chunked:
        chunked.sendall(CHUNKED)
        for _ in range(100):
            chunked.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        assert status(rest(chunked)) == 413
    with connected(unhurried) as endless:
        endless.sendall(CHUNKED)
        with pytest.raises(ConnectionError):
            endless.sendall((b"10000\r\n" + b" " * 65_536 + b"\r\n") * 5_000)


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 100\r\n\r\n",
        b"Content-Length: 100\r\n\r\n{",
        b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    ],
)
def test_a_body_that_does_not_come_is_answered(client: Client, body: bytes) -> None:
    with connected(client) as connection:
        connection.sendall(HEAD + body)
        answer = rest(connection)
    # after the word to go on
    assert status(answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")) == 408
    assert b"application/problem+json" in answer
    assert b"1.5 seconds" in answer


@pytest.mark.parametrize("sent", [b"", b"P", HEAD, HEAD + b"X-Long: " + b"x" * 10_000])
def test_half_a_head_is_closed(client: Client, sent: bytes) -> None:
    with connected(client) as connection:
        connection.sendall(sent)
        assert rest(connection) == b""


@pytest.mark.parametrize(("before", "length"), [(HEAD, 20_000), (CHUNKED + b"0\r\n", 40_000)])
def test_a_long_head_is_refused(patient: Client, before: bytes, length: int) -> None:
    with connected(patient) as connection:
        connection.sendall(before + b"X-Long: " + b"x" * length)
        assert status(rest(connection)) == 400


@pytest.mark.parametrize(
    "headers",
    [b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"],
)
def test_a_request_with_two_lengths_is_refused_and_nothing_after_it_is_answered(client: Client, headers: bytes) -> None:
    with connected(client) as connection:
        connection.sendall(HEAD + headers + b"\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = rest(connection)
    assert status(answer) == 400
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("after", [b"", b"G", b"\r\n", HEAD + b"Content-Length: 9\r\n\r\n"])
def test_an_idle_connection_is_closed_after_a_response(client: Client, after: bytes) -> None:
    with connected(client) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(connection.recv(65_536)) == 200
        connection.sendall(after)
        rest(connection)


@pytest.mark.parametrize(
    ("sent", "doing"),
    [
        (b"", "head"),
        (HEAD, "head"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "idle"),
    ],
)
def test_a_connection_may_take_its_time_and_no_longer(patient: Client, sent: bytes, doing: str) -> None:
    """By the time that it is told: nobody has to wait for what takes minutes to happen."""
    with connected(patient) as connection:
        ours = connection.getsockname()
        wait_for(lambda: any(one.client == ours for one in open_at(patient)), "the connection to be taken")
        taken = next(one for one in open_at(patient) if one.client == ours)
        connection.sendall(sent)
        wait_for(lambda: taken.activity()[0] == doing, "what was sent")

        async def is_kept_after(*seconds: float) -> list[bool]:
            kept, now = [], taken.loop.time()
            for later in seconds:
                taken.check(now + later)
                kept.append(not taken.transport.is_closing())
            return kept

        # at the first look it is only seen, and that may have been the server's own a moment ago
        looking = asyncio.run_coroutine_threadsafe(is_kept_after(0.0, 0.5 * LONG, 1.1 * LONG), taken.loop)
        assert looking.result(FOR_EVER) == [True, True, False]


def test_a_connection_with_an_unread_body_is_closed(client: Client) -> None:
    with connected(client) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        assert status(rest(connection)) == 200


def test_an_unread_response_is_given_up(client: Client) -> None:
    with connected(client) as connection:
        ours = connection.getsockname()

        def is_open() -> bool:
            return any(one.client == ours for one in open_at(client))

        wait_for(is_open, "the connection to be taken")
        for _ in range(20):
            with suppress(ConnectionError, BlockingIOError):
                connection.setblocking(False)
                connection.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
            time.sleep(0.01)
        wait_for(lambda: not is_open(), "the connection to be given up")


def test_beyond_the_cap_idle_connections_make_room(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db", connections=4, header_seconds=600.0) as client, ExitStack() as stack:
        client.define()
        silent = [stack.enter_context(connected(client)) for _ in range(20)]
        decisions = f"{client.base_url}/v1/placements/home/decisions"
        assert httpx.post(decisions, timeout=FOR_EVER).status_code == 201
        assert rest(silent[0]) == b""
        asking = [stack.enter_context(connected(client)) for _ in range(4)]
        for connection in asking:
            connection.sendall(CHUNKED)
        # wait until all four are seen to ask
        wait_for(lambda: [one.activity()[0] for one in open_at(client)] == ["answering"] * 4, "all to ask")
        assert status(rest(stack.enter_context(connected(client)))) == 503
        for connection in asking:
            connection.close()
        wait_for(lambda: len(open_at(client)) < 4, "room")
        assert httpx.post(decisions, timeout=FOR_EVER).status_code == 201


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of other processes are Linux's alone")
def test_without_files_it_is_logged_once_and_goes_on_when_there_are_some(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, f"sqlite:///{tmp_path}/store.db", port) as process, ExitStack() as stack:
        httpx.put(f"{process.url}/v1/placements/home", json=THREE, timeout=FOR_EVER).raise_for_status()
        pid = process.popen.pid
        _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        in_use = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (in_use + 3, most))
        opened = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(40)]
        wait_for(lambda: "no files are left" in process.log.read_text(), "a word about it")
        # through several of asyncio's attempts
        time.sleep(3.0)
        said = process.log.read_text()
        assert said.count("no files are left") == 1
        assert len(said) < 20_000
        for connection in opened:
            connection.close()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (in_use + OTHER_FILES, most))
        assert httpx.post(f"{process.url}/v1/placements/home/decisions", timeout=FOR_EVER).status_code == 201
