"""The worker: one process of the service without HTTP. It decides, records outcomes, learns and estimates."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, Unpack

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, SlotwiseError, StoreUnavailable
from slotwise.service.decisions import decide
from slotwise.service.decisions.keyed_hash import Digests
from slotwise.service.decisions.outcome_tokens import Signer
from slotwise.service.metrics import WorkerMetrics
from slotwise.service.placements.placement_registry import Placements, UnknownPlacement
from slotwise.service.placements.placement_state import Placement
from slotwise.service.placements.placement_updates import PlacementUpdates
from slotwise.service.placements.propensities import Propensities
from slotwise.service.reports.dashboard_queries import Dashboard
from slotwise.service.reports.estimate_service import EstimateService, LocalEstimator, RemoteEstimator
from slotwise.service.reports.history import By, HistorySpan, history
from slotwise.service.reports.uplift import Span, SpanTexts
from slotwise.service.runtime.alerting import AlertOptions, Alerts
from slotwise.service.runtime.background_tasks import BackgroundTasks
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import EstimatesDocument, HistoryDocument
from slotwise.service.storage import open_store
from slotwise.service.storage.batch_writer import WRITE_SECONDS, Writer
from slotwise.service.storage.decision_types import (
    Event,
    IssuedDecision,
    LoggedDecision,
    Outcome,
    Receipt,
    Report,
    is_id,
)

Clock = Callable[[], float]
NO_CONSTRAINTS: Final = DecisionRequest()
NO_ALERTS: Final = AlertOptions()
PROBE_SECONDS: Final = 2.0
#: timeout of a read
READ_SECONDS: Final = 10.0
#: a worker whose last refresh is older than this is not ready
MAX_STALENESS: Final = 5.0

log = logging.getLogger("slotwise.service")


class StillStarting(SlotwiseError):
    """The worker has not read or compiled everything that the first decision needs."""


class Worker:
    """Placements on a store: a result means that the change is on disk.

    Between `start` and `stop`, which `async with` calls, background tasks finalise decisions, and
    `Placements.keep_fresh` follows the changes of other workers.

    Parameters
    ----------
    store
        The address of the store, `sqlite:///FILE` or `postgresql://…`.
    clock
        The current time, in seconds since 1970.
    placements
        Placements that are created at the start unless there are some of the same name.
    write_seconds
        The timeout of a write.
    read_seconds
        The timeout of a read.
    alerts
        How alerts are sent.

    >>> import tempfile
    >>> async def one_click(store):
    ...     async with Worker(store, placements={"home": PlacementDefinition(slots=1, items=["a", "b"])}) as worker:
    ...         decision = await worker.decide("home")
    ...         receipt = await worker.report(decision.id, Outcome("clicked", decision.items[0]))
    ...     return receipt.verdict
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(one_click(f"sqlite:///{folder}/clicks.db"))
    'recorded'
    """

    def __init__(
        self,
        store: str,
        *,
        clock: Clock = time.time,
        placements: Mapping[str, PlacementDefinition] | None = None,
        write_seconds: float = WRITE_SECONDS,
        read_seconds: float = READ_SECONDS,
        alerts: AlertOptions = NO_ALERTS,
    ) -> None:
        self._clock = clock
        self._first = dict(placements or {})
        # a connection for each thread: a read does not wait for a write
        writing, reading = open_store(store), open_store(store)
        reading.patience = read_seconds
        secret = writing.secret()
        self._signer, self._digests = Signer(secret), Digests(secret)
        self.metrics = WorkerMetrics()
        propensities = Propensities(self.metrics.looked_for_propensities)
        self._placements = Placements(reading, propensities, clock)
        self.metrics.collect_from(self._placements)
        self._remote_estimator = RemoteEstimator(store, clock)
        self._estimates = EstimateService(LocalEstimator(self._placements), self._remote_estimator)
        self._writer = Writer(writing, self.metrics.committed, write_seconds)
        #: finalises decisions, and stores propensities and summaries
        self.background = BackgroundTasks(self._placements, self._writer, propensities, self._estimates, clock)
        #: puts, changes and deletes placements
        self.changing = PlacementUpdates(self._placements, self._writer, clock)
        #: answers the dashboard's queries
        self.dashboard = Dashboard(store, self._placements, self._estimates, clock)
        #: watches guardrails and states, and sends alerts
        self.alerts = Alerts(self._placements, self._writer, self.changing, self.dashboard, clock, alerts)
        self.changing.check = self.alerts.check
        self._tasks: list[asyncio.Task[None]] = []
        self._starting: asyncio.Task[None] | None = None
        self._is_started = False

    async def start(self) -> None:
        """Create missing placements, read all placements, and start the background tasks."""
        self._writer.start()
        await self._start()

    def begin(self) -> asyncio.Task[None]:
        """Start in the background, as the store or the compiler may take long; the worker is not ready until then."""
        self._writer.start()
        self._starting = asyncio.create_task(self._keep_starting())
        return self._starting

    async def _keep_starting(self) -> None:
        while True:
            try:
                return await self._start()
            except StoreUnavailable as problem:
                log.warning("cannot start yet", extra={"problem": str(problem)})
                await asyncio.sleep(1.0)

    async def _start(self) -> None:
        for name, definition in self._first.items():
            if await self._placements.find(name) is None:
                await self.put(name, definition)
        await self._placements.refresh()
        await self._placements.load()
        self._is_started = True
        tasks = (
            self._placements.keep_fresh(),
            *self.background.loops(),
            *self.alerts.loops(),
        )
        self._tasks = [asyncio.create_task(task) for task in tasks]

    async def stop(self) -> None:
        """Finish pending writes, and close the store."""
        for task in (*self._tasks, *([self._starting] if self._starting is not None else [])):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        with contextlib.suppress(SlotwiseError):
            await self.background.fill_propensities()
        await self._remote_estimator.close()
        await self._writer.close()
        await self._placements.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def names(self) -> list[str]:
        """The names of the placements in memory, in order."""
        return self._placements.names()

    def placements(self) -> list[Placement]:
        """The placements in memory, in order of name."""
        return self._placements.all()

    def broken(self) -> dict[str, str]:
        """Unreadable placements with reasons, in order of name."""
        return self._placements.broken()

    async def placement(self, name: str) -> Placement:
        """Return a placement from memory; if it is not there yet, from the store."""
        return await self._placements.placement(name)

    async def newest(self, name: str) -> Placement:
        """Return a placement from the store, including changes that another worker has just made."""
        return await self._placements.newest(name)

    async def put(self, name: str, definition: PlacementDefinition) -> tuple[Placement, bool]:
        """Create or replace a placement; the second result is whether it is new.

        Parameters
        ----------
        name
            The placement.
        definition
            Its new definition.
        """
        changed = await self.changing.put(name, definition)
        return changed.placement, changed.is_new

    async def decide(
        self, name: str, request: DecisionRequest = NO_CONSTRAINTS, key: str | None = None
    ) -> IssuedDecision:
        """Return a decision for one visitor; with an idempotency key that was used before, the earlier decision.

        Parameters
        ----------
        name
            The placement.
        request
            Constraints, context and visitor.
        key
            An idempotency key.
        """
        placement = self._placements.get(name) or await self._placements.placement(name)
        decision = await self._writer.issue(self._drawn(placement, request, key))
        _refuse(decision, key)
        return decision

    async def decide_several(
        self, name: str, request: DecisionRequest, count: int, key: str | None = None
    ) -> list[IssuedDecision]:
        """Return decisions for several views, all of them or none; with a repeated key, the earlier decisions.

        Parameters
        ----------
        name
            The placement.
        request
            Constraints, context and visitor of each.
        count
            The number of decisions.
        key
            An idempotency key.
        """
        placement = self._placements.get(name) or await self._placements.placement(name)
        # no header has a line break, so these are no keys of single decisions
        keys = [None if key is None else f"{key}\n{count}\n{number}" for number in range(count)]
        drawn = [self._drawn(placement, request, each) for each in keys]
        decisions = await asyncio.gather(*self._writer.write_all(drawn))
        for decision in decisions:
            _refuse(decision, key)
        return decisions

    def _drawn(self, placement: Placement, request: DecisionRequest, key: str | None) -> IssuedDecision:
        now, digests = self._clock(), self._digests
        once, sticky = decide.once_for(key, request, digests), decide.sticky_for(placement, request, now, digests)
        return decide.decide(placement, request, now, once, sticky, decide.caps_for(placement, request, digests))

    def token(self, decision: IssuedDecision) -> str:
        """Return the token with which a browser reports the outcome of a decision."""
        return self._signer.sign(decision.id, decision.deadline)

    async def report(self, decision: str, outcome: Outcome) -> Receipt:
        """Record the outcome of a decision; the receipt has the verdict.

        Parameters
        ----------
        decision
            The id of the decision.
        outcome
            The click, or none.
        """
        return await self._report(Report(decision, outcome, self._clock()))

    async def add_events(self, decision: str, events: Sequence[Event]) -> Receipt:
        """Add events to a decision, until the end of its reward days; events that it has already are not added again.

        Parameters
        ----------
        decision
            The id of the decision.
        events
            Events with ids.
        """
        return await self._report(Report(decision, None, self._clock(), tuple(events)))

    async def report_several(self, outcomes: Sequence[tuple[str, Outcome]]) -> list[Receipt]:
        """Record the outcomes of many decisions in one transaction; the receipts are in the same order.

        Parameters
        ----------
        outcomes
            Ids of decisions, each with its outcome.
        """
        now = self._clock()
        reports = [Report(decision, outcome, now) for decision, outcome in outcomes]
        receipts = iter(await asyncio.gather(*self._writer.write_all([r for r in reports if is_id(r.decision)])))
        verdicts = [next(receipts) if is_id(report.decision) else Receipt("unknown_decision") for report in reports]
        for receipt in verdicts:
            self.metrics.reports.labels(receipt.verdict).inc()
        return verdicts

    async def report_by_token(self, token: str, outcome: Outcome | None, events: Sequence[Event] = ()) -> Receipt:
        """Record an outcome, or later events, by the decision's token, which expires at the deadline.

        Parameters
        ----------
        token
            The token of the decision.
        outcome
            The click, or none; None to add events.
        events
            Events with ids, without an outcome.
        """
        read, now = self._signer.read(token), self._clock()
        if outcome is None and now >= read.deadline:
            return Receipt("late")
        receipt = await self._report(Report(read.decision, outcome, now, tuple(events)))
        return receipt if now < read.deadline else Receipt("late", receipt.items, receipt.recorded)

    async def _report(self, report: Report) -> Receipt:
        if not is_id(report.decision):
            return Receipt("unknown_decision")
        receipt = await self._writer.record(report)
        self.metrics.reports.labels(receipt.verdict).inc()
        return receipt

    async def logged(self, decision: str) -> LoggedDecision | None:
        """Return a decision with its outcome, as now in the store; None if there is none."""
        return await self._placements.read(lambda store: store.logged(decision)) if is_id(decision) else None

    async def estimates(self, name: str, segment: Sequence[str] = (), **span: Unpack[SpanTexts]) -> EstimatesDocument:
        """Return the estimates of a placement, from the store as it is now.

        Parameters
        ----------
        name
            The placement.
        segment
            Filters KEY:VALUE; estimates are of the visitors that match all of them.
        **span
            The span of the uplift: `since` and `until` as text, or `period` as in 24h, 7d and 4w.
        """
        await self.placement(name)
        return await self._estimates.local.estimates(name, segment, Span.parse(self._clock(), **span))

    async def written_estimates(self, name: str, segment: Sequence[str] = (), **span: Unpack[SpanTexts]) -> bytes:
        """Return the estimates as JSON; another process computes those of a large placement."""
        estimator = self._estimates.of(await self.placement(name))
        return await estimator.estimates_json(name, segment, Span.parse(self._clock(), **span))

    async def history(
        self, name: str, by: By = "day", since: str | None = None, until: str | None = None
    ) -> HistoryDocument:
        """Return the history by hour or by day, from the store as it is now.

        Parameters
        ----------
        name
            The placement.
        by
            "hour" or "day".
        since, until
            The first time and the time after the last, as RFC 3339 texts or dates.
        """
        await self.placement(name)
        span = HistorySpan.of(by, since, until, self._clock())
        return await self._placements.read(lambda store: history(store, name, by, span))

    async def refresh(self) -> None:
        """Update the placements in memory from the store."""
        await self._placements.refresh()

    async def probe(self) -> None:
        """Raise unless the worker has started, the store accepts a write, and the snapshot is fresh."""
        if not self._is_started:
            raise StillStarting("the worker is still starting")
        await asyncio.wait_for(self._writer.call(lambda store: store.probe()), PROBE_SECONDS)
        if self._placements.staleness() > MAX_STALENESS:
            raise StoreUnavailable(f"the snapshot is {self._placements.staleness():.0f} seconds old")


def _refuse(decision: IssuedDecision, key: str | None) -> None:
    """Raise unless the decision was issued, now or before."""
    if decision.fate == "unknown_placement":
        raise UnknownPlacement(f"there is no placement {decision.placement!r}")
    if decision.fate == "other_request":
        raise InvalidInput(f"Idempotency-Key {validation.short(key)} was used before, for another request")
