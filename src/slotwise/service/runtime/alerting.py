"""Alerts and guardrails: states of placements are watched, and changes are reported to their webhooks."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final, NamedTuple

from slotwise.core.errors import InvalidInput, SlotwiseError, StoreUnavailable
from slotwise.service.placements.definition_edits import ExpectedVersion, StaleVersion, patched
from slotwise.service.placements.placement_registry import Placements, UnknownPlacement
from slotwise.service.placements.placement_state import Placement
from slotwise.service.placements.placement_updates import PlacementUpdates
from slotwise.service.reports.dashboard_queries import Dashboard
from slotwise.service.reports.guardrails import read_guardrails
from slotwise.service.runtime.background_tasks import again_and_again
from slotwise.service.runtime.webhook import NotDelivered, checked_url, post
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.overview_schemas import OverviewDocument
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage.alerts_table import PendingAlert
from slotwise.service.storage.batch_writer import Writer

#: between two looks at guardrails, at the states of placements, and at messages that are due
GUARD_SECONDS: Final = 10.0
WATCH_SECONDS: Final = 60.0
DELIVER_SECONDS: Final = 2.0
#: messages that are sent at the same time
MAX_AT_ONCE: Final = 20
#: states of a placement that are reported
REPORTED: Final = ("settled", "changed")

log = logging.getLogger("slotwise.service")


class AlertOptions(NamedTuple):
    """The secret that messages are signed with, and whether they may go to other machines without TLS."""

    secret: str | None = None
    any_http: bool = False


class Alerts:
    """Watches the guardrails and states of placements, and sends messages about changes."""

    def __init__(
        self,
        placements: Placements,
        writer: Writer,
        changing: PlacementUpdates,
        dashboard: Dashboard,
        clock: Callable[[], float],
        options: AlertOptions,
    ) -> None:
        self._placements, self._writer, self._changing, self._dashboard = placements, writer, changing, dashboard
        self._clock, self._options = clock, options
        #: whether the store was reported as unavailable, by this worker
        self._is_store_reported = False

    def check(self, definition: PlacementDefinition) -> None:
        """Raise unless messages of a placement can be sent."""
        if definition.alert_url is None:
            return
        checked_url(definition.alert_url, any_http=self._options.any_http)
        if self._options.secret is None:
            raise InvalidInput("alert_url needs the setting SLOTWISE_ALERT_SECRET, with which messages are signed")

    def loops(self) -> tuple[Coroutine[None, None, None], ...]:
        """The background loops."""

        def every(
            seconds: float, work: Callable[[], Coroutine[None, None, None]], what: str
        ) -> Coroutine[None, None, None]:
            return again_and_again(work, partial(asyncio.sleep, seconds), what)

        return (
            every(GUARD_SECONDS, self.check_guardrails, "check guardrails"),
            every(WATCH_SECONDS, self.watch, "watch placements"),
            every(DELIVER_SECONDS, self.deliver, "send alerts"),
        )

    async def check_guardrails(self) -> None:
        """Report broken guardrails, and show the control order if a guardrail says so."""
        for placement in self._placements.all():
            definition = placement.definition
            if not definition.guardrails or definition.mode != "live":
                continue
            for guardrail in await self._placements.read(
                lambda store, name=placement.name, now=definition: read_guardrails(store, name, now)  # type: ignore[misc]
            ):
                is_broken = guardrail["state"] == "broken"
                topic = f"guardrail {guardrail['metric']}"
                # first the message, then the change: after a crash in between, the next look makes the change
                await self._note(placement, topic, guardrail["state"], guardrail["sentence"] if is_broken else None)
                if is_broken and guardrail["then"] == "control":
                    await self._hold(placement, guardrail["sentence"])

    async def _hold(self, placement: Placement, reason: str) -> None:
        log.warning("placement held", extra={"placement": placement.name, "problem": reason})
        # what was put back meanwhile is not held again by evidence from before
        evaluated = ExpectedVersion(versions=frozenset({placement.version}))
        try:
            await self._changing.change(placement.name, patched({"mode": "held"}), evaluated, reason)
        except (UnknownPlacement, StaleVersion):
            return

    async def watch(self) -> None:
        """Note the states of the placements with a webhook; a new one is reported."""
        for placement in self._placements.all():
            if placement.definition.alert_url is None:
                continue
            overview: OverviewDocument = json.loads((await self._dashboard.overview(placement.name)).content)
            state = overview["state"]
            sentence = state["sentence"] if state["kind"] in REPORTED else None
            await self._note(placement, "state", state["kind"], sentence)
            for check in overview["checks"]:
                if check["id"] == "capped":
                    is_high = check["level"] == "look"
                    await self._note(placement, "capped", check["level"], check["sentence"] if is_high else None)

    async def _note(self, placement: Placement, topic: str, state: str, sentence: str | None) -> None:
        if placement.definition.alert_url is None:
            return
        now, name = self._clock(), placement.name
        text = None if sentence is None else self._message(name, topic, state, sentence, now)
        await self._writer.call(lambda store: store.note_state(name, topic, state, text, now))

    def _message(self, placement: str, topic: str, state: str, sentence: str, now: float) -> str:
        message = {"id": secrets.token_hex(16), "placement": placement, "topic": topic, "state": state}
        return json.dumps({**message, "sentence": sentence, "time": rfc3339(now)}, ensure_ascii=False)

    async def deliver(self) -> None:
        """Send the messages that are due; a store that does not answer is reported by itself."""
        if self._options.secret is None or not any(self._urls()):
            return
        now = self._clock()
        try:
            due = await self._writer.call(lambda store: store.claim_alerts(now, MAX_AT_ONCE))
        except StoreUnavailable as problem:
            await self._report_store(str(problem))
            return
        self._is_store_reported = False
        await asyncio.gather(*map(self._send, due))

    def _urls(self) -> set[str]:
        return {
            placement.definition.alert_url for placement in self._placements.all() if placement.definition.alert_url
        }

    async def _report_store(self, problem: str) -> None:
        """Report, once until it answers again, that the store cannot be written: it cannot hold the message."""
        if self._is_store_reported:
            return
        self._is_store_reported = True
        state = "full" if "full" in problem else "unavailable"
        body = self._message("", "store", state, f"The store cannot be written: {problem}.", self._clock())
        await asyncio.gather(*(self._post(url, body) for url in self._urls()))

    async def _send(self, alert: PendingAlert) -> None:
        placement = self._placements.get(alert.placement)
        url = None if placement is None else placement.definition.alert_url
        if url is not None and not await self._post(url, alert.message):
            return
        await self._writer.call(lambda store: store.finish_alert(alert))

    async def _post(self, url: str, body: str) -> bool:
        assert self._options.secret is not None
        try:
            await post(url, body.encode(), self._options.secret, self._clock(), any_http=self._options.any_http)
        except (NotDelivered, SlotwiseError) as problem:
            log.warning("alert not delivered", extra={"problem": str(problem)})
            return False
        return True
