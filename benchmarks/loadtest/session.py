"""A running load test: each visitor is a coroutine with its own connection."""

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

from benchmarks.loadtest.expected_counts import ExpectedCounts, expected_response
from benchmarks.loadtest.http_connection import Address, HttpConnection, Unanswered
from benchmarks.loadtest.loadtest_report import Lag
from benchmarks.loadtest.visitor_requests import Request, VisitorRequests
from benchmarks.loadtest.visitor_segments import Segment
from slotwise.demo.simulated_visitors import Outcome, SimulatedVisitors

#: between two requests for the service's metrics
METRICS_SECONDS: Final = 0.25
#: tries of a report, or of a request with an idempotency key, before it counts as unanswered
MAX_TRIES: Final = 5
PAUSE_SECONDS: Final = 0.2
#: wait after the end of the window, because the clocks may differ
MARGIN_SECONDS: Final = 0.05


@dataclass
class _Late:
    due: float
    decision: dict[str, Any]
    browser: bool
    outcome: Outcome
    segment: Segment


@dataclass
class Session:
    """A running load test."""

    address: Address
    placement: str
    visitors: SimulatedVisitors
    requests: VisitorRequests
    expected: ExpectedCounts
    rounds: int
    rate: float | None
    seconds: float
    window: float
    step: Callable[[], None] = lambda: None
    ended_by: str = "rounds"
    seconds_taken: float = 0.0
    #: whether all visitors have reported
    complete: bool = False
    _taken: int = 0
    _late: deque[_Late] = field(default_factory=deque)
    #: pending decisions and the age of the snapshot, from the metrics
    _metrics: list[tuple[float, float]] = field(default_factory=list)
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
        polling = asyncio.create_task(self._poll_metrics())
        late_reports = asyncio.create_task(self._report_late())
        try:
            await asyncio.gather(*(self._visitor() for _ in range(visitors)))
            self.seconds_taken = time.perf_counter() - self._began
            self._stop.set()
            await late_reports
            self.complete = True
        finally:
            self.seconds_taken = self.seconds_taken or time.perf_counter() - self._began
            timer.cancel()
            polling.cancel()

    def lag(self) -> Lag | None:
        """Return the delay of the service's learning, without the first moments."""
        samples = self._metrics[int((self.window + 1.0) / METRICS_SECONDS) :]
        if not samples:
            return None
        pending, age = (sum(column) / len(samples) for column in zip(*samples, strict=True))
        # ages are uniform from 0 to the time between two snapshots
        every = 2.0 * age * self.expected.decisions["issued"] / self.seconds_taken
        return Lag(rounds=round(pending), every=max(1, round(every)))

    def failure(self) -> str:
        """Return the reason why there was no decision."""
        statuses = ", ".join(f"{count} × {status}" for status, count in self.expected.unexpected.items())
        return statuses or self._why or "there was no time"

    def _interrupted(self) -> None:
        self._end("interrupt")
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _end(self, why: str) -> None:
        if not self._stop.is_set():
            self.ended_by = why
            self._stop.set()

    async def _visitor(self) -> None:
        connection = HttpConnection(self.address, timeout=30.0)
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

    async def _visit(self, connection: HttpConnection) -> bool:
        """Request a decision and report its outcome in time; return whether there was a decision."""
        request = self.requests.draw()
        began = time.perf_counter()
        decision = await self._ask_for_decision(connection, request)
        if decision is None:
            return False
        now = time.perf_counter()
        shown = tuple(decision["items"])
        visit = self.visitors.visit(shown)
        self.expected.issued(shown, visit.seen, request.segment)
        if request.again == "at once":
            await self._ask_again(connection, request, decision, began)
        recorded: Outcome | None = None
        late = False
        for outcome in visit.reports:
            wanted = "late" if late else expected_response(recorded, outcome)
            answer = await self._report(connection, decision, visit.browser, outcome, wanted)
            if not answer:
                # the recorded outcome is unknown now
                break
            if answer in ("recorded", "duplicate"):
                recorded = outcome
            late |= answer == "late"
        self.expected.ended(shown, recorded, request.segment)
        if late:
            self.expected.came_late(request.segment)
        self.expected.missed += late and (recorded is None or recorded.get("clicked") is None)
        if visit.too_late is not None:
            due = now + self.window + MARGIN_SECONDS
            self._late.append(_Late(due, decision, visit.browser, visit.too_late, request.segment))
        if request.again == "after reports":
            await self._ask_again(connection, request, decision, began)
        self.step()
        return True

    async def _ask_for_decision(self, connection: HttpConnection, request: Request) -> dict[str, Any] | None:
        """Request a decision; with an idempotency key, retry while there is no response."""
        began = time.perf_counter()
        lost = False
        for _ in range(MAX_TRIES if request.key else 1):
            sent = time.perf_counter()
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
                # after the window the key is free again, so the lost request may have made a decision, too
                self.expected.unanswered += lost and status == 201 and now - began >= self.window
                self.expected.repeated += lost and status == 200
                self.expected.decide_seconds.append(now - sent)
                decision: dict[str, Any] = json.loads(body)
                return decision
            if status == 200:
                self.expected.wrong["new request answered with an old decision"] += 1
            else:
                self.expected.unexpected[status] += 1
            break
        self.expected.unanswered += lost
        return None

    async def _ask_again(
        self, connection: HttpConnection, request: Request, decision: dict[str, Any], began: float
    ) -> None:
        """Repeat a request that `began` earlier: its decision must be the same."""
        try:
            status, body = await self._send(connection, request)
        except Unanswered as failure:
            self.expected.unanswered += failure.sent
            return
        in_time = time.perf_counter() - began < self.window
        if status not in (200, 201):
            self.expected.unexpected[status] += 1
            return
        answer = json.loads(body)
        if status == 200 and answer == decision:
            self.expected.repeated += 1
            return
        if in_time or status == 200:
            self.expected.wrong["same key answered with another decision"] += 1
        self.expected.renewed += status == 201
        if status == 201:
            # it gets no reports
            shown = tuple(answer["items"])
            self.expected.issued(shown, seen=False, segment=request.segment)
            self.expected.ended(shown, None, request.segment)

    async def _send(self, connection: HttpConnection, request: Request) -> tuple[int, bytes]:
        head = self._plain
        if request.key is not None:
            head = self.address.head("POST", self._path, f"Idempotency-Key: {request.key}")
        return await connection.ask(head, json.dumps({"context": request.context} if request.context else {}).encode())

    async def _report(
        self, connection: HttpConnection, decision: dict[str, Any], browser: bool, outcome: Outcome, wanted: str
    ) -> str:
        """Return the kind of response: recorded, duplicate, conflict or late; empty if unknown."""
        if browser:
            head, body = self._beacon, json.dumps({"token": decision["token"], **outcome}).encode()
        else:
            head = self.address.head("PUT", f"/v1/decisions/{decision['id']}/outcome")
            body = json.dumps(outcome).encode()
        for attempt in range(MAX_TRIES):
            began = time.perf_counter()
            try:
                status, content = await connection.ask(head, body)
            except Unanswered:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            self.expected.report_seconds.append(time.perf_counter() - began)
            if status == 200:
                verdict = "duplicate" if json.loads(content)["duplicate"] else "recorded"
            else:
                verdict = {409: "conflict", 410: "late", 403: "late"}.get(status, "")
            if status == 503:
                await asyncio.sleep(PAUSE_SECONDS)
            elif not verdict:
                self.expected.unexpected[status] += 1
                return ""
            elif verdict == "late" and attempt:
                # an earlier try may have been recorded in time
                break
            else:
                # an earlier try may have been recorded
                repeated = attempt and (wanted, verdict) == ("recorded", "duplicate")
                self.expected.answered(verdict if repeated else wanted, verdict)
                return verdict
        self.expected.unanswered += 1
        return ""

    async def _report_late(self) -> None:
        connection = HttpConnection(self.address, timeout=30.0)
        try:
            while self._late or not self._stop.is_set():
                if not self._late:
                    await self._wait_until(time.perf_counter() + self.window)
                    continue
                late = self._late.popleft()
                await asyncio.sleep(max(0.0, late.due - time.perf_counter()))
                answer = await self._report(connection, late.decision, late.browser, late.outcome, "late")
                if answer == "late":
                    self.expected.came_late(late.segment)
        finally:
            connection.close()

    async def _poll_metrics(self) -> None:
        """Poll the metrics of the service's delay of learning."""
        connection = HttpConnection(self.address, timeout=5.0)
        head = self.address.head("GET", "/metrics")
        wanted = re.compile(
            rb'^slotwise_pending\{placement="%b"\} (\S+)$.*^slotwise_snapshot_staleness_seconds (\S+)$'
            % re.escape(self.placement.replace("\\", r"\\").replace('"', r"\"").encode()),
            re.DOTALL | re.MULTILINE,
        )
        try:
            while True:
                await asyncio.sleep(METRICS_SECONDS)
                with contextlib.suppress(Unanswered):
                    values = wanted.search((await connection.ask(head))[1])
                    if values and not self._stop.is_set():
                        self._metrics.append((float(values[1]), float(values[2])))
        finally:
            connection.close()
