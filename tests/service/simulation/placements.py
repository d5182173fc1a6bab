"""The placements of the simulation, as the service and as the model know them, in a store made once."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.sqlite import SqliteStore
from tests.service.simulation.model import Placement
from tests.service.simulation.worker_process import START

__all__ = ["KNOWN", "SEGMENTS", "START", "template"]

#: in the order of the service's numbers
SEGMENTS = ("", '{"device":"mobile"}', '{"device":"desktop"}')
KNOWN = {
    "home": Placement(slots=2, items=("a", "b", "c"), window=0.5, sticky=None, cap=None),
    "shop": Placement(slots=2, items=("a", "b", "c", "d"), window=2.0, sticky=1.0, cap=2),
}


@cache
def template() -> Path:
    """A store with the placements and nothing else."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "template.db"
    store = SqliteStore(file)
    for name, placement in KNOWN.items():
        definition = PlacementDefinition(
            slots=placement.slots,
            items=[*placement.items],  # type: ignore[list-item]
            window_seconds=placement.window,
            holdout=0.2,
            segments={"device": ["mobile", "desktop"]},
            sticky_seconds=placement.sticky,
            per_visitor_hour=placement.cap,
        )
        store.put_placement(name, definition.text())
    store.all("UPDATE meta SET value = ? WHERE key = 'secret'", ("5" * 64,))
    store.close()
    return file
