"""The file format of a placement export: definition, tally, counters and changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slotwise.core.errors import SlotwiseError, UnreadableFile
from slotwise.jit.background_compile import compiling
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.schemas.definition import MAX_SLOTS, PlacementDefinition
from slotwise.service.schemas.item_schema import Feature
from slotwise.service.schemas.name_rules import Name, PlacementName
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage.candidate_items import CandidateItem, CandidateTotals
from slotwise.service.storage.count_rows import (
    COUNTERS,
    TALLY_COUNTS,
    Counters,
    CountPeriod,
    PeriodCounters,
    PeriodRow,
    TallyRow,
)
from slotwise.service.storage.decision_types import Arm
from slotwise.service.storage.placement_transfer import PlacementExport
from slotwise.service.storage.placements_table import Change

FORMAT: Final = "slotwise placement 2"
#: the sum of millions of them fits into 64 bits
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Sum = Annotated[float, Field(ge=0, le=1e200, allow_inf_nan=False)]
_Slot = Annotated[int, Field(ge=1, le=MAX_SLOTS)]
#: as a store writes it
_Segment = Annotated[str, Field(max_length=1_000_000)]
_Hours = Literal[0, 1, 24]
_Version = Annotated[int, Field(ge=1, le=10**12)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["slotwise placement 2"]
    name: PlacementName
    definition: PlacementDefinition
    #: segment, slot from 1, item, clicks, passes, shows, clicks with a value, its sum and its squares
    tally: list[tuple[_Segment, _Slot, Name, _Count, _Count, _Count, _Count, _Sum, _Sum]]
    #: segment, arm, by name
    counters: list[tuple[_Segment, Arm, dict[str, _Count | _Sum]]]
    #: start, hours, segment, arm, slot from 1, item, clicks, passes, shows
    periods: list[tuple[_Count, _Hours, _Segment, Arm | Literal[""], _Slot, Name, _Count, _Count, _Count]]
    #: start, hours, segment, arm, by name
    period_counters: list[tuple[_Count, _Hours, _Segment, Arm, dict[str, _Count | _Sum]]]
    #: version, time, what changed
    changes: list[tuple[_Version, _Sum, dict[str, Any]]]
    #: item, features, how often it was seen
    candidate_items: list[tuple[Name, dict[Name, Feature], _Count]] = []
    #: how many were dropped, and the largest number that one of them was seen
    dropped_candidates: tuple[_Count, _Count] = (0, 0)

    def portable(self) -> PlacementExport:
        """The content for a store."""
        return PlacementExport(
            self.name,
            self.definition.text(),
            [TallyRow(row[1] - 1, *row[2:], segment=row[0]) for row in self.tally],
            {(segment, arm): _counters(counted) for segment, arm, counted in self.counters},
            [
                PeriodRow(CountPeriod(start, hours), segment, arm, slot - 1, item, *counts)
                for start, hours, segment, arm, slot, item, *counts in self.periods
            ],
            [
                PeriodCounters(CountPeriod(start, hours), segment, arm, _counters(counted))
                for start, hours, segment, arm, counted in self.period_counters
            ],
            [
                Change(when, json.dumps(what, ensure_ascii=False), version)
                for version, when, what in {change[0]: change for change in self.changes}.values()
            ],
            [CandidateItem(*row) for row in {row[0]: row for row in self.candidate_items}.values()],
            CandidateTotals(len({row[0] for row in self.candidate_items}), *self.dropped_candidates),
        )


def to_text(placement: PlacementExport) -> str:
    """A placement export as JSON. Pending decisions are left out, and are not counted as issued."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "name": placement.name,
        "definition": json.loads(placement.definition),
        "tally": [
            [row.segment, row.slot + 1, row.item, *(getattr(row, name) for name in TALLY_COUNTS)]
            for row in placement.tally
        ],
        "counters": [[segment, arm, _counted(counters)] for (segment, arm), counters in placement.counters.items()],
        "periods": [
            [*astuple(row.period), row.segment, row.arm, row.slot + 1, row.item, *row.counts()]
            for row in placement.periods
        ],
        "period_counters": [
            [*astuple(row.period), row.segment, row.arm, _counted(row.counters)] for row in placement.period_counters
        ],
        "candidate_items": [[item, features, seen] for item, features, seen, _ in placement.candidate_items],
        "dropped_candidates": placement.candidate_totals[1:],
        "changes": [[change.version, change.time, json.loads(change.what)] for change in placement.changes],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _counters(counted: Mapping[str, Any]) -> Counters:
    return Counters(**counted)


def _counted(counters: Counters) -> dict[str, float]:
    return {**dict(zip(COUNTERS, counters.all(), strict=True)), "issued": counters.final}


def from_file(path: Path) -> PlacementExport:
    """Read a placement export; errors name the file and the field."""
    try:
        placement = _File.model_validate_json(path.read_bytes()).portable()
    except OSError as problem:
        raise UnreadableFile(f"{path}: {problem.strerror}") from None
    except ValidationError as problem:
        fault = faults(problem, whole="the file")[0]
        value = f", got {fault['value']}" if "value" in fault else ""
        raise UnreadableFile(
            f"{path} is not an exported placement: {fault['field']}: {fault['detail']}{value}"
        ) from None
    except TypeError:
        raise UnreadableFile(f"{path} is not an exported placement: counters has unknown names") from None
    if len({(row.segment, row.slot, row.item) for row in placement.tally}) < len(placement.tally):
        raise UnreadableFile(f"{path} is not an exported placement: tally has a slot and an item twice")
    if len({(row.period, row.segment, row.arm, row.slot, row.item) for row in placement.periods}) < len(
        placement.periods
    ):
        raise UnreadableFile(f"{path} is not an exported placement: periods has a slot and an item twice")
    try:
        with compiling("never"):
            try_out(PlacementDefinition.model_validate_json(placement.definition), placement.tally)
    except SlotwiseError as problem:
        raise UnreadableFile(f"{path} cannot be served: {problem}") from None
    return placement
