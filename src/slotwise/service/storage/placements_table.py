"""Placements, definitions and changes in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from slotwise.service.storage.sql_base import Database, chunks, marks

#: the result of putting a definition: `stale` if the placement is not at the expected version
PutVerdict = Literal["created", "changed", "same", "stale"]
DropVerdict = Literal["dropped", "stale", "unknown"]


@dataclass(frozen=True, slots=True)
class Version:
    """The stored state of a placement: `version` changes with the definition, `revision` with the tally."""

    placement: str
    version: int
    revision: int


class Put(NamedTuple):
    """The result of putting a definition, and the placement's version; 0 if there is none."""

    verdict: PutVerdict
    version: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a placement's definition; the store sets the version."""

    time: float
    #: the difference, as JSON
    what: str
    version: int = 0


#: tables with rows of a placement, apart from `placements` and `decisions`
_OF_A_PLACEMENT = (
    "keys",
    "visitors",
    "visitor_hours",
    "tally",
    "candidate_items",
    "candidate_totals",
    "period_tally",
    "counters",
    "period_counters",
    "event_counts",
    "alerts",
    "delays",
    "hourly_summaries",
    "definitions",
    "changes",
)


class PlacementTables(Database):
    """The part of a store that holds definitions and their changes."""

    def put_placement(self, name: str, definition: str, change: Change | None = None, *, at: int | None = None) -> Put:
        """Create or change a placement, and add the change to its list of changes.

        With `at`, only if the placement is at that version; 0 means that there is none.
        """
        with self.transaction():
            rows = self.all(f"SELECT version FROM placements WHERE name = ?{self.for_update}", (name,))
            version = rows[0][0] if rows else 0
            if at not in (None, version):
                return Put("stale", version)
            if not rows:
                # two workers may be here at once: the second one changes the placement of the first
                if not self.create(name) and at is not None:
                    return Put("stale", self.all("SELECT version FROM placements WHERE name = ?", (name,))[0][0])
            elif self.all("SELECT 1 FROM definitions WHERE placement = ? AND definition = ?", (name, definition)):
                return Put("same", version)
            ((version,),) = self.all(
                "UPDATE placements SET version = version + 1 WHERE name = ? RETURNING version", (name,)
            )
            self.all(
                "INSERT INTO definitions (placement, definition) VALUES (?, ?) "
                "ON CONFLICT (placement) DO UPDATE SET definition = excluded.definition",
                (name, definition),
            )
            if change is not None:
                self.list_changes(name, [Change(change.time, change.what, version)])
        return Put("changed" if rows else "created", version)

    def create(self, name: str) -> bool:
        """Create a placement unless it exists; versions continue from a deleted placement of the same name."""
        return bool(
            self.all(
                "INSERT INTO placements (name, version, revision) "
                "VALUES (?, COALESCE((SELECT version FROM gone WHERE name = ?), 0), 0) "
                "ON CONFLICT (name) DO NOTHING RETURNING name",
                (name, name),
            )
        )

    def list_changes(self, name: str, changes: list[Change]) -> None:
        """Insert changes, within a transaction."""
        rows = [(name, change.version, change.time, change.what) for change in changes]
        self.many("INSERT INTO changes (placement, version, time, what) VALUES ROWS", rows)

    def changes(self, name: str, at_most: int) -> list[Change]:
        """Changes of the definition, the newest first."""
        with self.reading():
            rows = self.all(
                "SELECT time, what, version FROM changes WHERE placement = ? ORDER BY version DESC LIMIT ?",
                (name, at_most),
            )
            return [Change(*row) for row in rows]

    def drop_final(self, name: str, after: str, at_most: int) -> str | None:
        """Of the next `at_most` decisions by id, delete those of a placement that are final; the last id of them.

        Callers delete in pieces ahead of `drop_placement`, whose transaction then is short. Tally and counters stay.
        """
        with self.transaction():
            rows = self.all(
                "SELECT id, placement, final FROM decisions WHERE id > ? ORDER BY id LIMIT ?", (after, at_most)
            )
            for ids in chunks([id for id, placement, final in rows if placement == name and final]):
                self.all(f"DELETE FROM decisions WHERE id IN ({marks(ids)})", ids)
        return str(rows[-1][0]) if rows else None

    def drop_placement(self, name: str, *, at: int | None = None) -> DropVerdict:
        """Delete everything of a placement, in one transaction; with `at`, only if it is at that version."""
        with self.transaction():
            # in the common order of locks
            self.all(f"SELECT id FROM decisions WHERE placement = ? ORDER BY id{self.for_update}", (name,))
            # waits for transactions that issue its decisions; later ones do not find it
            dropped = self.all(
                "DELETE FROM placements WHERE name = ? AND version = COALESCE(?, version) RETURNING version", (name, at)
            )
            if not dropped:
                return "stale" if self.version(name) else "unknown"
            self.all(
                "INSERT INTO gone (name, version) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET version = excluded.version",
                (name, dropped[0][0]),
            )
            for table in ("decisions", *_OF_A_PLACEMENT):
                self.all(f"DELETE FROM {table} WHERE placement = ?", (name,))
        return "dropped"

    def versions(self) -> list[Version]:
        """The version of every placement, in order of name."""
        with self.reading():
            return [Version(*row) for row in self.all("SELECT name, version, revision FROM placements ORDER BY name")]

    def version(self, name: str) -> Version | None:
        """The version of one placement, or None if there is none of that name."""
        with self.reading():
            rows = self.all("SELECT name, version, revision FROM placements WHERE name = ?", (name,))
            return Version(*rows[0]) if rows else None

    def definition(self, name: str) -> str:
        """The definition of a placement, as it was put."""
        with self.reading():
            return str(self.all("SELECT definition FROM definitions WHERE placement = ?", (name,))[0][0])
