"""`python -m benchmarks.service`: the service on loopback, on SQLite on disk, beside a server with a fixed answer.

Client and server are two processes that take turns at whatever cores there are; numbers are ratios within one run.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slotwise.service.storage.count_rows import COUNTERS

#: requests that are under way at once
CONNECTIONS = 32
SECONDS = 4.0
TURNS = 3
ITEMS = 20
PLACEMENTS = 1_000
#: seconds: before visitors were told apart and counts kept by the hour it was 0.010, and may be 0.005 more
LONGER = 0.015

#: a placement with segments and features, and what its decisions say of their visitors
CROWDS = "crowds"
CONTEXTS = itertools.cycle(json.dumps({"context": {"device": device}}) for device in ("mobile", "desktop", "tv"))

ANSWER = json.dumps(
    {
        "id": "0" * 32,
        "placement": "bench",
        "items": [f"item-{number:02}" for number in range(5)],
        "arm": "learned",
        "expires": "2026-01-01T00:00:00.000Z",
        "token": "0" * 76,
    }
).encode()


async def decide(request: Request) -> Response:
    await request.body()
    return Response(ANSWER, 201, media_type="application/json")


def fixed() -> Starlette:
    """The same server and framework with nothing behind them: no checks, no metrics, no disk."""
    return Starlette(routes=[Route("/v1/placements/{name}/decisions", decide, methods=["POST"])])


def serve_fixed(port: int) -> None:
    uvicorn.run("benchmarks.service:fixed", factory=True, port=port, log_level="error", access_log=False)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextlib.contextmanager
def running(
    *command: str, port: int, python: Path | str = sys.executable, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [python, *command], env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        # ten minutes, for a machine that is very busy
        for _ in range(12_000):
            if process.poll() is not None:
                raise RuntimeError((process.stderr.read() if process.stderr else b"").decode())
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.1):
                break
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait(20)
        if process.stderr:
            process.stderr.close()


@contextlib.contextmanager
def service(folder: Path, python: Path | str = sys.executable) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    command = ("-c", "from slotwise.cli import main; main()", "serve", "--port", str(port))
    store = {"SLOTWISE_STORE": f"sqlite:///{folder}/bench.db", "SLOTWISE_LOG_LEVEL": "error"}
    with running(*command, port=port, python=python, **store) as process:
        yield port, process


def put(port: int, name: str, count: int, slots: int = 5, window: float = 2.0, **more: Any) -> None:
    definition = {
        "slots": slots,
        "items": [f"item-{number:02}" for number in range(count)],
        "window_seconds": window,
        **more,
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/placements/{name}", json.dumps(definition).encode(), method="PUT"
    )
    urllib.request.urlopen(request, timeout=120).close()


class Client(asyncio.Protocol):
    """One connection that asks again when it has been answered."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[float] | None = None
        self.buffer = self.body = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def ask(self, name: str = "bench") -> asyncio.Future[float]:
        body = next(CONTEXTS) if name == CROWDS else "{}"
        return self.send("POST", f"/v1/placements/{name}/decisions", body)

    def send(self, method: str, path: str, body: str) -> asyncio.Future[float]:
        self.answered = asyncio.get_running_loop().create_future()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write((head + body).encode())
        return self.answered

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self.buffer = b""
        assert self.answered is not None
        self.body = body
        if head.startswith(b"HTTP/1.1 20"):
            self.answered.set_result(time.perf_counter())
        else:
            self.answered.set_exception(RuntimeError((head + body).decode()))


async def connect(port: int, count: int) -> list[Client]:
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(Client, "127.0.0.1", port) for _ in range(count)]
    return [client for _, client in made]


async def rate(port: int, names: Iterator[str] | None = None, seconds: float = SECONDS) -> float:
    """Decisions a second, as many connections asking as fast as they are answered."""
    count, taken = await answered(port, names, seconds)
    return count / taken


async def answered(port: int, names: Iterator[str] | None = None, seconds: float = SECONDS) -> tuple[int, float]:
    """The decisions that were answered, and the seconds that they took."""
    wanted = itertools.repeat("bench") if names is None else names
    clients = await connect(port, CONNECTIONS)
    began = time.perf_counter()
    count = 0

    async def keep_asking(client: Client) -> None:
        nonlocal count
        while time.perf_counter() - began < seconds:
            await client.ask(next(wanted))
            count += 1

    await asyncio.gather(*(keep_asking(client) for client in clients))
    taken = time.perf_counter() - began
    for client in clients:
        client.transport.close()
    return count, taken


