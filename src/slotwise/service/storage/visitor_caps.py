"""The hourly caps: of the decisions of one visitor, or network, in an hour, only so many are learned from.

A decision is capped when it is issued, before its outcome is known, so that the cap does not bias the estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from slotwise.service.storage.decision_types import HOUR, HourlyCap, IssuedDecision, hour_of
from slotwise.service.storage.sql_base import Database, adding

_ADD = adding("visitor_hours", ("placement", "visitor", "start"), ("decisions",)) + (
    " RETURNING placement, visitor, start, decisions"
)
_DROP = (
    "DELETE FROM visitor_hours WHERE (placement, visitor, start) IN "
    "(SELECT placement, visitor, start FROM visitor_hours WHERE start < ? ORDER BY start LIMIT ?{skip_locked})"
)


def cap(database: Database, decisions: Sequence[IssuedDecision]) -> list[IssuedDecision]:
    """The decisions, those beyond one of their caps marked."""
    added = Counter(_key(decision, limit) for decision in decisions for limit in decision.caps)
    if not added:
        return [*decisions]
    rows = database.many(_ADD, [(*key, count) for key, count in sorted(added.items())])
    before = {(placement, visitor, start): total for placement, visitor, start, total in rows}
    for key, count in added.items():
        before[key] -= count
    marked = []
    for decision in decisions:
        capped = False
        for limit in decision.caps:
            key = _key(decision, limit)
            before[key] += 1
            capped |= before[key] > limit.at_most
        marked.append(replace(decision, capped=True) if capped else decision)
    return marked


def drop_hours(database: Database, now: float, at_most: int) -> None:
    """Delete the counts of past hours; those of the last one stay, as clocks of workers differ."""
    database.all(_DROP.format(skip_locked=database.skip_locked), (hour_of(now) - HOUR, at_most))


def _key(decision: IssuedDecision, limit: HourlyCap) -> tuple[str, str, int]:
    return decision.placement, limit.visitor, hour_of(decision.issued)
