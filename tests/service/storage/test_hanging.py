"""A PostgreSQL that is stopped, and answers nothing, holds nobody up for ever; what was refused does not count."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from slotwise.core.errors import CommitInDoubt, StoreUnavailable
from slotwise.service.runtime import Worker
from slotwise.service.storage.batch_writer import WRITE_SECONDS, Writer
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, new_id
from slotwise.service.storage.postgresql import PostgresqlStore
from tests.postgres import Postgres
from tests.service.runtime.test_worker import BOTH, definition
from tests.service.serving import THREE, Clock, serving
from tests.waiting import FOR_EVER, wait_for

NOW = 1_800_000_000.0


def processes(postgres: Postgres) -> list[int]:
    """The server's first process and all that it started."""
    first = int((postgres.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
    found = [first]
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == first:
                found.append(int(folder.name))
    return found


def send(postgres: Postgres, number: signal.Signals) -> None:
    for process in processes(postgres):
        with suppress(ProcessLookupError):
            os.kill(process, number)


@contextmanager
def hanging(postgres: Postgres) -> Iterator[None]:
    send(postgres, signal.SIGSTOP)
    try:
        yield
    finally:
        send(postgres, signal.SIGCONT)


def decision(seconds: float = 60.0) -> IssuedDecision:
    return IssuedDecision(new_id(NOW), "home", ("a", "b"), "learned", NOW, NOW + seconds)


def test_a_hanging_database_is_reported_and_used_again(postgres: Postgres) -> None:
    store = PostgresqlStore(postgres.fresh())
    store.put_placement("home", definition().text())
    store.patience = 0.5
    with hanging(postgres):
        for act in (store.probe, store.versions, lambda: store.write([decision()], []), store.probe):
            with pytest.raises(StoreUnavailable):
                act()
    store.patience = FOR_EVER
    store.probe()
    store.write([decision()], [])
    assert store.counters()["home"]["learned"].issued == 1
    store.close()


def test_a_statement_that_is_slow_is_given_up(postgres: Postgres) -> None:
    store = PostgresqlStore(postgres.fresh())
    store.patience = 0.5

    def sleep() -> None:
        with store.transaction():
            store.all("SELECT pg_sleep(?)", (FOR_EVER,))

    with pytest.raises(StoreUnavailable) as refused:
        sleep()
    assert not isinstance(refused.value, CommitInDoubt)
    store.patience = FOR_EVER
    store.probe()
    store.close()


class StoppedAtCommit(PostgresqlStore):
    """Its database is stopped after the last statement of a transaction, once."""

    postgres: Postgres | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with super().transaction():
            yield
            if self.postgres is not None:
                send(self.postgres, signal.SIGSTOP)
                self.postgres = None


def test_a_commit_without_an_answer_is_looked_up_and_does_not_count(postgres: Postgres) -> None:
    async def test() -> None:
        store = StoppedAtCommit(postgres.fresh())
        store.put_placement("home", definition().text())
        writer = Writer(store, seconds=FOR_EVER)
        writer.start()
        kept = await writer.issue(decision())
        writer._seconds = 0.5
        store.postgres = postgres
        refused = decision()
        with pytest.raises(CommitInDoubt):
            await writer.issue(refused)
        # still stopped: nothing is written before the fate of the last commit is known
        with pytest.raises(StoreUnavailable):
            await writer.issue(decision())
        send(postgres, signal.SIGCONT)
        await until_it_answers(writer)
        writer._seconds = FOR_EVER
        # nothing more is done by the session that was told to commit
        with psycopg.connect(postgres.url) as other:
            rows: dict[str, str | None] = dict(other.execute("SELECT id, outcome FROM slotwise.decisions").fetchall())
        assert rows.pop(kept.id) is None
        assert rows in ({}, {refused.id: "not_shown"})
        await writer.call(lambda _: store.finalise(NOW + 61.0, 100))
        assert [(row.slot, row.shows) for row in sorted(store.tally("home"), key=lambda row: row.slot)] == [
            (0, 1),
            (1, 1),
        ]
        await writer.close()

    try:
        asyncio.run(test())
    finally:
        send(postgres, signal.SIGCONT)


async def until_it_answers(writer: Writer) -> None:
    async with asyncio.timeout(FOR_EVER):
        while True:
            with suppress(StoreUnavailable):
                await writer.call(lambda store: store.probe())
                return
            await asyncio.sleep(0.05)


def test_requests_are_answered_while_the_database_hangs_and_do_not_count(postgres: Postgres) -> None:
    with serving(postgres.fresh(), write_seconds=WRITE_SECONDS, read_seconds=1.0) as client:
        wait_for(lambda: client.put("/v1/placements/home", json=THREE).is_success, "a placement")
        decisions: list[httpx.Response] = []

        def is_decided() -> bool:
            decisions.append(client.post("/v1/placements/home/decisions"))
            return decisions[-1].status_code == 201

        wait_for(is_decided, "a decision")
        kept = decisions[-1].json()
        requests: list[Callable[[], httpx.Response]] = [
            lambda: client.post("/v1/placements/home/decisions"),
            lambda: client.put(f"/v1/decisions/{kept['id']}/outcome", json={"clicked": None}),
            lambda: client.post("/v1/placements/another/decisions"),
            lambda: client.put("/v1/placements/another", json=THREE),
            lambda: client.get("/readyz"),
        ]
        with hanging(postgres), ThreadPoolExecutor(len(requests)) as people:
            for _ in range(3):
                # at the same time, as each is told only when the service's patience has come to its end
                for refused in people.map(lambda ask: ask(), requests):
                    assert refused.status_code == 503, refused.text
                assert client.get("/healthz").status_code == 200
        client.wait_until_ready()
        wait_for(lambda: client.report(kept, clicked=None).status_code == 200, "the report to be taken")
        client.clock.now += 61.0
        counted: list[dict[str, int]] = []

        def is_counted() -> bool:
            answer = client.get("/v1/placements/home/estimates")
            counted.extend([answer.json()["decisions"]] if answer.is_success else [])
            return bool(counted) and not counted[-1]["pending"]

        wait_for(is_counted, "the decision to be counted")
        found = counted[-1]
        assert found["no_click"] == 1
        assert found["issued"] - found["not_shown"] == 1


def test_a_worker_decides_again_when_the_database_does(postgres: Postgres) -> None:
    async def test() -> None:
        async with Worker(postgres.fresh(), clock=Clock(), placements={"home": definition()}) as worker:
            with hanging(postgres):
                asked = [asyncio.ensure_future(worker.decide("home", BOTH)) for _ in range(50)]
                refused = await asyncio.gather(*asked, return_exceptions=True)
                assert all(isinstance(one, StoreUnavailable) for one in refused)
            worker._writer._seconds = FOR_EVER
            async with asyncio.timeout(FOR_EVER):
                while True:
                    with suppress(StoreUnavailable):
                        shown = await worker.decide("home", BOTH)
                        break
                    await asyncio.sleep(0.05)
            assert (await worker.report(shown.id, Outcome("clicked", "a"))).verdict == "recorded"

    asyncio.run(test())