async def outcome_rate(port: int, seconds: float = SECONDS) -> tuple[float, float]:
    """Decisions a second and outcomes a second, each connection deciding for a while and then reporting on all."""
    clients = await connect(port, CONNECTIONS)

    async def decide_for_a_while(client: Client) -> list[str]:
        ids = []
        while time.perf_counter() - began < seconds:
            await client.ask("slow")
            ids.append(json.loads(client.body)["id"])
        return ids

    async def report(client: Client, ids: list[str]) -> None:
        for id in ids:
            await client.send("PUT", f"/v1/decisions/{id}/outcome", '{"clicked": null}')

    began = time.perf_counter()
    ids = await asyncio.gather(*(decide_for_a_while(client) for client in clients))
    decided = time.perf_counter()
    await asyncio.gather(*(report(client, mine) for client, mine in zip(clients, ids, strict=True)))
    reported = time.perf_counter()
    for client in clients:
        client.transport.close()
    count = sum(map(len, ids))
    return count / (decided - began), count / (reported - decided)


async def latencies(port: int, per_second: float, seconds: float = SECONDS) -> list[float]:
    """From when each request was due, so that a wait for the one before counts."""
    idle = asyncio.Queue[Client]()
    for client in await connect(port, CONNECTIONS):
        idle.put_nowait(client)
    found: list[float] = []
    began = time.perf_counter()

    async def ask(due: float) -> None:
        client = await idle.get()
        found.append(await client.ask() - due)
        idle.put_nowait(client)

    tasks = []
    for number in range(int(per_second * seconds)):
        due = began + number / per_second
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(ask(due)))
    await asyncio.gather(*tasks)
    while not idle.empty():
        idle.get_nowait().transport.close()
    return found


def show_latencies(what: str, port: int, per_second: float) -> float:
    """The median over turns of what 99 % are within: the turn in which somebody else had the cores does not count."""
    found = []
    for _ in range(TURNS):
        waits = sorted(asyncio.run(latencies(port, per_second)))
        found.append([waits[int(share * (len(waits) - 1))] * 1e3 for share in (0.5, 0.99, 1.0)])
    middle, slow, slowest = (statistics.median(column) for column in zip(*found, strict=True))
    print(
        f"{what} at half of that load: median {middle:.1f} ms, 99 % within {slow:.1f} ms, all within {slowest:.0f} ms"
    )
    return float(slow / 1e3)


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    port = free_port()
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("SLOTWISE_BENCH_FOLDER", ".")) as folder,
        service(Path(folder)) as (ours, process),
        running("-c", f"from benchmarks.service import serve_fixed; serve_fixed({port})", port=port),
    ):
        put(ours, "bench", ITEMS)
        asyncio.run(rate(ours, seconds=1.0))
        asyncio.run(rate(port, seconds=1.0))
        turns = [(asyncio.run(rate(ours)), asyncio.run(rate(port))) for _ in range(TURNS)]
        decisions, bare = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"decisions, durable in SQLite          {decisions:9,.0f} /s, one worker, {CONNECTIONS} connections")
        print(f"  the same server, a fixed answer     {bare:9,.0f} /s")
        verdict("decisions / fixed answer", statistics.median(o / b for o, b in turns), 0.4)

        time.sleep(3.0)
        slow = show_latencies("decisions", ours, decisions / 2)
        least = show_latencies("fixed answers", port, decisions / 2)
        verdict("15 ms / what 99 % wait longer than for a fixed answer", LONGER / max(1e-9, slow - least), 1.0)

        features = [{"id": f"item-{n:02}", "features": {"kind": "ab"[n % 2], "price": 1.0 + n}} for n in range(ITEMS)]
        put(ours, CROWDS, ITEMS, items=features, segments={"device": ["mobile", "desktop"]})
        asyncio.run(rate(ours, itertools.repeat(CROWDS), seconds=1.0))
        turns = [(asyncio.run(rate(ours, itertools.repeat(CROWDS))), asyncio.run(rate(ours))) for _ in range(TURNS)]
        verdict("decisions with segments and features / without", statistics.median(a / b for a, b in turns), 0.8)

        time.sleep(3.0)
        before = megabytes(process)
        count = sum(int(asyncio.run(rate(ours)) * SECONDS) for _ in range(2))
        time.sleep(3.0)
        print(f"memory: {before:.0f} MB, after {count:,} more decisions {megabytes(process):.0f} MB")

        for number in range(PLACEMENTS):
            put(ours, f"bench-{number}", ITEMS)
        names = itertools.cycle(f"bench-{number}" for number in range(PLACEMENTS))
        turns = [(asyncio.run(rate(ours, names)), asyncio.run(rate(ours))) for _ in range(TURNS)]
        ratio = statistics.median(many / one for many, one in turns)
        verdict(f"decisions for {PLACEMENTS:,} placements in turn / for one", ratio, 0.75)


