"""Export and import of placements between stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slotwise.core.errors import InvalidInput
from slotwise.service.storage.candidate_items import NO_CANDIDATES, CandidateItem, CandidateTables, CandidateTotals
from slotwise.service.storage.count_rows import TALLY_COUNTS, Counters, PeriodCounters, PeriodRow, TallyRow
from slotwise.service.storage.count_tables import ADD_COUNTERS, ADD_TALLY, PeriodTables, TotalTables
from slotwise.service.storage.decision_types import Arm
from slotwise.service.storage.placements_table import Change, PlacementTables

#: the newest changes of a placement, which are exported
MAX_CHANGES = 100_000


@dataclass(frozen=True)
class PlacementExport:
    """A placement without its pending decisions."""

    name: str
    definition: str
    tally: Sequence[TallyRow] = ()
    #: by segment and arm
    counters: Mapping[tuple[str, Arm], Counters] = field(default_factory=dict)
    periods: Sequence[PeriodRow] = ()
    period_counters: Sequence[PeriodCounters] = ()
    changes: Sequence[Change] = ()
    candidate_items: Sequence[CandidateItem] = ()
    candidate_totals: CandidateTotals = NO_CANDIDATES


class PlacementTransfer(PlacementTables, PeriodTables, TotalTables, CandidateTables):
    """The part of a store that exports and imports placements."""

    def carry_out(self, name: str) -> PlacementExport:
        """Export a placement."""
        with self.transaction():
            if self.version(name) is None:
                raise InvalidInput(f"there is no placement {name!r} in this store")
            return PlacementExport(
                name,
                self.definition(name),
                self.tally(name),
                self.counters_of(name),
                self.period_tally(name),
                self.period_counters(name),
                self.changes(name, MAX_CHANGES),
                self.candidate_items(name),
                self.candidate_totals(name),
            )

    def carry_in(self, placement: PlacementExport) -> None:
        """Import a placement; raises if there is one of that name."""
        with self.transaction():
            if self.version(placement.name) is not None:
                raise InvalidInput(f"there is a placement {placement.name!r} in this store already")
            self.create(placement.name)
            # above all of its versions in the other store
            versions = max([1, *(change.version for change in placement.changes)])
            self.all(
                "UPDATE placements SET version = version + ?, revision = 1 WHERE name = ?",
                (versions, placement.name),
            )
            self.list_changes(placement.name, list(placement.changes))
            self.all("INSERT INTO definitions VALUES (?, ?)", (placement.name, placement.definition))
            self.many(
                ADD_TALLY,
                [
                    (placement.name, row.segment, row.slot, row.item, *(getattr(row, name) for name in TALLY_COUNTS), 1)
                    for row in placement.tally
                ],
            )
            self.many(
                ADD_COUNTERS,
                [
                    (placement.name, segment, arm, *counted.all())
                    for (segment, arm), counted in placement.counters.items()
                ],
            )
            if placement.candidate_totals != NO_CANDIDATES:
                self.add_candidates(placement.name, placement.candidate_items, placement.candidate_totals, 1)
            self.add_periods(placement.name, placement.periods, placement.period_counters)
