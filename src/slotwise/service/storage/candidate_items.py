"""Candidate items: items that only candidates of decisions name, learned from their first counted outcome.

A placement keeps a limited number of them. Once there are more, those seen least are dropped, and a new one starts with
the number of the last dropped one: else none of the new ones could stay. This is the Space-Saving algorithm (Metwally,
Agrawal and El Abbadi, Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic_core import from_json, to_json

from slotwise.service.storage.decision_types import CandidateTerms, Features, IssuedDecision
from slotwise.service.storage.sql_base import Database, chunks, marks


class CandidateItem(NamedTuple):
    """A candidate item that a placement has learned."""

    item: str
    features: Features
    #: how often it was seen, and at most as often as any dropped item more
    seen: int
    #: the revision of the tally with which it was learned
    since: int = 0


class CandidateTotals(NamedTuple):
    """Candidate items that are learned and that were dropped, and the largest number a dropped one was seen."""

    learned: int = 0
    dropped: int = 0
    dropped_seen: int = 0


NO_CANDIDATES: Final = CandidateTotals()


class SeenCandidates:
    """The candidate items of the decisions that are counted in one transaction."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self.features: dict[str, Features] = {}
        self.at_most = 0

    def add(self, terms: CandidateTerms) -> None:
        """Add those of one decision."""
        self.at_most = terms.at_most
        for item, features in terms.features.items():
            self.seen[item] = self.seen.get(item, 0) + 1
            self.features[item] = features


def candidates_text(decision: IssuedDecision) -> str | None:
    """The candidate items in the list of a decision as the text of a column; None if there are none."""
    terms = decision.candidates
    shown = {} if terms is None else {item: terms.features[item] for item in decision.items if item in terms.features}
    return to_json([terms.at_most, shown]).decode() if terms is not None and shown else None


def candidates_of(text: str) -> CandidateTerms:
    """The candidate items in the list of a decision."""
    at_most, shown = from_json(text)
    return CandidateTerms(shown, at_most)


class CandidateTables(Database):
    """The part of a store that holds candidate items."""

    def candidate_items(self, name: str, since: int = 0) -> list[CandidateItem]:
        """The candidate items of a placement that were learned, or got other features, after revision `since`."""
        with self.reading():
            rows = self.all(
                "SELECT item, features, seen, since FROM candidate_items WHERE placement = ? AND revision > ? "
                "ORDER BY item",
                (name, since),
            )
        return [CandidateItem(item, from_json(features), seen, first) for item, features, seen, first in rows]

    def candidate_totals(self, name: str) -> CandidateTotals:
        """The numbers of candidate items of a placement."""
        with self.reading():
            rows = self.all("SELECT learned, dropped, dropped_seen FROM candidate_totals WHERE placement = ?", (name,))
        return CandidateTotals(*rows[0]) if rows else NO_CANDIDATES

    def add_candidates(self, name: str, items: Sequence[CandidateItem], totals: CandidateTotals, revision: int) -> None:
        """Insert candidate items and set their numbers, within a transaction."""
        self.many(
            "INSERT INTO candidate_items (placement, item, features, seen, since, revision) VALUES ROWS",
            [(name, new.item, _text(new.features), new.seen, revision, revision) for new in items],
        )
        self.all(
            "INSERT INTO candidate_totals (placement, learned, dropped, dropped_seen) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (placement) DO UPDATE SET learned = excluded.learned, dropped = excluded.dropped, "
            "dropped_seen = excluded.dropped_seen",
            (name, *totals),
        )

    def count_candidates(self, name: str, counted: SeenCandidates, revision: int) -> None:
        """Learn the candidate items of counted decisions, within their transaction, which has locked the placement."""
        known = self._known(name, sorted(counted.seen))
        by_seen = sorted(counted.seen.keys() - known.keys(), key=lambda item: (-counted.seen[item], item))
        new, too_many = by_seen[: counted.at_most], by_seen[counted.at_most :]
        totals = self.candidate_totals(name)
        dropped = self._least_seen(name, totals.learned + len(new) - counted.at_most, known)
        least = max([totals.dropped_seen, *dropped.values()])
        self._drop(name, [*dropped, *too_many])
        for item in sorted(known):
            text = _text(counted.features[item])
            self.all(
                "UPDATE candidate_items SET seen = seen + ?, features = ?, "
                "revision = CASE WHEN features = ? THEN revision ELSE ? END WHERE placement = ? AND item = ?",
                (counted.seen[item], text, text, revision, name, item),
            )
        self.add_candidates(
            name,
            [CandidateItem(item, counted.features[item], least + counted.seen[item]) for item in sorted(new)],
            CandidateTotals(
                totals.learned + len(new) - len(dropped), totals.dropped + len(dropped) + len(too_many), least
            ),
            revision,
        )

    def _known(self, name: str, items: Sequence[str]) -> dict[str, int]:
        return {
            item: seen
            for chunk in chunks(items)
            for item, seen in self.all(
                f"SELECT item, seen FROM candidate_items WHERE placement = ? AND item IN ({marks(chunk)})",
                (name, *chunk),
            )
        }

    def _least_seen(self, name: str, count: int, apart: Mapping[str, int]) -> dict[str, int]:
        """The `count` items seen least, without some."""
        if count <= 0:
            return {}
        rows = self.all(
            "SELECT item, seen FROM candidate_items WHERE placement = ? ORDER BY seen, item LIMIT ?",
            (name, count + len(apart)),
        )
        return dict([row for row in rows if row[0] not in apart][:count])

    def _drop(self, name: str, items: Sequence[str]) -> None:
        """Delete items with their counts; the history still has what was shown when."""
        for chunk in chunks(items):
            for table in ("candidate_items", "tally"):
                self.all(f"DELETE FROM {table} WHERE placement = ? AND item IN ({marks(chunk)})", (name, *chunk))


def _text(features: Mapping[str, Any]) -> str:
    return to_json(dict(sorted(features.items()))).decode()
