"""Placements and their definitions in SQL: put, changed, listed, deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from slotwise.service.storage.sql_base import Database, chunks, marks

#: what became of a definition that was put: `stale` where the placement is not at the version that was expected
PutVerdict = Literal["created", "changed", "same", "stale"]
DropVerdict = Literal["dropped", "stale", "unknown"]


@dataclass(frozen=True, slots=True)
class Version:
    """Which state of a placement the store holds: its definition changes with `version`, its tally with `revision`."""

    placement: str
    version: int
    revision: int


class Put(NamedTuple):
    """What became of a definition, and the version that the placement is at now: 0 where there is none."""

    verdict: PutVerdict
    version: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a placement's definition; the store says which version it made."""

    time: float
    #: in the caller's words
    what: str
    version: int = 0


#: all but `placements` itself and the decisions
_OF_A_PLACEMENT = (
    "keys",
    "visitors",
    "tally",
    "period_tally",
    "counters",
    "period_counters",
    "delays",
    "period_ends",
    "definitions",
    "changes",
)


class PlacementTables(Database):
    """What a placement is, and how it came to be that."""

    def put_placement(self, name: str, definition: str, change: Change | None = None, *, at: int | None = None) -> Put:
        """Create or change a placement, and add the change to its list of changes.

        With `at`, only if the placement is at that version; 0 means that there is none.
        """
        with self.transaction():
            known = self.all(f"SELECT version FROM placements WHERE name = ?{self.for_update}", (name,))
            version = known[0][0] if known else 0
            if at not in (None, version):
                return Put("stale", version)
            if not known:
                # two workers may be here at once; the second one changes what the first created
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
        return Put("changed" if known else "created", version)

    def create(self, name: str) -> bool:
        """Make room for a placement, where there is none: its versions go on where those of one deleted ended."""
        return bool(
            self.all(
                "INSERT INTO placements (name, version, revision) "
                "VALUES (?, COALESCE((SELECT version FROM gone WHERE name = ?), 0), 0) "
                "ON CONFLICT (name) DO NOTHING RETURNING name",
                (name, name),
            )
        )

    def list_changes(self, name: str, changes: list[Change]) -> None:
        """Write changes down, within a transaction."""
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
            found = self.all(
                "SELECT id, placement, final FROM decisions WHERE id > ? ORDER BY id LIMIT ?", (after, at_most)
            )
            for ids in chunks([id for id, placement, final in found if placement == name and final]):
                self.all(f"DELETE FROM decisions WHERE id IN ({marks(ids)})", ids)
        return str(found[-1][0]) if found else None

    def drop_placement(self, name: str, *, at: int | None = None) -> DropVerdict:
        """Delete everything of a placement, in one transaction; with `at`, only if it is at that version."""
        with self.transaction():
            # in the order in which everybody takes locks
            self.all(f"SELECT id FROM decisions WHERE placement = ? ORDER BY id{self.for_update}", (name,))
            # whoever is issuing decisions of it now is waited for, and whoever comes later finds it gone
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
