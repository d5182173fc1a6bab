"""`python -m benchmarks.neighbours`: the decisions of a small placement beside large ones and hostile clients.

Each line is the median or the 99 % quantile of the small placement's decisions, alone and beside a neighbour.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.service import TURNS, Client, answers, connect, latencies, put, service, verdict

#: decisions of the small placement a second, and seconds of a turn
RATE, SECONDS = 100.0, 4.0
#: a placement with as many segments as are allowed; and one with as many pairs of items and slots
WIDE_ITEMS = 1_000
CITIES = [f"city-{number}" for number in range(999)]
DEVICES: list[dict[str, str]] = [{}, {"device": "mobile"}]
TALL_ITEMS, TALL_SLOTS = 20_000, 100
#: connections that send bodies in chunks of one byte
DRIPPING = (100, 400)
OVERDUE_SECONDS = 15.0
CHUNK = b"1\r\nx\r\n" * 200
HEAD = b"POST /v1/placements/bench/decisions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

Neighbour = Callable[[], Awaitable[object]]


async def beside(port: int, neighbour: Neighbour) -> list[float]:
    """Latencies of the small placement while a neighbour works again and again."""

    async def work() -> None:
        while True:
            await neighbour()

    working = asyncio.create_task(work())
    try:
        await asyncio.sleep(0.5)
        return await latencies(port, RATE, SECONDS)
    finally:
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working


def compare(what: str, port: int, neighbour: Callable[[], contextlib.AbstractAsyncContextManager[Neighbour]]) -> None:
    """Print the small placement's latencies alone and beside a neighbour."""

    async def turn() -> tuple[list[float], list[float]]:
        alone = await latencies(port, RATE, SECONDS)
        async with neighbour() as work:
            return sorted(alone), sorted(await beside(port, work))

    turns = [asyncio.run(turn()) for _ in range(TURNS)]
    for name, share in (("median", 0.5), ("99 % within", 0.99)):
        alone, with_it = (
            statistics.median(waits[int(share * (len(waits) - 1))] * 1e3 for waits in column)
            for column in zip(*turns, strict=True)
        )
        print(f"beside {what}: {name} {with_it:.1f} ms, alone {alone:.1f} ms")
        verdict(f"3 / beside it over alone, {name}", 3.0 * alone / with_it, 1.0)


@contextlib.asynccontextmanager
async def asking(port: int, bodies: itertools.cycle[str], path: str, method: str = "POST") -> AsyncIterator[Neighbour]:
    """One connection that asks again when it has been answered."""
    (client,) = await connect(port, 1)

    async def ask() -> None:
        await client.send(method, path, next(bodies))

    yield ask
    client.transport.close()


@contextlib.asynccontextmanager
async def dripping(port: int, count: int) -> AsyncIterator[Neighbour]:
    """Connections that send a body without end in chunks of one byte."""
    loop, writers = asyncio.get_running_loop(), []

    class Dripping(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport
            transport.write(HEAD)
            writers.append(self)

        def drip(self) -> None:
            if not self.transport.is_closing() and self.transport.get_write_buffer_size() < len(CHUNK):
                self.transport.write(CHUNK)

    async def drip() -> None:
        for writer in writers:
            writer.drip()
        await asyncio.sleep(0.01)

    for _ in range(count):
        await loop.create_connection(Dripping, "127.0.0.1", port)
    yield drip
    for writer in writers:
        writer.transport.abort()
    # the service notices with their next turn, or when their bodies are overdue
    await asyncio.sleep(OVERDUE_SECONDS)


async def fill(name: str, contexts: list[str], clients: list[Client]) -> None:
    """Decide and report once for each segment."""
    left = iter(contexts)

    async def one(client: Client) -> None:
        for body in left:
            await client.send("POST", f"/v1/placements/{name}/decisions", body)
            decision = json.loads(client.body)
            outcome = json.dumps({"clicked": decision["items"][0]})
            await client.send("PUT", f"/v1/decisions/{decision['id']}/outcome", outcome)

    await asyncio.gather(*map(one, clients))


def main() -> None:
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("SLOTWISE_BENCH_FOLDER", ".")) as folder,
        service(Path(folder)) as (port, _),
    ):
        put(port, "bench", 20)
        put(port, "wide", WIDE_ITEMS, slots=1, window=20.0, segments={"city": CITIES, "device": ["mobile"]})
        put(port, "tall", TALL_ITEMS, slots=TALL_SLOTS)
        while not answers(port, "/readyz"):
            time.sleep(0.1)
        asyncio.run(latencies(port, RATE, 1.0))
        contexts = [json.dumps({"context": {"city": city, **device}}) for city in CITIES for device in DEVICES]
        bodies, wide = itertools.cycle(contexts), "/v1/placements/wide"
        compare("decisions for 1,000 items × 2,000 segments", port, lambda: asking(port, bodies, f"{wide}/decisions"))

        async def fill_wide() -> None:
            await fill("wide", contexts, await connect(port, 8))

        asyncio.run(fill_wide())
        # until they are counted
        time.sleep(20.0)
        compare("them after an outcome in each segment", port, lambda: asking(port, bodies, f"{wide}/decisions"))
        empty = itertools.cycle([""])
        for what, name in (("1,000 items × 2,000 segments", "wide"), ("20,000 items × 100 slots", "tall")):
            path = f"/v1/placements/{name}/estimates"
            compare(f"estimates of {what}", port, partial(asking, port, empty, path, "GET"))
        for count in DRIPPING:
            compare(f"{count} connections in chunks of a byte", port, partial(dripping, port, count))


if __name__ == "__main__":
    main()
