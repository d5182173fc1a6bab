"""One connection without a socket: how much it reads at once, and how much it takes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.responses import Response
from uvicorn.server import ServerState

from slotwise.service.http.connection_limits import (
    MAX_EVENTS,
    MAX_PIPELINED,
    TURN_SHARE,
    Connection,
    Limits,
    ReadingTurns,
)
from tests.service.http.test_connection_limits import CHUNKED, status


class Transport(asyncio.Transport):
    """A transport that only remembers whether it may read, and whether it was aborted."""

    reads, is_aborted = True, False

    def abort(self) -> None:
        self.is_aborted = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False

    def write(self, data: Any) -> None:
        pass


async def answer_after_the_body(scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["more_body"]:
        pass
    await Response()(scope, receive, send)


@pytest.mark.parametrize(("pieces", "reads"), [(MAX_EVENTS, True), (MAX_EVENTS + 1, False)])
def test_others_have_their_turn_after_a_few_chunks(pieces: int, reads: bool) -> None:
    async def read() -> None:
        config = uvicorn.Config(answer_after_the_body, log_config=None)
        connection, transport = Connection(Limits(), ReadingTurns(), config, ServerState(), {}), Transport()
        connection.connection_made(transport)
        connection.data_received(CHUNKED)
        await asyncio.sleep(0.0)
        connection.data_received(b"1\r\n \r\n" * pieces)
        assert transport.reads == reads
        while not transport.reads:
            await asyncio.sleep(0.001)
        connection.data_received(b"0\r\n\r\n")
        await asyncio.gather(*connection.tasks)

    asyncio.run(read())


def test_a_request_in_many_small_reads_waits_for_its_turns_too() -> None:
    async def read() -> None:
        config = uvicorn.Config(answer_after_the_body, log_config=None)
        connection, transport = Connection(Limits(), ReadingTurns(), config, ServerState(), {}), Transport()
        connection.connection_made(transport)
        connection.data_received(CHUNKED)
        for _ in range(MAX_EVENTS):
            connection.data_received(b"1\r\n \r\n")
        paused = [not transport.reads]
        connection.data_received(b"1\r\n \r\n")
        assert [*paused, not transport.reads] == [False, True]
        connection.data_received(b"0\r\n\r\n")
        await asyncio.gather(*connection.tasks)

    asyncio.run(read())


def test_reads_in_turns_take_a_share_of_the_time_however_many_connections_there_are() -> None:
    turns = ReadingTurns()
    resumed = [turns.next_after(now=10.0, seconds=0.002) for _ in range(400)]
    # 400 reads of 2 ms are spread over 0.8 s / TURN_SHARE, one after the other
    assert resumed == pytest.approx([10.0 + 0.002 / TURN_SHARE * (number + 1) for number in range(400)])
    assert turns.next_after(now=1_000.0, seconds=0.002) == pytest.approx(1_000.0 + 0.002 / TURN_SHARE)


@pytest.mark.parametrize(("requests", "is_closed"), [(MAX_PIPELINED + 1, False), (MAX_PIPELINED + 2, True)])
def test_pipelined_requests_are_limited(requests: int, is_closed: bool) -> None:
    async def read() -> None:
        config = uvicorn.Config(answer_after_the_body, log_config=None)
        connection, transport = Connection(Limits(), ReadingTurns(), config, ServerState(), {}), Transport()
        connection.connection_made(transport)
        connection.data_received(b"GET / HTTP/1.1\r\n\r\n" * requests)
        assert transport.is_aborted == is_closed

    asyncio.run(read())


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: %s\r\n\r\n",
        b"GET /healthz?%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
@pytest.mark.parametrize(("length", "expected"), [(16_000, 200), (16_400, 400)])
def test_the_limit_of_the_head_is_exact_if_the_head_is_whole(head: bytes, length: int, expected: int) -> None:
    """It may arrive in one read or in several."""
    answers: list[bytes] = []

    class Answers(Transport):
        def write(self, data: Any) -> None:
            answers.append(data)

        def close(self) -> None:
            pass

    async def read(size: int) -> None:
        config = uvicorn.Config(Response(), log_config=None)
        connection, sent = Connection(Limits(), ReadingTurns(), config, ServerState(), {}), head % (b"x" * length)
        connection.connection_made(Answers())
        for start in range(0, len(sent), size):
            connection.data_received(sent[start : start + size])
            if answers:
                break
        await asyncio.gather(*connection.tasks)

    for size in (60_000, 10_000, 1_000):
        answers.clear()
        asyncio.run(read(size))
        assert status(answers[0]) == expected
