"""The store: decisions are issued, their outcomes recorded, and both counted, in SQL for SQLite and PostgreSQL.

The differences between the two databases are in `sqlite.py` and `postgresql.py`.

Locks are taken in one order everywhere, so that there are no deadlocks: decisions by id, then idempotency keys, then
placements by name, then visitors, then tally and counters, each by key. The shared lock that keeps a placement from
being deleted is taken first; only deletions wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slotwise.service.storage.accumulator import Accumulator, CountKey
from slotwise.service.storage.alerts_table import AlertTable
from slotwise.service.storage.candidate_items import candidates_of, candidates_text
from slotwise.service.storage.count_tables import (
    ADD_COUNTERS,
    ADD_EVENTS,
    ADD_PERIOD_COUNTERS,
    ADD_PERIOD_TALLY,
    ADD_TALLY,
)
from slotwise.service.storage.decision_log import OUTCOME, DecisionLog, outcome_of
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Receipt, Report, hour_of, least_id
from slotwise.service.storage.idempotency import Key, UsedKey, claim, drop_keys, key_of
from slotwise.service.storage.outcome_rules import ReportedDecision
from slotwise.service.storage.placement_transfer import PlacementTransfer
from slotwise.service.storage.rewards import decision_value, event_names, events_of, events_text
from slotwise.service.storage.sql_base import adding, chunks, marks, read, written
from slotwise.service.storage.sticky_lists import drop_lists, stick
from slotwise.service.storage.visitor_caps import cap, drop_hours

_INSERT = (
    "INSERT INTO decisions (id, placement, items, arm, issued, deadline, segment, waits, propensities, "
    "list_of, candidates, capped, reward, events_until) VALUES ROWS"
)
_ADD_DELAYS = adding("delays", ("placement", "at_most", "number"), ("clicks",))


class Store(PlacementTransfer, DecisionLog, AlertTable):
    """Durable placements, decisions and tallies: when a method returns, its changes are on disk.

    One store object is one connection, used by one thread at a time. Several objects, threads, processes and machines
    may share a database: every decision is counted once. Times are seconds since 1970, given by the caller. A
    transaction that takes longer than `patience` seconds raises `StoreUnavailable` or `CommitInDoubt`. A subclass
    provides the connection.
    """

    def write(
        self, decisions: Sequence[IssuedDecision], reports: Sequence[Report]
    ) -> tuple[list[IssuedDecision], list[Receipt]]:
        """Issue decisions and record outcomes in one transaction; returns the decisions to show, and receipts."""
        with self.transaction():
            count = Accumulator()
            receipts = self._record(reports, count)
            issued = self._issue(decisions, count)
            # those with events after they were counted; after all keys and visitors, in the order of locks
            for placement in count.placements():
                self._count(placement, count)
            self._add(count)
        return issued, receipts

    def _record(self, reports: Sequence[Report], count: Accumulator) -> list[Receipt]:
        if not reports:
            return []
        reported = self._reported(sorted({report.decision for report in reports}))
        receipts = [
            reported[report.decision].take(report, count)
            if report.decision in reported
            else Receipt("unknown_decision")
            for report in reports
        ]
        self.many(
            "WITH reports (id, outcome, clicked, clicked_then, value, outcome_events, reported) AS (VALUES ROWS) "
            "UPDATE decisions SET outcome = reports.outcome, clicked = reports.clicked, "
            "clicked_then = reports.clicked_then, value = CAST(reports.value AS DOUBLE PRECISION), "
            "outcome_events = reports.outcome_events, reported = reports.reported "
            "FROM reports WHERE decisions.id = reports.id",
            [
                (id, *_columns(known.recorded.outcome), known.recorded.now)
                for id, known in reported.items()
                if known.recorded is not None and known.recorded.outcome is not None
            ],
        )
        self.many(
            "WITH reports (id, events) AS (VALUES ROWS) "
            "UPDATE decisions SET events = reports.events FROM reports WHERE decisions.id = reports.id",
            [(id, events_text(known.events)) for id, known in reported.items() if known.has_new_events],
        )
        for ids in chunks([id for id, known in reported.items() if known.is_newly_late]):
            self.all(f"UPDATE decisions SET late = 1 WHERE id IN ({marks(ids)})", ids)
        return receipts

    def _reported(self, ids: Sequence[str]) -> dict[str, ReportedDecision]:
        """The decisions of sorted ids, locked in this order."""
        decisions: dict[str, ReportedDecision] = {}
        for chunk in chunks(ids):
            for row in self.all(
                "SELECT id, placement, segment, arm, issued, items, deadline, final, capped, late, reward, "
                f"events_until, events, {OUTCOME} FROM decisions "
                f"WHERE id IN ({marks(chunk)}) ORDER BY id{self.for_update}",
                chunk,
            ):
                id, placement, segment, arm, issued, items, deadline, final, capped, late = row[:10]
                reward, events_until, events, *outcome = row[10:]
                decisions[id] = ReportedDecision(
                    CountKey(placement, hour_of(issued), segment, arm),
                    tuple(read(items)),
                    deadline,
                    bool(final),
                    bool(capped),
                    bool(late),
                    reward,
                    events_until,
                    outcome_of(*outcome),
                    events_of(events),
                )
        return decisions

    def _issue(self, decisions: Sequence[IssuedDecision], count: Accumulator) -> list[IssuedDecision]:
        if not decisions:
            return []
        there = self._existing({decision.placement for decision in decisions})
        keyed = [decision for decision in decisions if decision.once is not None and decision.placement in there]
        used = claim(self, keyed) if keyed else {}
        first: dict[Key, str] = {}
        fresh = []
        for decision in decisions:
            if decision.placement not in there:
                continue
            if decision.once is not None:
                key = key_of(decision)
                if key in used or first.setdefault(key, decision.id) != decision.id:
                    continue
            fresh.append(decision)
        issued = self._insert(fresh, count)
        if len(issued) == len(decisions):
            return issued
        by_id = {decision.id: decision for decision in issued}
        for decision in issued:
            if decision.once is not None:
                used[key_of(decision)] = UsedKey(decision.once.request, replace(decision, fate="repeated"))
        return [by_id.get(decision.id) or _not_issued(decision, used) for decision in decisions]

    def _existing(self, placements: set[str]) -> set[str]:
        """The placements that exist; they cannot be deleted until the end of the transaction."""
        return {
            name
            for names in chunks(sorted(placements))
            for (name,) in self.all(
                f"SELECT name FROM placements WHERE name IN ({marks(names)}) ORDER BY name{self.for_existence}", names
            )
        }

    def _insert(self, decisions: Sequence[IssuedDecision], count: Accumulator) -> list[IssuedDecision]:
        """Insert decisions; returns them as they are shown, with the lists of returning visitors."""
        sticky = [decision for decision in decisions if decision.sticky is not None]
        sticky_by_id = {decision.id: decision for decision in stick(self, sticky)} if sticky else {}
        issued = cap(self, [sticky_by_id.get(decision.id, decision) for decision in decisions])
        rows = []
        for decision in issued:
            count.issue(decision.placement, hour_of(decision.issued), decision.segment, decision.arm)
            propensities = decision.propensities
            rows.append(
                (
                    decision.id,
                    decision.placement,
                    written(decision.items),
                    decision.arm,
                    decision.issued,
                    decision.deadline,
                    decision.segment,
                    decision.waits_seconds,
                    None if propensities is None else written(propensities),
                    decision.list_of,
                    candidates_text(decision),
                    int(decision.capped),
                    *(decision.reward or (None, None)),
                )
            )
        self.many(_INSERT, rows)
        return issued

    def _add(self, count: Accumulator) -> None:
        self.many(ADD_COUNTERS, count.counters())
        self.many(ADD_PERIOD_COUNTERS, count.period_counters())
        self.many(ADD_EVENTS, count.events())
        self.many(_ADD_DELAYS, count.delays())

    def finalise(self, now: float, at_most: int) -> int:
        """Count decisions past their deadline, each exactly once; returns their number."""
        with self.transaction():
            due = self.all(
                "SELECT id, placement, segment, arm, issued, items, waits, reported, capped, candidates, reward, "
                f"events, {OUTCOME} FROM decisions WHERE final = 0 AND deadline <= ? ORDER BY deadline "
                f"LIMIT ?{self.skip_locked}",
                (now, at_most),
            )
            if not due:
                return 0
            drop_keys(self, now, at_most)
            count = Accumulator()
            silent: dict[tuple[CountKey, str], int] = {}
            for _, placement, segment, arm, issued, listed, waits, reported, capped, candidates, *columns in due:
                reward, events, *outcome_columns = columns
                where = CountKey(placement, hour_of(issued), segment, arm)
                if capped:
                    count.add(where, capped=1)
                    continue
                if candidates is not None and outcome_columns[0] != "not_shown":
                    count.candidates[placement].add(candidates_of(candidates))
                if outcome_columns[0] is None and events is None:
                    # most decisions have no report, and many share a list
                    key = where, listed
                    silent[key] = silent.get(key, 0) + 1
                    continue
                outcome, later = outcome_of(*outcome_columns), events_of(events)
                count.finalise(where, read(listed), outcome, value=decision_value(reward, outcome, later))
                for name in event_names(outcome, later):
                    count.event(where, name)
                if waits is not None and outcome is not None and outcome.kind == "clicked":
                    count.delay(placement, waits, reported - issued)
            for (where, listed), times in silent.items():
                count.finalise(where, read(listed), None, times)
            for placement in count.placements():
                self._count(placement, count)
            drop_lists(self, now, at_most)
            drop_hours(self, now, at_most)
            self._add(count)
            for ids in chunks([row[0] for row in due]):
                self.all(f"UPDATE decisions SET final = 1 WHERE id IN ({marks(ids)})", ids)
        return len(due)

    def _count(self, placement: str, count: Accumulator) -> None:
        # the row lock serialises workers, so revisions become visible in order
        ((revision,),) = self.all(
            "UPDATE placements SET revision = revision + 1 WHERE name = ? RETURNING revision", (placement,)
        )
        self.many(ADD_TALLY, [(placement, *row, revision) for row in count.tally(placement)])
        self.many(ADD_PERIOD_TALLY, [(placement, *row, revision) for row in count.periods(placement)])
        if placement in count.candidates:
            self.count_candidates(placement, count.candidates[placement], revision)

    def compact(self, before: float, at_most: int) -> int:
        """Delete decisions that were final, and past their last event, before then; returns their number.

        Tally and counters stay.
        """
        with self.transaction():
            ids = [
                row[0]
                for row in self.all(
                    f"SELECT id FROM decisions WHERE id < ? AND final = 1 AND COALESCE(events_until, deadline) < ? "
                    f"ORDER BY id LIMIT ?{self.skip_locked}",
                    (least_id(before), before, at_most),
                )
            ]
            for chunk in chunks(ids):
                self.all(f"DELETE FROM decisions WHERE id IN ({marks(chunk)})", chunk)
        return len(ids)


def _columns(outcome: Outcome) -> tuple[str, str | None, str | None, float | None, str | None]:
    then = written(outcome.then) if outcome.then else None
    return outcome.kind, outcome.item, then, outcome.value, events_text(outcome.events)


def _not_issued(decision: IssuedDecision, used: Mapping[Key, UsedKey]) -> IssuedDecision:
    if decision.once is None or key_of(decision) not in used:
        return replace(decision, fate="unknown_placement")
    request, before = used[key_of(decision)]
    return before if request == decision.once.request else replace(decision, fate="other_request")
