"""A placement as a file, to be carried from store to store: its definition, its tally and its counters, by period."""

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
from slotwise.service.schemas.name_rules import Name, PlacementName
from slotwise.service.schemas.validation_errors import faults
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
#: millions of them fit into 64 bits together
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

    def portable(self) -> PlacementExport:
        """As it was."""
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
        )


def to_text(placement: PlacementExport) -> str:
    """One JSON object. Decisions that are pending stay where they are, and are not counted as issued."""
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
            [*astuple(one.period), one.segment, one.arm, _counted(one.counters)] for one in placement.period_counters
        ],
        "changes": [[change.version, change.time, json.loads(change.what)] for change in placement.changes],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _counters(counted: Mapping[str, Any]) -> Counters:
    return Counters(**counted)


def _counted(counters: Counters) -> dict[str, float]:
    return {**dict(zip(COUNTERS, counters.all(), strict=True)), "issued": counters.final}


def from_file(path: Path) -> PlacementExport:
    """What `to_text` wrote; anything else is refused by name."""
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
        raise UnreadableFile(f"{path} is not an exported placement: counters has names that are not known") from None
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
