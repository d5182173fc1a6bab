"""`python -m benchmarks.service_goals`: what a decision costs the service, each figure with its floor.

The machine is often busy, so the processor's time for a request stands beside the rate. `benchmarks.versions`
measures a checkout beside an earlier one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

from benchmarks.postgresql_server import postgresql
from benchmarks.service import (
    TURNS,
    Client,
    connect,
    free_port,
    outcome_rate,
    processor_seconds,
    put,
    rate,
    running,
    show_latencies,
    verdict,
)

#: decisions a second
AIM = 10_000
#: the floors: seconds, or ratios
P99, OUTCOME_RATIO, PROCESS_RATIO = 10e-3, 1.3, 1.7
AMONG_MANY, MANY_SEGMENTS = 3e-3, 5e-3
#: decisions of a placement that is slow to decide for
DECISIONS = 300
SEGMENTS = {"city": [f"city-{number}" for number in range(999)], "device": ["mobile"]}

Process = Popen[bytes]


@contextlib.contextmanager
def serving(store: str, *, workers: int = 1) -> Iterator[tuple[int, Process]]:
    port = free_port()
    command = ("-c", "from slotwise.cli import main; main()", "serve", "--port", str(port), "--workers", str(workers))
    told = {"SLOTWISE_STORE": store, "SLOTWISE_LOG_LEVEL": "error", "SLOTWISE_COMPILE": "first"}
    with running(*command, port=port, **told) as process:
        yield port, process


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("SLOTWISE_BENCH_FOLDER", ".")) as folder:
        print("the service, each figure with its floor")
        _one_process(Path(folder))
        _slow_placements(Path(folder))
        _two_processes(Path(folder))


def _one_process(folder: Path) -> None:
    with serving(f"sqlite:///{folder}/one.db") as (port, process):
        put(port, "bench", 20)
        put(port, "slow", 20, window=600.0)
        asyncio.run(rate(port, seconds=1.0))
        rates, costs = zip(*(_rate_and_cost(port, process) for _ in range(TURNS)), strict=True)
        decisions = statistics.median(rates)
        print(
            f"durable decisions of one process, SQLite: {decisions:,.0f} /s (aim {AIM:,}), "
            f"{statistics.median(costs) * 1e6:.0f} us of the processor each"
        )
        slow = show_latencies("decisions", port, decisions / 2)
        verdict("10 ms / 99 % within", P99 / slow, 1.0)
        pairs = [asyncio.run(outcome_rate(port)) for _ in range(TURNS)]
        verdict("outcomes / decisions", statistics.median(o / d for d, o in pairs), OUTCOME_RATIO)


def _rate_and_cost(port: int, process: Process) -> tuple[float, float]:
    used = processor_seconds(process)
    found = asyncio.run(rate(port, seconds=2.0))
    return found, (processor_seconds(process) - used) / (found * 2.0)


def _slow_placements(folder: Path) -> None:
    """Placements with many items, and with many segments; in the second, each decision is of another segment."""
    with serving(f"sqlite:///{folder}/slow.db") as (port, process):
        put(port, "many", 100_000, slots=10)
        spent = asyncio.run(_cost(port, process, "many", itertools.repeat("{}")))
        print(f"a decision among 100,000 items, nearly all of them new: {spent * 1e3:.2f} ms of the processor (aim 1)")
        verdict("3 ms / that", AMONG_MANY / spent, 1.0)
        put(port, "wide", 1_000, slots=1, segments=SEGMENTS)
        contexts = [json.dumps({"context": {"city": city, "device": "mobile"}}) for city in SEGMENTS["city"]]
        spent = asyncio.run(_cost(port, process, "wide", itertools.cycle(contexts)))
        print(f"a decision of 1,000 items x 2,000 segments: {spent * 1e3:.2f} ms of the processor (aim 1)")
        verdict("5 ms / that", MANY_SEGMENTS / spent, 1.0)


async def _cost(port: int, process: Process, name: str, bodies: Iterator[str]) -> float:
    """The processor's time for a decision, HTTP and disk included."""
    (client,) = await connect(port, 1)
    await _decide(client, name, bodies)
    used = processor_seconds(process)
    await _decide(client, name, bodies)
    client.transport.close()
    return (processor_seconds(process) - used) / DECISIONS


async def _decide(client: Client, name: str, bodies: Iterator[str]) -> None:
    for _ in range(DECISIONS):
        await client.send("POST", f"/v1/placements/{name}/decisions", next(bodies))


def _two_processes(folder: Path) -> None:
    # PostgreSQL runs as another user
    folder.chmod(0o755)
    with postgresql(folder) as (store, _):
        rates = []
        for workers in (1, 2):
            with serving(store, workers=workers) as (port, _):
                put(port, "bench", 20)
                asyncio.run(rate(port, seconds=2.0))
                rates.append(statistics.median(asyncio.run(rate(port)) for _ in range(TURNS)))
        one, two = rates
        print(f"durable decisions on PostgreSQL: one process {one:,.0f} /s, two {two:,.0f} /s, {os.cpu_count()} cores")
        verdict("two processes / one", two / one, PROCESS_RATIO)


if __name__ == "__main__":
    main()
