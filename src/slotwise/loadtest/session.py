"""A drive in progress: each visitor is a coroutine with a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from slotwise.loadtest.expected_counts import Ledger, answer_due
from slotwise.loadtest.http_connection import Address, Connection, Unanswered
from slotwise.loadtest.loadtest_report import Lag
from slotwise.loadtest.simulated_visitors import Outcome, Request, Visitors
from slotwise.loadtest.visitor_segments import Segment

#: between two looks at the service's metrics
LOOK_SECONDS: Final = 0.25
#: how many times a report, or a request with a key, is sent before it is given up as unanswered
TRIES: Final = 5
PAUSE_SECONDS: Final = 0.2
#: waited after the end of the window, as the service's clock and this one may differ
MARGIN_SECONDS: Final = 0.05


@dataclass
class _Late:
    due: float
    decision: dict[str, Any]
    browser: bool
    outcome: Outcome
    segment: Segment


@dataclass
class Course:
    """A drive in progress."""

    address: Address
    placement: str
    visitors: Visitors
    ledger: Ledger
    rounds: int
    rate: float | None
    seconds: float
    window: float
    step: Callable[[], None] = lambda: None
    ended_by: str = "rounds"
    seconds_taken: float = 0.0
    #: whether every visitor got to report everything
    complete: bool = False
    _taken: int = 0
    _late: deque[_Late] = field(default_factory=deque)
    #: pending decisions and the age of the snapshot, each time the service was asked
    _looks: list[tuple[float, float]] = field(default_factory=list)
    _why: str = ""

    async def run(self, visitors: int) -> None:
        self._stop = asyncio.Event()
        self._path = f"/v1/placements/{quote(self.placement, safe='')}/decisions"
        self._plain = self.address.head("POST", self._path)
        self._beacon = self.address.head("POST", "/v1/outcomes")
        self._began = time.perf_counter()
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        timer = loop.call_later(self.seconds, self._end, "seconds")
        looking = asyncio.create_task(self._look())
        latecomers = asyncio.create_task(self._come_late())
        try:
            await asyncio.gather(*(self._visitor() for _ in range(visitors)))
            self.seconds_taken = time.perf_counter() - self._began
            self._stop.set()
            await latecomers
            self.complete = True
        finally:
            self.seconds_taken = self.seconds_taken or time.perf_counter() - self._began
            timer.cancel()
            looking.cancel()

    def lag(self) -> Lag | None:
        """How far the service's knowledge was behind its decisions, leaving out the first moments."""
        looks = self._looks[int((self.window + 1.0) / LOOK_SECONDS) :]
        if not looks:
            return None
        pending, age = (sum(column) / len(looks) for column in zip(*looks, strict=True))
        # ages are spread evenly from 0 to the time between two snapshots
        every = 2.0 * age * self.ledger.decisions["issued"] / self.seconds_taken
        return Lag(rounds=round(pending), every=max(1, round(every)))

    def trouble(self) -> str:
        """Why there was no decision."""
        statuses = ", ".join(f"{count} × {status}" for status, count in self.ledger.unexpected.items())
        return statuses or self._why or "there was no time"

    def _interrupted(self) -> None:
        self._end("interrupt")
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _end(self, why: str) -> None:
        if not self._stop.is_set():
            self.ended_by = why
            self._stop.set()

    async def _visitor(self) -> None:
        connection = Connection(self.address, timeout=30.0)
        try:
            while not self._stop.is_set() and self._taken < self.rounds:
                self._taken += 1
                if self.rate is not None:
                    await self._wait_until(self._began + self._taken / self.rate)
                    if self._stop.is_set():
                        break
                if not await self._visit(connection):
                    self._taken -= 1
                    await self._wait_until(time.perf_counter() + PAUSE_SECONDS)
        finally:
            connection.close()

    async def _wait_until(self, due: float) -> None:
        with contextlib.suppress(TimeoutError):
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.wait_for(self._stop.wait(), wait)

    async def _visit(self, connection: Connection) -> bool:
        """Ask for one decision and report on it in time; False if there was no decision."""
        request = self.visitors.request()
        began = time.perf_counter()
        decision = await self._ask_for_decision(connection, request)
        if decision is None:
            return False
        now = time.perf_counter()
        shown = tuple(decision["items"])
        visit = self.visitors.visit(shown)
        self.ledger.issued(shown, visit.seen, request.segment)
        if request.again == "at once":
            await self._ask_again(connection, request, decision, began)
        stands: Outcome | None = None
        late = False
        for outcome in visit.reports:
            wanted = "late" if late else answer_due(stands, outcome)
            answer = await self._report(connection, decision, visit.browser, outcome, wanted)
            if not answer:
                # nobody knows which outcome stands now
                break
            if answer in ("recorded", "duplicate"):
                stands = outcome
            late |= answer == "late"
        self.ledger.ended(shown, stands, request.segment)
        if late:
            self.ledger.came_late(request.segment)
        self.ledger.missed += late and (stands is None or stands.get("clicked") is None)
        if visit.too_late is not None:
            due = now + self.window + MARGIN_SECONDS
            self._late.append(_Late(due, decision, visit.browser, visit.too_late, request.segment))
        if request.again == "after reports":
            await self._ask_again(connection, request, decision, began)
        self.step()
        return True

    async def _ask_for_decision(self, connection: Connection, request: Request) -> dict[str, Any] | None:
        """The decision, or None; with a key it is asked for again while there is no answer."""
        began = time.perf_counter()
        lost = False
        for _ in range(TRIES if request.key else 1):
            asked = time.perf_counter()
            try:
                status, body = await self._send(connection, request)
            except Unanswered as failure:
                self._why = str(failure)
                lost |= failure.sent
                if request.key:
                    await asyncio.sleep(PAUSE_SECONDS)
                continue
            now = time.perf_counter()
            if status == 201 or (status == 200 and lost):
                # once its window is over a key is free again, and then the lost request may have made a decision too
                self.ledger.unanswered += lost and status == 201 and now - began >= self.window
                self.ledger.repeated += lost and status == 200
                self.ledger.decide_seconds.append(now - asked)
                decision: dict[str, Any] = json.loads(body)
                return decision
            if status == 200:
                self.ledger.wrong["new request answered with an old decision"] += 1
            else:
                self.ledger.unexpected[status] += 1
            break
        self.ledger.unanswered += lost
        return None

    async def _ask_again(
        self, connection: Connection, request: Request, decision: dict[str, Any], began: float
    ) -> None:
        """Ask with the key of a decision that was first asked for when it `began`: it must be the same."""
        try:
            status, body = await self._send(connection, request)
        except Unanswered as failure:
            self.ledger.unanswered += failure.sent
            return
        in_time = time.perf_counter() - began < self.window
        if status not in (200, 201):
            self.ledger.unexpected[status] += 1
            return
        answer = json.loads(body)
        if status == 200 and answer == decision:
            self.ledger.repeated += 1
            return
        if in_time or status == 200:
            self.ledger.wrong["same key answered with another decision"] += 1
        self.ledger.renewed += status == 201
        if status == 201:
            # nobody will report on it
            shown = tuple(answer["items"])
            self.ledger.issued(shown, seen=False, segment=request.segment)
            self.ledger.ended(shown, None, request.segment)

    async def _send(self, connection: Connection, request: Request) -> tuple[int, bytes]:
        head = self._plain
        if request.key is not None:
            head = self.address.head("POST", self._path, f"Idempotency-Key: {request.key}")
        return await connection.ask(head, json.dumps({"context": request.context} if request.context else {}).encode())

    async def _report(
        self, connection: Connection, decision: dict[str, Any], browser: bool, outcome: Outcome, wanted: str
    ) -> str:
        """What the service answered: recorded, duplicate, conflict or late; empty if that is not known."""
        if browser:
            head, body = self._beacon, json.dumps({"token": decision["token"], **outcome}).encode()
        else:
            head = self.address.head("PUT", f"/v1/decisions/{decision['id']}/outcome")
            body = json.dumps(outcome).encode()
        for attempt in range(TRIES):
            began = time.perf_counter()
            try:
                status, content = await connection.ask(head, body)
            except Unanswered:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            self.ledger.report_seconds.append(time.perf_counter() - began)
            if status == 200:
                verdict = "duplicate" if json.loads(content)["duplicate"] else "recorded"
            else:
                verdict = {409: "conflict", 410: "late", 403: "late"}.get(status, "")
            if status == 503:
                await asyncio.sleep(PAUSE_SECONDS)
            elif not verdict:
                self.ledger.unexpected[status] += 1
                return ""
            elif verdict == "late" and attempt:
                # an earlier try may have been recorded in time
                break
            else:
                # an earlier try may have been recorded
                repeated = attempt and (wanted, verdict) == ("recorded", "duplicate")
                self.ledger.answered(verdict if repeated else wanted, verdict)
                return verdict
        self.ledger.unanswered += 1
        return ""

    async def _come_late(self) -> None:
        connection = Connection(self.address, timeout=30.0)
        try:
            while self._late or not self._stop.is_set():
                if not self._late:
                    await self._wait_until(time.perf_counter() + self.window)
                    continue
                late = self._late.popleft()
                await asyncio.sleep(max(0.0, late.due - time.perf_counter()))
                answer = await self._report(connection, late.decision, late.browser, late.outcome, "late")
                if answer == "late":
                    self.ledger.came_late(late.segment)
        finally:
            connection.close()

    async def _look(self) -> None:
        """Keep asking for the metrics that tell how late the service learns."""
        connection = Connection(self.address, timeout=5.0)
        head = self.address.head("GET", "/metrics")
        wanted = re.compile(
            rb'^slotwise_pending\{placement="%b"\} (\S+)$.*^slotwise_snapshot_staleness_seconds (\S+)$'
            % re.escape(self.placement.replace("\\", r"\\").replace('"', r"\"").encode()),
            re.DOTALL | re.MULTILINE,
        )
        try:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                with contextlib.suppress(Unanswered):
                    found = wanted.search((await connection.ask(head))[1])
                    if found and not self._stop.is_set():
                        self._looks.append((float(found[1]), float(found[2])))
        finally:
            connection.close()
