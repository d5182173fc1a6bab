"""A service in this process, without HTTP, on SQLite, with a clock that can be moved."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from slotwise.service.runtime.worker import Worker
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.count_rows import COUNTERS
from slotwise.service.storage.decision_types import HOUR, IssuedDecision, Outcome, hour_of

#: seconds: the clock stands still, so no decision is due before it is moved
WINDOW = 5.0
#: seconds: a write is given as long as it takes
PATIENCE = 600.0
#: requests that are under way at once
AT_ONCE = 32


class LiveService:
    """A worker on a store, driven from outside of its event loop."""

    def __init__(self, folder: Path) -> None:
        self.store, self.now = folder / "growth.db", hour_of(time.time()) + 1.0
        self._runner = asyncio.Runner()
        self._worker: Worker

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """A service on a new store, which is deleted afterwards."""
        # on disk: /tmp may be in memory, and then its files would count as memory
        with TemporaryDirectory(dir=".", prefix=".growth-", ignore_cleanup_errors=True) as folder:
            service = cls(Path(folder))
            service.start()
            try:
                yield service
            finally:
                service.stop()
                service._runner.close()

    def start(self) -> None:
        """Open the store, and read everything until the first decision can be made."""

        async def start() -> None:
            self._worker = Worker(f"sqlite:///{self.store}", clock=lambda: self.now, write_seconds=PATIENCE)
            await self._worker.start()

        self._runner.run(start())

    def stop(self) -> None:
        """Close the store."""
        self._runner.run(self._worker.stop())

    def put(self, names: Sequence[str], items: int, slots: int, segments: int = 0, **more: Any) -> None:
        """Create placements with so many items, slots and segments."""
        if segments:
            more["segments"] = {"tenant": [f"t{number}" for number in range(segments)]}
        ids = [f"item-{number:06}" for number in range(items)]
        definition = PlacementDefinition.model_validate(
            {"slots": slots, "items": ids, "window_seconds": WINDOW, **more}
        )

        async def put() -> None:
            for name in names:
                await self._worker.put(name, definition)

        self._runner.run(put())

    def decide(self, count: int, names: Sequence[str] = ("home",), segments: int = 0) -> list[IssuedDecision]:
        """Decisions for the placements and segments in turn."""
        requests = [
            (names[number % len(names)], _request(number % segments if segments else None)) for number in range(count)
        ]

        async def decide() -> list[IssuedDecision]:
            made: list[IssuedDecision] = []
            for first in range(0, count, AT_ONCE):
                together = requests[first : first + AT_ONCE]
                made += await asyncio.gather(*(self._worker.decide(name, request) for name, request in together))
            return made

        return self._runner.run(decide())

    def report(self, decisions: Sequence[IssuedDecision]) -> None:
        """Report a click on the first slot of every third decision, and none for the others."""

        async def report() -> None:
            for first in range(0, len(decisions), AT_ONCE):
                await asyncio.gather(
                    *(
                        self._worker.report(
                            made.id, Outcome("no_click") if number % 3 else Outcome("clicked", made.items[0])
                        )
                        for number, made in enumerate(decisions[first : first + AT_ONCE])
                    )
                )

        self._runner.run(report())

    def finalise(self) -> None:
        """Let all deadlines pass, count the decisions, and update the placements in memory."""
        self.now += 2 * WINDOW

        async def finalise() -> None:
            await self._worker.background.finalise()
            await self._worker.refresh()

        self._runner.run(finalise())

    def counted(self) -> dict[str, int]:
        """What a stopped service has in its store."""
        queries = {
            "decisions": "SELECT count(*) FROM decisions",
            "issued": "SELECT sum(issued) FROM counters",
            "clicks": "SELECT sum(clicks) FROM tally",
            "final": "SELECT sum(final) FROM decisions",
        }
        with contextlib.closing(sqlite3.connect(self.store)) as store:
            return {name: store.execute(query).fetchone()[0] for name, query in queries.items()}

    def fill_decisions(self, count: int) -> None:
        """Copy the last decision until there are `count` more, final and still in the store."""
        (made,) = self.decide(1)
        self.finalise()
        with self._while_stopped() as store:
            names = [row[1] for row in store.execute("PRAGMA table_info(decisions)")]
            others = ", ".join(names[1:])
            store.execute(
                "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?) "
                f"INSERT INTO decisions (id, {others}) SELECT printf('%012x%020x', 1, n), {others} "
                "FROM numbers, decisions WHERE id = ?",
                (count, made.id),
            )

    def fill_hours(self, count: int, items: int, slots: int) -> None:
        """Counts of so many hours, of a few items each, the most popular ones most often."""
        rng, now = np.random.default_rng(1), hour_of(self.now)
        tally, counters = [], []
        for hour in range(now - HOUR * count, now, HOUR):
            shown = {(int(slot) % slots, int(item) % items) for slot, item in enumerate(rng.pareto(1.2, 8))}
            tally += [("home", hour, 1, "", "learned", slot, f"item-{item:06}", 1, 9, 10, 1) for slot, item in shown]
            counters.append(("home", hour, 1, "", "learned", *(0 for _ in COUNTERS)))
        with self._while_stopped() as store:
            for table, rows in (("period_tally", tally), ("period_counters", counters)):
                store.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    @contextmanager
    def _while_stopped(self) -> Iterator[sqlite3.Connection]:
        self.stop()
        with contextlib.closing(sqlite3.connect(self.store)) as store, store:
            yield store
        self.start()


def _request(segment: int | None) -> DecisionRequest:
    return DecisionRequest() if segment is None else DecisionRequest(context={"tenant": f"t{segment}"})
