"""Faults put into the service on purpose, each of which the simulation must find."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.mutation.code_swap import swapped


class Fault(NamedTuple):
    """A change of a module of the service."""

    what: str
    module: str
    sound: str
    broken: str


FAULTS = [
    Fault(
        "a decision is acknowledged before its commit",
        "storage.batch_writer",
        "            answers = self._answer(jobs)\n",
        "            early = [(future, work) for work, future in jobs if isinstance(work, IssuedDecision)]\n"
        "            self._loop.call_soon_threadsafe(self._resolve, early)\n"
        "            answers = self._answer(jobs)\n",
    ),
    Fault(
        "a click is counted when it arrives and at the deadline",
        "storage.outcome_rules",
        "            self.outcome, self.recorded = outcome, report\n",
        "            self.outcome, self.recorded = outcome, report\n"
        '            count.add(self.where, clicked=int(outcome.kind == "clicked"))\n',
    ),
    Fault(
        "decisions are marked as final in a transaction of its own",
        "storage.sql_store",
        "            for ids in chunks([row[0] for row in due]):\n"
        '                self.all(f"UPDATE decisions SET final = 1 WHERE id IN ({marks(ids)})", ids)\n',
        "        with self.transaction():\n"
        "            for ids in chunks([row[0] for row in due]):\n"
        '                self.all(f"UPDATE decisions SET final = 1 WHERE id IN ({marks(ids)})", ids)\n',
    ),
    Fault(
        "a request that is sent again makes a second decision",
        "storage.sql_store",
        "if key in used or first.setdefault(key, decision.id) != decision.id:",
        "if first.setdefault(key, decision.id) != decision.id:",
    ),
    Fault(
        "items are counted in slots of another order",
        "storage.accumulator",
        "            for slot, item in enumerate(items):\n                pair = self.counts[slot, item]\n"
        "                pair[SHOWS] += times\n",
        "            for slot, item in enumerate(sorted(items)):\n                pair = self.counts[slot, item]\n"
        "                pair[SHOWS] += times\n",
    ),
    Fault(
        "decisions that a clock has jumped past are never counted",
        "storage.sql_store",
        "WHERE final = 0 AND deadline <= ? ORDER BY",
        "WHERE final = 0 AND deadline <= ? AND deadline > {now - 60.0} ORDER BY",
    ),
    Fault(
        "decisions are counted a little before their deadline",
        "storage.sql_store",
        "                (now, at_most),\n            )\n            if not due:",
        "                (now + 0.2, at_most),\n            )\n            if not due:",
    ),
    Fault(
        "a second click replaces the first",
        "storage.outcome_rules",
        'recorded is None or (recorded.kind == "no_click" and outcome.kind == "clicked")',
        'recorded is None or outcome.kind == "clicked"',
    ),
    Fault(
        "an outcome shortly after the deadline is not late",
        "storage.outcome_rules",
        "if now >= deadline:",
        "if now >= deadline + 0.5:",
    ),
    Fault(
        "a visitor's list never ends",
        "storage.sticky_lists",
        "and decision.issued < until and",
        "and",
    ),
    Fault(
        "one view of a visitor too many is learned from",
        "storage.visitor_caps",
        "before[key] > limit.at_most",
        "before[key] > limit.at_most + 1",
    ),
    Fault(
        "a request that was refused for want of time is written after all",
        "storage.batch_writer",
        "            batch = self._handed.popleft()\n            if batch.take():",
        "            batch = self._handed.popleft()\n            if not batch.is_taken():",
    ),
    Fault(
        "a decision that was refused stays, as its commit was not answered",
        "storage.batch_writer",
        "self._doubtful = [work for work, _ in issuing if work.once is None]",
        "self._doubtful = []",
    ),
    Fault(
        "decisions are counted in the hour of their deadline",
        "storage.sql_store",
        "where = CountKey(placement, hour_of(issued), segment, arm)",
        "where = CountKey(placement, hour_of(now), segment, arm)",
    ),
    Fault(
        "a worker learns again what it has learned",
        "placements.placement_state",
        "np.where(touched, clicks - learned.clicks, 0)",
        "np.where(touched, clicks, 0)",
    ),
    Fault(
        "of a batch of decisions, each is written by itself",
        "storage.batch_writer",
        "        if self._gathered:\n            batch = _Batch(self._gathered)\n            self._gathered = []\n",
        "        if self._gathered:\n            batch = _Batch(self._gathered[:1])\n"
        "            self._gathered = self._gathered[1:]\n"
        "            self._loop.call_soon(self._hand_over)\n",
    ),
    Fault(
        "a later event adds the value of the whole decision again",
        "storage.outcome_rules",
        "before = decision_value(self.reward, self.outcome, self.events) or 0.0",
        "before = 0.0",
    ),
    Fault(
        "a later event counts again if it is sent again",
        "storage.outcome_rules",
        "events = {event.event_id: event for event in self.events}\n        conflicts",
        "events = {(at, event.event_id): event for at, event in enumerate(self.events)}\n        conflicts",
    ),
    Fault(
        "events are accepted a little after the reward days",
        "storage.outcome_rules",
        "report.now >= self.events_until:",
        "report.now >= self.events_until + 4000.0:",
    ),
    Fault(
        "events before the deadline are not counted",
        "storage.sql_store",
        "outcome, later = outcome_of(*outcome_columns), events_of(events)",
        "outcome, later = outcome_of(*outcome_columns), ()",
    ),
    Fault(
        "a held placement still shows learned lists",
        "decisions.decide",
        'if definition.mode != "live":',
        'if definition.mode == "shadow":',
    ),
    Fault(
        "a placement is held before its message is stored",
        "runtime.alerting",
        "                topic = f\"guardrail {guardrail['metric']}\"\n",
        "                topic = f\"guardrail {guardrail['metric']}\"\n"
        "                if is_broken:\n"
        '                    await self._hold(placement, guardrail["sentence"])\n',
    ),
    Fault(
        "a message that was not taken is not sent again",
        "runtime.alerting",
        "        if url is not None and not await self._post(url, alert.message):\n            return\n",
        "        if url is not None:\n            await self._post(url, alert.message)\n",
    ),
]


@contextmanager
def broken(fault: Fault) -> Iterator[None]:
    """Within the block, the service has the fault."""
    module = importlib.import_module(f"slotwise.service.{fault.module}")
    source = inspect.getsource(module)
    assert source.count(fault.sound) == 1, (fault.what, source.count(fault.sound))
    with swapped(module, source.replace(fault.sound, fault.broken)):
        yield
