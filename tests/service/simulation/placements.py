"""The placements of the simulation, as the service and as the model know them, in a store made once."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.placements_table import Change
from slotwise.service.storage.sqlite import SqliteStore
from tests.service.simulation.model_types import Placement
from tests.service.simulation.worker_process import START

#: in the order of the service's numbers
SEGMENTS: Final = ("", '{"device":"mobile"}', '{"device":"desktop"}')
KNOWN: Final = {
    "home": Placement(slots=2, items=("a", "b", "c"), window=0.5),
    "shop": Placement(
        slots=4,
        items=("a", "b", "c", "d", "e"),
        window=2.0,
        sticky=1.0,
        cap=2,
        reward={"click": 0.5, "cart": 2.0, "purchase": None},
        reward_days=1,
    ),
}
GUARDED: Final = "shop"
_GUARDRAIL: Final[dict[str, Any]] = {
    "guardrails": [{"metric": "carts", "event": "cart", "worse_by": 0.1, "then": "control"}],
    "alert_url": "https://alerts.example/",
}


@cache
def template(is_guarded: bool) -> Path:
    """A store with the placements and nothing else."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "template.db"
    store = SqliteStore(file)
    for name, placement in KNOWN.items():
        reward = placement.reward
        definition = PlacementDefinition.model_validate(
            {
                "slots": placement.slots,
                "items": [*placement.items],
                "window_seconds": placement.window,
                "holdout": 0.2,
                "segments": {"device": ["mobile", "desktop"]},
                "sticky_seconds": placement.sticky,
                "per_visitor_hour": placement.cap,
                "reward_days": placement.reward_days,
                "reward": reward and {event: "value" if worth is None else worth for event, worth in reward.items()},
                **(_GUARDRAIL if is_guarded and name == GUARDED else {}),
            }
        )
        store.put_placement(name, definition.text(), Change(START, "{}"))
    store.all("UPDATE meta SET value = ? WHERE key = 'secret'", ("5" * 64,))
    store.close()
    return file
