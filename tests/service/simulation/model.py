"""What must be true, in plain Python: told of requests, commits and answers, it shares no code with the service."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.service.simulation.model_counts import HOUR, Counts
from tests.service.simulation.model_definitions import Definitions
from tests.service.simulation.model_rewards import Rewards, as_event, outcome_faults, verdicts
from tests.service.simulation.model_types import (
    NOT_SHOWN,
    NOTHING,
    Placement,
    Reported,
    Row,
    Shown,
    Violation,
    must,
)
from tests.service.simulation.requests import Delivery


class Model:
    """The history of every decision, from which everything that is counted follows."""

    def __init__(self, placements: dict[str, Placement]) -> None:
        self.placements = placements
        self.rows: dict[str, Row] = {}
        self.counts, self.rewards, self.definitions = Counts(), Rewards(), Definitions()
        #: the latest time that any worker's clock has shown
        self.latest = 0.0
        #: final decisions with an earlier deadline may be deleted
        self.compacted = 0.0
        self.commits = 0
        #: whether all that a worker has in memory may be counted on: it is alone, and was never killed
        self.is_alone, self.killed = False, False
        #: whether nothing in this history keeps workers from following the store
        self.is_prompt = True
        #: by decision, the states that it was in, each with the number of the commit that made it
        self._states: dict[str, list[tuple[int, Row]]] = {}
        self._drawn: dict[str, Delivery] = {}
        self._order: dict[str, int] = {}
        #: virtual times
        self._drawn_at: dict[str, float] = {}
        self._reports: dict[str, list[Delivery]] = defaultdict(list)
        self._keys: dict[tuple[str, str], Row] = {}
        self._lists: dict[tuple[str, str], Shown] = {}
        self._views: Counter[tuple[str, str, int]] = Counter()
        self._verdicts: Counter[tuple[str, Reported]] = Counter()
        self._taken_back: set[str] = set()
        self.repeats: Counter[str] = Counter()

    # what it is told

    def drawn(self, delivery: Delivery, id: str, at: float) -> None:
        """A worker has drawn a list for a request."""
        self._drawn[id], self._drawn_at[id] = delivery, at
        self._order[id] = len(self._order)

    def arrived(self, delivery: Delivery) -> None:
        """A request has arrived at a worker."""
        request = delivery.request
        for id, _ in request.outcomes:
            self._reports[id].append(delivery)
        if request.later is not None:
            self.rewards.arrived(request.later[0], delivery)
        if request.change:
            self.definitions.asked(request.placement, request.change)

    def committed(self, rows: dict[str, Row]) -> None:
        """A transaction was committed, and these are all decisions since."""
        self.commits += 1
        for row in sorted(
            (rows[id] for id in rows.keys() - self.rows.keys()), key=lambda row: self._order.get(row.id, -1)
        ):
            self._issued(row)
        for id, before in [*self.rows.items()]:
            after = rows.get(id)
            if after is None:
                is_old = before.final and before.deadline < self.compacted
                must(is_old or id not in self._states, "a decision is lost", before)
                self._states.pop(id, None)
            elif after != before:
                self._changed(before, after)
        self._whole_batches(rows)

    def answered(self, delivery: Delivery) -> None:
        """A worker has answered."""
        answer, request = delivery.answer, delivery.request
        if isinstance(answer, Exception):
            self._refused(delivery, answer)
        elif request.outcomes:
            for (id, outcome), receipt in zip(request.outcomes, answer or [], strict=True):
                self._judged(delivery, id, Reported.of(outcome), receipt)
        elif request.later is not None:
            for receipt in answer or []:
                self._judged_events(delivery, *request.later, receipt)
        elif not request.change:
            for decision in answer or []:
                self._promised(delivery, decision)

    # decisions

    def _issued(self, row: Row) -> None:
        delivery = self._drawn.get(row.id)
        if delivery is None:
            raise Violation(f"a decision that nobody asked for · {row}")
        request, placement = delivery.request, self.placements[row.placement]
        must(not delivery.is_refused, "a decision that was refused is written", row)
        must(row.placement == request.placement and row.segment == request.segment, "another view's decision", row)
        allowed = _allowed(placement, delivery)
        must(len({*row.items}) == len(row.items) == min(placement.slots, len(allowed)), "a list of another length", row)
        must({*row.items} <= {*allowed}, "an item that may not be shown", row)
        in_order = row.arm == "learned" or row.list_of is not None or row.items == allowed[: placement.slots]
        must(in_order, "the control order is another", row)
        must(abs(row.deadline - row.issued - placement.window) < 1e-6, "another window", row)
        must(row.outcome == NOTHING and not row.final and not row.late, "a new decision with an outcome", row)
        self.rewards.issued(row, placement, self.definitions.rewards(row.placement))
        if row.list_of is None:
            self.definitions.drawn(row, self._drawn_at[row.id], is_prompt=self.is_prompt)
        if request.key is not None:
            self._claim(row, delivery)
        self._stick(row, delivery)
        self._cap(row, delivery)
        self.rows[row.id] = row
        self._states[row.id] = [(self.commits, row)]
        self.counts.issue(row)

    def _claim(self, row: Row, delivery: Delivery) -> None:
        key = row.placement, delivery.request.decision_keys()[delivery.ids.index(row.id)]
        earlier = self._keys.get(key)
        # a key is dropped once a clock has passed the deadline, though another clock may be behind
        is_free = earlier is None or earlier.deadline <= max(row.issued, self.latest)
        must(is_free, "two decisions for one key", earlier, row)
        self._keys[key] = row

    def _stick(self, row: Row, delivery: Delivery) -> None:
        placement, visitor = self.placements[row.placement], delivery.request.visitor
        if placement.sticky is None or visitor is None:
            must(row.list_of is None, "a list of somebody else", row)
            return
        shown = self._lists.get((row.placement, visitor))
        if shown is not None and row.issued < shown.until:
            first, allowed = shown.row, _allowed(placement, delivery)
            is_possible = {*first.items} <= {*allowed} and len(first.items) == len(row.items)
            # a visitor stays in the arm, and a placement that is held, or put back, is of another mode
            same_mode = (first.arm == "shadow") == (row.arm == "shadow")
            holds = is_possible and same_mode and first.segment == row.segment
            if row.list_of is not None:
                same = (row.list_of, row.items, row.arm) == (first.id, first.items, first.arm)
                must(holds and same, "another list than the visitor's", shown, row)
                return
            must(not holds or shown.until <= self.latest, "a visitor sees another list", shown, row)
        must(row.list_of is None, "a list that has ended", shown, row)
        self._lists[row.placement, visitor] = Shown(row, row.issued + placement.sticky)

    def _cap(self, row: Row, delivery: Delivery) -> None:
        cap, visitor = self.placements[row.placement].cap, delivery.request.visitor
        hour = int(row.issued // HOUR)
        if cap is None or visitor is None:
            must(not row.capped, "a cap that is not there", row)
            return
        self._views[row.placement, visitor, hour] += 1
        # counts of an hour are dropped two hours later
        if self.latest // HOUR - hour < 2:
            is_beyond = self._views[row.placement, visitor, hour] > cap
            must(row.capped == is_beyond, "the cap", self._views[row.placement, visitor, hour], row)

    def _changed(self, before: Row, after: Row) -> None:
        fixed = ("outcome", "late", "final", "events")
        must(
            all(getattr(before, name) == getattr(after, name) for name in Row._fields if name not in fixed),
            "a decision that was issued has changed",
            before,
            after,
        )
        must(after.final >= before.final and after.late >= before.late, "final or late no more", before, after)
        if after.outcome != before.outcome:
            self._recorded(before, after)
        if after.events != before.events:
            self.rewards.changed(before, after)
            if before.final:
                self.counts.count(before, -1)
                self.counts.count(after)
        if after.late and not before.late:
            self._is_late(after)
        if after.final and not before.final:
            must(self.latest >= after.deadline, "counted before its deadline", self.latest, after)
            drawn = self._drawn[after.id]
            is_refused = drawn.is_doubtful and drawn.is_keyless and self.is_alone and not self.killed
            must(not is_refused or after.outcome == NOT_SHOWN, "a decision that was refused is counted", after)
            self.counts.count(after)
        self.rows[after.id] = after
        self._states[after.id].append((self.commits, after))

    def _whole_batches(self, rows: dict[str, Row]) -> None:
        for id in rows.keys() & self._order.keys():
            ids = self._drawn[id].ids
            if len(ids) > 1 and self.compacted == 0.0:
                must(rows.keys() >= set(ids) or len(ids) < self._drawn[id].request.count, "half a batch", ids)

    def _promised(self, delivery: Delivery, decision: Any) -> None:
        row = self.rows.get(decision.id)
        if row is None:
            raise Violation(f"an answer before the commit, or a lost decision · {decision}")
        seen = (decision.placement, decision.items, decision.arm, decision.issued, decision.deadline)
        must(seen == (row.placement, row.items, row.arm, row.issued, row.deadline), "another list", decision, row)
        if decision.fate == "issued":
            must(row.id not in self._taken_back, "a decision that was taken back", decision)
            must(row.id in delivery.ids, "a decision of another request", decision)
            return
        first = self._drawn[decision.id]
        must(delivery.request.key == first.request.key is not None, "repeated without a key", decision)
        must(delivery.request.same_as(first.request), "repeated for another request", decision)
        must(not delivery.ids or self.rows.keys().isdisjoint(delivery.ids), "a second decision", decision)

    # outcomes

    def _recorded(self, before: Row, after: Row) -> None:
        must(not before.final, "an outcome after the decision was counted", before, after)
        is_new = _may_follow(before.outcome, after.outcome)
        must(is_new, "the first outcome does not stand", before, after)
        for delivery in self._reports[after.id]:
            if delivery.now is None or delivery.now >= after.deadline or delivery.is_refused:
                continue
            if any(
                id == after.id and Reported.of(outcome) == after.outcome for id, outcome in delivery.request.outcomes
            ):
                self._verdicts[after.id, after.outcome] += 1
                self._between(before, after)
                return
        drawn = self._drawn[after.id]
        # a worker takes back a decision whose commit was not answered, perhaps before it tells the client
        is_doubtful = drawn.is_keyless and (drawn.answer is None or drawn.is_doubtful)
        must(after.outcome == NOT_SHOWN and is_doubtful, "an outcome that nobody reported in time", before, after)
        self._taken_back.add(after.id)

    def _between(self, before: Row, after: Row) -> None:
        """A no-click that the same transaction recorded, and replaced by a click."""
        if before.outcome != NOTHING or after.outcome.kind != "clicked":
            return
        for outcome in {
            Reported.of(outcome) for delivery in self._reports[after.id] for id, outcome in delivery.request.outcomes
        }:
            if outcome.kind == "no_click":
                self._verdicts[after.id, outcome] += 1
                self._states[after.id].append((self.commits, before._replace(outcome=outcome)))

    def _is_late(self, row: Row) -> None:
        came_late = (delivery.now or 0.0 for delivery in self._reports[row.id] if not delivery.is_refused)
        must(row.final or any(now >= row.deadline for now in came_late), "not late", row)

    def _judged(self, delivery: Delivery, id: str, outcome: Reported, receipt: Any) -> None:
        verdict = receipt.verdict
        if id not in self._states:
            must(verdict == "unknown_decision" or id in self.rows, "of an unknown decision", id, verdict)
            return
        possible = {of for row in self._since(delivery, id) for of in _verdicts(row, outcome, delivery.now or 0.0)}
        must(verdict in possible, "a wrong verdict", verdict, possible, self._states[id][-1], outcome)
        if verdict == "recorded":
            self._verdicts[id, outcome] -= 1
            must(self._verdicts[id, outcome] >= 0, "recorded twice", id, outcome)
        elif verdict in ("duplicate", "conflict"):
            self.repeats[verdict] += 1

    def _judged_events(self, delivery: Delivery, id: str, events: tuple[Any, ...], receipt: Any) -> None:
        verdict, now, by_token = receipt.verdict, delivery.now or 0.0, delivery.request.by_token
        new = tuple(as_event(event) for event in events)
        rows = self._since(delivery, id)
        possible = {of for row in rows for of in verdicts(row, new, now, by_token=by_token)}
        must(verdict in possible or id not in self._states, "a wrong verdict on events", verdict, possible, id, new)
        if verdict == "recorded":
            self.rewards.recorded(self.rows[id])

    def _since(self, delivery: Delivery, id: str) -> Iterator[Row]:
        """The states of a decision since a request arrived."""
        states = self._states.get(id, [])
        last_before = [number for number, (commit, _) in enumerate(states) if commit <= delivery.commits]
        return (row for _, row in states[last_before[-1] if last_before else 0 :])

    def _refused(self, delivery: Delivery, problem: Exception) -> None:
        what = type(problem).__name__
        if what == "InvalidInput" and delivery.request.key is not None:
            keys = [(delivery.request.placement, key) for key in delivery.request.decision_keys()]
            others = [self._drawn[self._keys[key].id].request for key in keys if key in self._keys]
            must(any(not delivery.request.same_as(other) for other in others), "refused for a free key", problem)
        else:
            must(what in ("StoreUnavailable", "CommitInDoubt"), "an unexpected answer", repr(problem))
        if what != "CommitInDoubt":
            must(self.rows.keys().isdisjoint(delivery.ids), "a refused decision is written", delivery)

    def finished(self) -> None:
        """All deadlines have passed, and nothing is under way."""
        for row in self.rows.values():
            must(row.final or row.id not in self._states, "never counted", row)


def _allowed(placement: Placement, delivery: Delivery) -> tuple[str, ...]:
    """The items that may be shown, in the order of the placement."""
    request = delivery.request
    return tuple(
        item
        for item in placement.items
        if item not in request.exclude and (request.candidates is None or item in request.candidates)
    )


def _may_follow(before: Reported, after: Reported) -> bool:
    """The first outcome stands, but a click may replace a no-click."""
    return before.kind is None or (before.kind == "no_click" and after.kind == "clicked")


def _verdicts(row: Row, outcome: Reported, now: float) -> set[str]:
    """What a report may be answered in this state: any of the reasons to refuse it, if there are some."""
    refusals = outcome_faults(row, outcome)
    if now >= row.deadline:
        refusals.add("late")
    if refusals:
        return refusals
    if row.outcome == outcome:
        return {"duplicate"}
    if _may_follow(row.outcome, outcome):
        # it came in time, and was overtaken by the end of the window
        return {"late" if row.final else "recorded"}
    return {"conflict"}
