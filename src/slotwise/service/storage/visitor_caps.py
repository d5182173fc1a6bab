"""The hourly cap: of one visitor's decisions in an hour, only so many are learned from.

A decision is capped when it is issued, before its outcome is known, so that the cap does not bias the estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from slotwise.service.storage.decision_types import HOUR, IssuedDecision, hour_of
from slotwise.service.storage.sql_base import Database, adding

_ADD = adding("visitor_hours", ("placement", "visitor", "start"), ("decisions",)) + (
    " RETURNING placement, visitor, start, decisions"
)
_DROP = (
    "DELETE FROM visitor_hours WHERE (placement, visitor, start) IN "
    "(SELECT placement, visitor, start FROM visitor_hours WHERE start < ? ORDER BY start LIMIT ?{skip_locked})"
)


def cap(database: Database, decisions: Sequence[IssuedDecision]) -> list[IssuedDecision]:
    """The decisions, those beyond the cap of their visitor marked."""
    added = Counter(_key(decision) for decision in decisions if decision.cap is not None)
    if not added:
        return [*decisions]
    rows = database.many(_ADD, [(*key, count) for key, count in sorted(added.items())])
    before = {(placement, visitor, start): total for placement, visitor, start, total in rows}
    for key, count in added.items():
        before[key] -= count
    marked = []
    for decision in decisions:
        if decision.cap is not None:
            key = _key(decision)
            before[key] += 1
            decision = replace(decision, capped=before[key] > decision.cap.at_most)
        marked.append(decision)
    return marked


def drop_hours(database: Database, now: float, at_most: int) -> None:
    """Delete the counts of past hours; those of the last one stay, as clocks of workers differ."""
    database.all(_DROP.format(skip_locked=database.skip_locked), (hour_of(now) - HOUR, at_most))


def _key(decision: IssuedDecision) -> tuple[str, str, int]:
    assert decision.cap is not None
    return decision.placement, decision.cap.visitor, hour_of(decision.issued)
