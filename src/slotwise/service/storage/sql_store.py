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
from slotwise.service.storage.count_tables import ADD_COUNTERS, ADD_PERIOD_COUNTERS, ADD_PERIOD_TALLY, ADD_TALLY
from slotwise.service.storage.decision_log import OUTCOME, DecisionLog, outcome_of
from slotwise.service.storage.decision_types import IssuedDecision, Outcome, Receipt, Report, hour_of, least_id
from slotwise.service.storage.idempotency import Key, UsedKey, claim, drop_keys, key_of
from slotwise.service.storage.outcome_rules import judge
from slotwise.service.storage.placement_transfer import PlacementTransfer
from slotwise.service.storage.sql_base import Row, adding, chunks, marks, read, written
from slotwise.service.storage.sticky_lists import drop_lists, stick
from slotwise.service.storage.visitor_caps import cap, drop_hours

_INSERT = (
    "INSERT INTO decisions (id, placement, items, arm, issued, deadline, segment, waits, propensities, "
    "list_of, capped) VALUES ROWS"
)
_ADD_DELAYS = adding("delays", ("placement", "at_most", "number"), ("clicks",))


class Store(PlacementTransfer, DecisionLog):
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
            self._add(count)
        return issued, receipts

    def _record(self, reports: Sequence[Report], count: Accumulator) -> list[Receipt]:
        if not reports:
            return []
        rows: dict[str, Row] = {}
        for ids in chunks(sorted({report.decision for report in reports})):
            for row in self.all(
                f"SELECT id, placement, segment, arm, issued, items, deadline, final, late, {OUTCOME} FROM decisions "
                f"WHERE id IN ({marks(ids)}) ORDER BY id{self.for_update}",
                ids,
            ):
                rows[row[0]] = row
        receipts, recorded, late = [], dict[str, Report](), set[str]()
        for report in reports:
            if report.decision not in rows:
                receipts.append(Receipt("unknown_decision"))
                continue
            id, placement, segment, arm, time, listed, deadline, final, was_late, *columns = rows[report.decision]
            where = CountKey(placement, hour_of(time), segment, arm)
            before = recorded[id].outcome if id in recorded else outcome_of(*columns)
            items = tuple(read(listed))
            verdict = judge(
                report.outcome, now=report.now, items=items, deadline=deadline, final=bool(final), recorded=before
            )
            if verdict == "recorded":
                recorded[id] = report
            elif verdict == "duplicate":
                count.add(where, duplicates=1)
            elif verdict == "conflict":
                count.add(where, conflicts=1)
            elif verdict == "late" and not was_late and id not in late:
                late.add(id)
                count.add(where, late=1)
            receipts.append(Receipt(verdict, items, before))
        self.many(
            "WITH reports (id, outcome, clicked, clicked_then, value, reported) AS (VALUES ROWS) "
            "UPDATE decisions SET outcome = reports.outcome, clicked = reports.clicked, "
            "clicked_then = reports.clicked_then, value = CAST(reports.value AS DOUBLE PRECISION), "
            "reported = reports.reported FROM reports WHERE decisions.id = reports.id",
            [(id, *_columns(report.outcome), report.now) for id, report in sorted(recorded.items())],
        )
        for ids in chunks(sorted(late)):
            self.all(f"UPDATE decisions SET late = 1 WHERE id IN ({marks(ids)})", ids)
        return receipts

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
                    int(decision.capped),
                )
            )
        self.many(_INSERT, rows)
        return issued

    def _add(self, count: Accumulator) -> None:
        self.many(ADD_COUNTERS, count.counters())
        self.many(ADD_PERIOD_COUNTERS, count.period_counters())
        self.many(_ADD_DELAYS, count.delays())

    def finalise(self, now: float, at_most: int) -> int:
        """Count decisions past their deadline, each exactly once; returns their number."""
        with self.transaction():
            due = self.all(
                f"SELECT id, placement, segment, arm, issued, items, waits, reported, capped, {OUTCOME} FROM decisions "
                f"WHERE final = 0 AND deadline <= ? ORDER BY deadline LIMIT ?{self.skip_locked}",
                (now, at_most),
            )
            if not due:
                return 0
            drop_keys(self, now, at_most)
            count = Accumulator()
            silent: dict[tuple[CountKey, str], int] = {}
            for _, placement, segment, arm, issued, listed, waits, reported, capped, *outcome_columns in due:
                where = CountKey(placement, hour_of(issued), segment, arm)
                if capped:
                    count.add(where, capped=1)
                    continue
                if outcome_columns[0] is None:
                    # most decisions have no report, and many share a list
                    key = where, listed
                    silent[key] = silent.get(key, 0) + 1
                    continue
                outcome = outcome_of(*outcome_columns)
                count.finalise(where, read(listed), outcome)
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

    def compact(self, before: float, at_most: int) -> int:
        """Delete final decisions with a deadline before then; returns their number. Tally and counters stay."""
        with self.transaction():
            ids = [
                row[0]
                for row in self.all(
                    f"SELECT id FROM decisions WHERE id < ? AND final = 1 AND deadline < ? "
                    f"ORDER BY id LIMIT ?{self.skip_locked}",
                    (least_id(before), before, at_most),
                )
            ]
            for chunk in chunks(ids):
                self.all(f"DELETE FROM decisions WHERE id IN ({marks(chunk)})", chunk)
        return len(ids)


def _columns(outcome: Outcome) -> tuple[str, str | None, str | None, float | None]:
    then = written(outcome.then) if outcome.then else None
    return outcome.kind, outcome.item, then, outcome.value


def _not_issued(decision: IssuedDecision, used: Mapping[Key, UsedKey]) -> IssuedDecision:
    if decision.once is None or key_of(decision) not in used:
        return replace(decision, fate="unknown_placement")
    request, before = used[key_of(decision)]
    return before if request == decision.once.request else replace(decision, fate="other_request")
