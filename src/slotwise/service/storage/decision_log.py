"""The log of decisions and outcomes, read by id or in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from slotwise.service.storage.decision_types import Arm, IssuedDecision, Kind, LoggedDecision, Outcome
from slotwise.service.storage.rewards import decision_value, events_of
from slotwise.service.storage.sql_base import Database, chunks, marks, read, written

#: the columns of an outcome
OUTCOME: Final = "outcome, clicked, clicked_then, value, outcome_events"
_SELECT: Final = (
    "SELECT id, placement, items, arm, issued, deadline, segment, COALESCE(propensities, "
    "(SELECT first.propensities FROM decisions AS first WHERE first.id = decisions.list_of)), "
    f"capped, late, final, reward, events, {OUTCOME} FROM decisions"
)


def outcome_of(
    kind: Kind | None, clicked: str | None, then: str | None, value: float | None, events: str | None
) -> Outcome | None:
    """The outcome of a decision from its columns, or None."""
    return None if kind is None else Outcome(kind, clicked, tuple(read(then)) if then else (), value, events_of(events))


class DecisionLog(Database):
    """The part of a store that reads past decisions."""

    def fill_propensities(self, propensities: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Store the propensities of decisions, given by their ids: by slot, the probability of the item in it."""
        rows = sorted((id, written(values)) for id, values in propensities)
        with self.transaction():
            if self.for_update:
                for ids in chunks([id for id, _ in rows]):
                    self.all(f"SELECT 1 FROM decisions WHERE id IN ({marks(ids)}) ORDER BY id{self.for_update}", ids)
            self.many(
                "WITH filled (id, propensities) AS (VALUES ROWS) UPDATE decisions "
                "SET propensities = filled.propensities FROM filled WHERE decisions.id = filled.id "
                # a sticky list has the propensities of the decision that it was drawn for
                "AND decisions.list_of IS NULL",
                rows,
            )

    def logged(self, id: str) -> LoggedDecision | None:
        """One decision, final or not."""
        with self.reading():
            rows = self.all(f"{_SELECT} WHERE id = ?", (id,))
        return _read(*rows[0]) if rows else None

    def log(self, after: str, before: str, at_most: int, placement: str | None = None) -> list[LoggedDecision]:
        """The first counted decisions with ids between these two, in order of id, which is the order of time."""
        of_placement, name = ("", ()) if placement is None else (" AND placement = ?", (placement,))
        with self.reading():
            rows = self.all(
                f"{_SELECT} WHERE id > ? AND id < ? AND final = 1 AND capped = 0{of_placement} ORDER BY id LIMIT ?",
                (after, before, *name, at_most),
            )
        return [_read(*row) for row in rows]

    def count_pending(self, after: str, before: str, placement: str | None = None) -> int:
        """The number of decisions with ids between these two that are not final."""
        of_placement, name = ("", ()) if placement is None else (" AND placement = ?", (placement,))
        with self.reading():
            ((count,),) = self.all(
                f"SELECT COUNT(*) FROM decisions WHERE final = 0 AND id > ? AND id < ?{of_placement}",
                (after, before, *name),
            )
        return int(count)


def _read(
    id: str,
    placement: str,
    items: str,
    arm: Arm,
    issued: float,
    deadline: float,
    segment: str,
    propensities: str | None,
    capped: int,
    late: int,
    final: int,
    reward: str | None,
    events: str | None,
    *reported: Any,
) -> LoggedDecision:
    shown = tuple(read(items))
    decision = IssuedDecision(id, placement, shown, arm, issued, deadline, segment=segment, capped=bool(capped))
    outcome, later = outcome_of(*reported), events_of(events)
    return LoggedDecision(
        decision,
        outcome,
        final=bool(final),
        late=bool(late),
        propensities=None if propensities is None else tuple(read(propensities)),
        events=later,
        value=decision_value(reward, outcome, later),
    )
