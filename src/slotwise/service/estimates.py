"""What is known of a placement, as one document."""

from __future__ import annotations

import asyncio
import math
from typing import Any, Final

from slotwise.service.definition import Definition
from slotwise.service.learning import Learning
from slotwise.service.placements import Placements
from slotwise.service.store import Store
from slotwise.service.store.contract import Arm, Counters, TallyRow

#: of a 95 % interval, in standard errors
WIDTH: Final = 1.96


async def estimates_of(placements: Placements, name: str) -> dict[str, Any]:
    """From the store as it is now, worked out in a thread of its own."""

    def read(store: Store) -> tuple[Definition, list[TallyRow], dict[Arm, Counters]]:
        return (
            Definition.model_validate_json(store.definition(name)),
            store.tally(name),
            store.counters().get(name, {}),
        )

    definition, rows, arms = await placements.read(read)
    return await asyncio.to_thread(document, definition, rows, arms)


def document(definition: Definition, rows: list[TallyRow], arms: dict[Arm, Counters]) -> dict[str, Any]:
    """The document of the contract. Retired items are in the tally, which loses nothing, and not among the items."""
    learning = Learning(definition)
    shown: dict[str, int] = {}
    clicks: dict[str, int] = {}
    for row in rows:
        shown[row.item] = shown.get(row.item, 0) + row.shows
        clicks[row.item] = clicks.get(row.item, 0) + row.clicks
    items, bias = learning.estimates(rows)
    total = sum(arms.values(), Counters())
    counted = ("issued", "final", "pending", "clicked", "no_click", "not_shown", "late")
    return {
        "items": [{**item, "shown": shown.get(item["id"], 0), "clicks": clicks.get(item["id"], 0)} for item in items],
        "position_bias": bias,
        "tally": _tally(definition, rows),
        "decisions": {name: getattr(total, name) for name in counted},
        "uplift": uplift(arms),
    }


def _tally(definition: Definition, rows: list[TallyRow]) -> dict[str, Any]:
    names = dict.fromkeys(item.id for item in definition.items)
    names.update(dict.fromkeys(sorted(row.item for row in rows)))
    index = {name: position for position, name in enumerate(names)}
    slots = max([definition.slots, *(row.slot + 1 for row in rows)])
    clicks, passes = ([[0] * len(names) for _ in range(slots)] for _ in range(2))
    for row in rows:
        clicks[row.slot][index[row.item]] = row.clicks
        passes[row.slot][index[row.item]] = row.passes
    return {"items": list(names), "clicks": clicks, "passes": passes}


def uplift(arms: dict[Arm, Counters]) -> dict[str, Any] | None:
    """The click rate of the learned arm against the holdout's, with a 95 % interval for the difference.

    >>> found = uplift({"learned": Counters(clicked=60, no_click=140), "holdout": Counters(clicked=20, no_click=80)})
    >>> found["learned"]["click_rate"], round(found["difference"], 3), round(found["low"], 3), round(found["high"], 3)
    (0.3, 0.1, -0.001, 0.201)
    """
    found: dict[str, Any] = {}
    variance = 0.0
    for arm in ("learned", "holdout"):
        counters = arms.get(arm, Counters())
        shown = counters.clicked + counters.no_click
        if not shown:
            return None
        rate = counters.clicked / shown
        # a half-count more of each, so that an arm that saw only one outcome is not taken to be certain
        careful = (counters.clicked + 0.5) / (shown + 1)
        variance += careful * (1 - careful) / (shown + 1)
        found[arm] = {"shown": shown, "clicks": counters.clicked, "click_rate": rate}
    difference = found["learned"]["click_rate"] - found["holdout"]["click_rate"]
    margin = WIDTH * math.sqrt(variance)
    return {**found, "difference": difference, "low": difference - margin, "high": difference + margin}
