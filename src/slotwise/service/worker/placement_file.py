"""A placement as a file, to be carried from store to store: its definition, its tally and its counters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slotwise.errors import UnreadableFile
from slotwise.service.store.contract import COUNTERS, Arm, Counters, Portable, TallyRow
from slotwise.service.worker.definition import MOST_SLOTS, Definition, Name, PlacementName, faults

FORMAT: Final = "slotwise placement 1"
#: fits into the 64-bit columns of every store, with room to add
_Count = Annotated[int, Field(ge=0, le=2**53)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["slotwise placement 1"]
    name: PlacementName
    definition: Definition
    #: slot from 1, item, clicks, passes, shows
    tally: list[tuple[Annotated[int, Field(ge=1, le=MOST_SLOTS)], Name, _Count, _Count, _Count]]
    counters: dict[Arm, dict[str, _Count]]


def to_text(placement: Portable) -> str:
    """One JSON object. Decisions that are pending stay where they are, and are not counted as issued."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "name": placement.name,
        "definition": json.loads(placement.definition),
        "tally": [[row.slot + 1, row.item, row.clicks, row.passes, row.shows] for row in placement.tally],
        "counters": {
            arm: {name: getattr(counters, name) for name in COUNTERS} | {"issued": counters.final}
            for arm, counters in placement.counters.items()
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def from_file(path: Path) -> Portable:
    """What `to_text` wrote; anything else is refused by name."""
    try:
        content = _File.model_validate_json(path.read_bytes())
        counters = {arm: Counters(**counted) for arm, counted in content.counters.items()}
    except OSError as problem:
        raise UnreadableFile(f"{path}: {problem.strerror}") from None
    except ValidationError as problem:
        fault = faults(problem, whole="the file")[0]
        raise UnreadableFile(f"{path} is not an exported placement: {fault['field']}: {fault['detail']}") from None
    except TypeError:
        raise UnreadableFile(f"{path} is not an exported placement: counters has names that are not known") from None
    rows = [TallyRow(slot - 1, item, *counts) for slot, item, *counts in content.tally]
    if len({(row.slot, row.item) for row in rows}) < len(rows):
        raise UnreadableFile(f"{path} is not an exported placement: tally has a slot and an item twice")
    return Portable(content.name, content.definition.text(), rows, counters)