def a_year() -> None:
    """A placement of 1,000 items with a year of hours behind it: to start with, to decide with, to look back at."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("SLOTWISE_BENCH_FOLDER", ".")) as folder:
        with service(Path(folder)) as (port, _):
            put(port, "bench", 1_000, half_life=720.0)
        # with nothing but the placement, and once more with a warm disk and cache
        empty = min(seconds_until_ready(Path(folder)) for _ in range(2))
        with service(Path(folder)) as (port, process):
            plain = decision_seconds(port, process)
        add_a_year(Path(folder))
        full = min(seconds_until_ready(Path(folder)) for _ in range(2))
        print(
            f"a year of hours, 1,000 items, which fade: ready after {full:.1f} s, without the year after {empty:.1f} s"
        )
        verdict("1 s / what the year costs at the start", 1.0 / max(1e-9, full - empty), 1.0)
        with service(Path(folder)) as (port, process):
            spent = decision_seconds(port, process)
            print(
                f"a decision: {spent * 1e3:.2f} ms of CPU, HTTP and disk included, without the year {plain * 1e3:.2f}"
            )
            verdict("1 ms / what the year costs a decision", 1e-3 / max(1e-9, spent - plain), 1.0)
            taken = []
            for _ in range(TURNS):
                began = time.perf_counter()
                assert answers(port, "/v1/placements/bench/history?by=day")
                taken.append(time.perf_counter() - began)
            verdict("200 ms / history of 90 days", 0.2 / statistics.median(taken), 1.0)


def add_a_year(folder: Path) -> None:
    """Give the placement of 1,000 items in a store a count of every hour of a year."""
    hours = 8_760
    now = int(time.time()) // 3_600 * 3_600
    rng = np.random.default_rng(1)
    tally, counters = [], []
    for hour in range(now - 3_600 * hours, now, 3_600):
        # five items most of the time, and now and then one of all the others
        shown = {(int(slot), min(999, int(item))) for slot in range(5) for item in rng.pareto(1.2, 8)}
        for slot, item in shown:
            tally.append(("bench", hour, 1, "", "learned", slot, f"item-{item:02}", 1, 9, 10, 1))
        counters.append(("bench", hour, 1, "", "learned", *(0 for _ in COUNTERS)))
    with contextlib.closing(sqlite3.connect(folder / "bench.db")) as store, store:
        for table, rows in (("period_tally", tally), ("period_counters", counters)):
            store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def seconds_until_ready(folder: Path) -> float:
    began = time.perf_counter()
    with service(folder) as (port, _):
        while not answers(port, "/readyz"):
            time.sleep(0.01)
        return time.perf_counter() - began


def decision_seconds(port: int, process: subprocess.Popen[bytes], name: str = "bench") -> float:
    """What a decision costs, of the processor's time."""
    while not answers(port, "/readyz"):
        time.sleep(0.01)
    asyncio.run(rate(port, itertools.repeat(name), seconds=1.0))
    used, count = processor_seconds(process), int(asyncio.run(rate(port, itertools.repeat(name))) * SECONDS)
    return (processor_seconds(process) - used) / count


def answers(port: int, path: str) -> bool:
    with contextlib.suppress(OSError):
        return bool(urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).read())
    return False


def verdict(what: str, ratio: float, wanted: float) -> None:
    print(f"  {what}: {ratio:.3g}   (at least {wanted:g}: {'ok' if ratio >= wanted else 'TOO SLOW'})")


if __name__ == "__main__":
    main()
    a_year()
