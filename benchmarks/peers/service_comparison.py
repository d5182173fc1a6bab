"""Durable decisions over HTTP: slotwise beside what a team would write in an afternoon, asked by the same client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.peers.peer_environments import FOLDER, PeerUnavailable, install
from benchmarks.postgresql_server import postgresql
from benchmarks.service import ITEMS, answered, free_port, latencies, put, running

TURNS = 3
GET_REDIS = "redis-server is not installed: apt-get install redis-server, or your system's package of that name"


@dataclass
class Served:
    """A running service, its processes and those of its database, and how many decisions a database has stored."""

    port: int
    processes: list[subprocess.Popen[bytes]]
    stored: Callable[[], int]


def compare_services(seconds: float, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Decisions a second by turns, waiting times at half of that load, processor time; ours with SQLite first."""
    rows: dict[str, dict[str, Any]] = {}
    with contextlib.ExitStack() as running_services, tempfile.TemporaryDirectory(dir=".", prefix=".peers-") as name:
        os.chmod(name, 0o755)
        services: dict[str, Served] = {}
        for kind, start in KINDS.items():
            say(kind)
            folder = Path(name).resolve() / kind.replace(" ", "-")
            folder.mkdir()
            rows[kind] = {"service": kind}
            try:
                services[kind] = running_services.enter_context(start(folder))
            except PeerUnavailable as problem:
                rows[kind]["failed"] = str(problem)
        measured = _measured(services, seconds)
        for kind, found in measured.items():
            rows[kind] |= found
        for kind, service in services.items():
            # everything that was answered is on disk: the power fails, and the database starts again
            for process in service.processes:
                process.kill()
                process.wait()
            rows[kind]["lost"] = max(0, rows[kind].pop("answered") - service.stored())
    return list(rows.values())


def _measured(services: dict[str, Served], seconds: float) -> dict[str, dict[str, Any]]:
    rates: dict[str, list[float]] = {kind: [] for kind in services}
    costs: dict[str, list[float]] = {kind: [] for kind in services}
    slow: dict[str, list[float]] = {kind: [] for kind in services}
    total = dict.fromkeys(services, 0)
    for service in services.values():
        asyncio.run(answered(service.port, seconds=1.0))
    for _ in range(TURNS):
        for kind, service in services.items():
            before = _processor_seconds(service)
            count, taken = asyncio.run(answered(service.port, seconds=seconds))
            total[kind] += count
            rates[kind].append(count / taken)
            costs[kind].append((_processor_seconds(service) - before) / count)
    for _ in range(TURNS):
        for kind, service in services.items():
            waits = sorted(asyncio.run(latencies(service.port, statistics.median(rates[kind]) / 2, seconds)))
            total[kind] += len(waits)
            slow[kind].append(waits[int(0.99 * (len(waits) - 1))])
    return {
        kind: {
            "rate": statistics.median(rates[kind]),
            "processor": statistics.median(costs[kind]),
            "p99": statistics.median(slow[kind]),
            "answered": total[kind],
        }
        for kind in services
    }


def _processor_seconds(service: Served) -> float:
    """The processor time of the processes of a service, and of those that they started."""
    own = {process.pid for process in service.processes}
    ticks = 0
    for stat in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            number = int(stat.parent.name)
            if number in own or int(fields[1]) in own:
                own.add(number)
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _slotwise(store: str, stored: Callable[[], int], *databases: subprocess.Popen[bytes]) -> Iterator[Served]:
    port = free_port()
    serve = ("-c", "from slotwise.cli import main; main()", "serve", "--port", str(port))
    with running(*serve, port=port, SLOTWISE_STORE=store, SLOTWISE_LOG_LEVEL="error") as process:
        put(port, "bench", ITEMS, window=600.0)
        yield Served(port, [process, *databases], stored)


@contextlib.contextmanager
def _slotwise_on_sqlite(folder: Path) -> Iterator[Served]:
    def stored() -> int:
        with contextlib.closing(sqlite3.connect(folder / "bench.db")) as store:
            return int(store.execute("SELECT count(*) FROM decisions").fetchone()[0])

    with _slotwise(f"sqlite:///{folder}/bench.db", stored) as served:
        yield served


@contextlib.contextmanager
def _slotwise_on_postgresql(folder: Path) -> Iterator[Served]:
    with (
        postgresql(folder) as (url, database),
        _slotwise(url, lambda: _rows(folder, "slotwise.decisions"), database) as served,
    ):
        yield served


@contextlib.contextmanager
def _afternoon_on_postgresql(folder: Path) -> Iterator[Served]:
    with postgresql(folder) as (url, database), _afternoon("psycopg", "postgresql", url) as (port, process):
        yield Served(port, [process, database], lambda: _rows(folder, "decisions"))


@contextlib.contextmanager
def _afternoon_on_redis(folder: Path) -> Iterator[Served]:
    if shutil.which("redis-server") is None:
        raise PeerUnavailable(GET_REDIS)
    with _redis(folder) as (url, database), _afternoon("redis", "redis", url) as (port, process):
        yield Served(port, [process, database], lambda: _keys(folder))


@contextlib.contextmanager
def _afternoon(peer: str, name: str, url: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port, script = free_port(), FOLDER / "services" / f"{name}_service.py"
    with running(str(script), str(port), url, port=port, python=str(install(peer))) as process:
        yield port, process


@contextlib.contextmanager
def _redis(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    port = free_port()
    options = {"--port": port, "--bind": "127.0.0.1", "--dir": folder, "--appendonly": "yes", "--appendfsync": "always"}
    command = ["redis-server", *(str(part) for option in options.items() for part in option), "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _rows(folder: Path, table: str) -> int:
    with postgresql(folder) as (url, _), psycopg.connect(url) as connection:
        (counted,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
        return int(counted)


def _keys(folder: Path) -> int:
    """The decisions in a Redis that is started again: it has a key for each, and two for the counts."""
    with _redis(folder) as (url, _):
        count = "import redis, sys; print(redis.Redis.from_url(sys.argv[1]).dbsize())"
        while True:
            asked = subprocess.run([install("redis"), "-c", count, url], capture_output=True, text=True, check=False)
            if asked.returncode == 0:
                return int(asked.stdout)
            # it reads its file
            time.sleep(0.2)


KINDS: dict[str, Callable[[Path], contextlib.AbstractContextManager[Served]]] = {
    "slotwise on SQLite": _slotwise_on_sqlite,
    "slotwise on PostgreSQL": _slotwise_on_postgresql,
    "Thompson sampling on Redis": _afternoon_on_redis,
    "Thompson sampling on PostgreSQL": _afternoon_on_postgresql,
}

if __name__ == "__main__":
    for row in compare_services(float(sys.argv[1]) if sys.argv[1:] else 4.0, print):
        print(row)
