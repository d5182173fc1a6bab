"""The rules of reports: the verdict on an outcome, and on events that come later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.service.storage.accumulator import Accumulator, CountKey
from slotwise.service.storage.decision_types import Event, Outcome, Receipt, Report, Verdict
from slotwise.service.storage.rewards import MAX_EVENTS, decision_value, event_names, fault_of


def judge(
    outcome: Outcome,
    *,
    now: float,
    items: Sequence[str],
    deadline: float,
    final: bool,
    recorded: Outcome | None,
) -> Verdict:
    """The verdict on an outcome: the first one counts, and a click may replace a no-click until the deadline.

    `now` is when the outcome arrived. If the decision became final while the outcome waited to be written, an outcome
    in time still gets a verdict by the earlier outcome; only a new one is late.

    >>> known = dict(now=1.0, items=["a", "b"], deadline=2.0, final=False)
    >>> judge(Outcome("clicked", "a"), recorded=Outcome("no_click"), **known)
    'recorded'
    >>> judge(Outcome("no_click"), recorded=Outcome("clicked", "a"), **known)
    'conflict'
    """
    if not set(outcome.clicks) <= set(items):
        return "unknown_item"
    if now >= deadline:
        return "late"
    if recorded == outcome:
        return "duplicate"
    if recorded is None or (recorded.kind == "no_click" and outcome.kind == "clicked"):
        return "late" if final else "recorded"
    return "conflict"


@dataclass(slots=True)
class ReportedDecision:
    """A decision and all that was reported of it, within the transaction that takes further reports."""

    where: CountKey
    items: tuple[str, ...]
    deadline: float
    #: whether it is counted, so that a new event changes the counts at once
    final: bool
    capped: bool
    late: bool
    #: the text of its reward, and the time when events end; None without a reward
    reward: str | None
    events_until: float | None
    outcome: Outcome | None
    events: tuple[Event, ...]
    #: the report of this transaction that counts
    recorded: Report | None = None
    is_newly_late: bool = False
    has_new_events: bool = False

    def take(self, report: Report, count: Accumulator) -> Receipt:
        """Record a report as far as the rules allow, and count what follows from it."""
        if report.outcome is None:
            return self._take_events(report, count)
        before, outcome = self.outcome, report.outcome
        why = fault_of(self.reward, outcome.events)
        if self.events and outcome.kind == "not_shown":
            why = "shown must not be false: events of this list were reported"
        if why is not None:
            return Receipt("invalid_event", self.items, before, why)
        verdict = judge(
            outcome, now=report.now, items=self.items, deadline=self.deadline, final=self.final, recorded=before
        )
        if verdict == "recorded":
            self.outcome, self.recorded = outcome, report
        elif verdict == "duplicate":
            count.add(self.where, duplicates=1)
        elif verdict == "conflict":
            count.add(self.where, conflicts=1)
        elif verdict == "late" and not self.late:
            self.late = self.is_newly_late = True
            count.add(self.where, late=1)
        return Receipt(verdict, self.items, before)

    def _take_events(self, report: Report, count: Accumulator) -> Receipt:
        why = fault_of(self.reward, report.events)
        if why is None and self.outcome is not None and self.outcome.kind == "not_shown":
            why = "events must be of a list that was shown, and this one was reported as not shown"
        events = {event.event_id: event for event in self.events}
        conflicts = [event for event in report.events if events.setdefault(event.event_id, event) != event]
        if why is None and len(events) > MAX_EVENTS:
            why = f"events of one decision must be at most {MAX_EVENTS}, got {len(events)}"
        if why is not None:
            return Receipt("invalid_event", self.items, self.outcome, why)
        if self.events_until is None or report.now >= self.events_until:
            return Receipt("late", self.items, self.outcome)
        if conflicts:
            return Receipt("conflict", self.items, self.outcome, conflicts[0].event_id)
        if len(events) == len(self.events):
            return Receipt("duplicate", self.items, self.outcome)
        self._add(tuple(events.values()), count)
        return Receipt("recorded", self.items, self.outcome)

    def _add(self, events: tuple[Event, ...], count: Accumulator) -> None:
        if self.final and not self.capped:
            before = decision_value(self.reward, self.outcome, self.events) or 0.0
            after = decision_value(self.reward, self.outcome, events) or 0.0
            count.revalue(self.where, self.items, self.outcome, before, after)
            for name in event_names(self.outcome, events) - event_names(self.outcome, self.events):
                count.event(self.where, name)
        self.events, self.has_new_events = events, True
