"""Sticky lists: a returning visitor sees the same list for the placement's `sticky_seconds`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from slotwise.service.storage.decision_types import IssuedDecision
from slotwise.service.storage.sql_base import Database, read, written

_INSERT = (
    "INSERT INTO visitors (placement, visitor, terms, items, arm, until, decision) VALUES ROWS "
    "ON CONFLICT (placement, visitor) "
)
#: an existing list stays, and is locked and returned
_PROPOSE = _INSERT + (
    "DO UPDATE SET until = visitors.until RETURNING placement, visitor, terms, items, arm, until, decision"
)
_REPLACE = _INSERT + (
    "DO UPDATE SET terms = excluded.terms, items = excluded.items, arm = excluded.arm, until = excluded.until, "
    "decision = excluded.decision"
)
_DROP = (
    "DELETE FROM visitors WHERE (placement, visitor) IN "
    "(SELECT placement, visitor FROM visitors WHERE until <= ? ORDER BY until LIMIT ?{skip_locked})"
)

#: placement, visitor, terms, items, arm, until, and the decision that the list was drawn for
_Row = tuple[Any, ...]


def stick(database: Database, decisions: Sequence[IssuedDecision]) -> list[IssuedDecision]:
    """The decisions with the lists of returning visitors; new lists are stored."""
    proposed: dict[tuple[str, str], _Row] = {}
    for decision in decisions:
        row = _row(decision)
        proposed.setdefault(row[:2], row)
    stored = {row[:2]: row for row in database.many(_PROPOSE, [proposed[key] for key in sorted(proposed)])}
    shown, replaced = [], {}
    for decision in decisions:
        row = _row(decision)
        if _holds(stored[row[:2]], decision):
            decision = _as_kept(decision, stored[row[:2]])
        else:
            stored[row[:2]] = replaced[row[:2]] = row
        shown.append(decision)
    database.many(_REPLACE, [replaced[key] for key in sorted(replaced)])
    return shown


def drop_lists(database: Database, now: float, at_most: int) -> None:
    """Delete expired lists."""
    database.all(_DROP.format(skip_locked=database.skip_locked), (now, at_most))


def _row(decision: IssuedDecision) -> _Row:
    sticky = decision.sticky
    assert sticky is not None
    items = written(decision.items)
    return decision.placement, sticky.visitor, sticky.terms, items, decision.arm, sticky.until, decision.id


def _holds(row: _Row, decision: IssuedDecision) -> bool:
    """Whether the list of a row can be shown to its visitor again."""
    sticky = decision.sticky
    assert sticky is not None
    _, _, terms, items, _, until, _ = row
    return terms == sticky.terms and decision.issued < until and sticky.allows(read(items), len(decision.items))


def _as_kept(decision: IssuedDecision, row: _Row) -> IssuedDecision:
    _, _, _, items, arm, _, drawn_for = row
    if drawn_for == decision.id:
        return decision
    return replace(decision, items=tuple(read(items)), arm=arm, list_of=drawn_for, propensities=None)
