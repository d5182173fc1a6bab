"""Idempotency keys: within a decision's window, the same key gives the same decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from slotwise.service.storage.decision_types import IssuedDecision
from slotwise.service.storage.sql_base import Database, read

#: a key is free again after its decision's deadline
_CLAIM = (
    "INSERT INTO keys (placement, key, decision, request, issued, deadline) VALUES ROWS "
    "ON CONFLICT (placement, key) DO UPDATE SET decision = excluded.decision, request = excluded.request, "
    "issued = excluded.issued, deadline = excluded.deadline WHERE keys.deadline <= excluded.issued "
    "RETURNING placement, key"
)
_FIND = (
    "SELECT keys.placement, keys.key, keys.request, decisions.id, decisions.items, decisions.arm, decisions.issued, "
    "decisions.deadline FROM keys JOIN decisions ON decisions.id = keys.decision "
    "WHERE (keys.placement, keys.key) IN (VALUES ROWS)"
)
_DROP = (
    "DELETE FROM keys WHERE (placement, key) IN "
    "(SELECT placement, key FROM keys WHERE deadline <= ? ORDER BY deadline LIMIT ?{skip_locked})"
)

#: a placement and a key
Key = tuple[str, str]


class UsedKey(NamedTuple):
    """The request and the decision of a used key."""

    request: str
    decision: IssuedDecision


def key_of(decision: IssuedDecision) -> Key:
    """The placement and idempotency key of a decision."""
    assert decision.once is not None
    return decision.placement, decision.once.key


def claim(database: Database, decisions: Sequence[IssuedDecision]) -> dict[Key, UsedKey]:
    """Claim the keys of decisions, each for the first decision with it; returns the keys that were used before.

    Waits for a concurrent transaction that claims one of them.
    """
    first: dict[Key, IssuedDecision] = {}
    for decision in decisions:
        first.setdefault(key_of(decision), decision)
    rows = [
        (*key, decision.id, decision.once.request, decision.issued, decision.deadline)
        for key, decision in sorted(first.items(), key=lambda pair: pair[0])
        if decision.once is not None
    ]
    taken = set(database.many(_CLAIM, rows))
    used = {}
    for placement, key, request, id, items, arm, issued, deadline in database.many(_FIND, sorted(first.keys() - taken)):
        decision = IssuedDecision(id, placement, tuple(read(items)), arm, issued, deadline, fate="repeated")
        used[placement, key] = UsedKey(request, decision)
    return used


def drop_keys(database: Database, now: float, at_most: int) -> None:
    """Delete keys whose decision's deadline has passed."""
    database.all(_DROP.format(skip_locked=database.skip_locked), (now, at_most))
