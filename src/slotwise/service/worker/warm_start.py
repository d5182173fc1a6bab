"""A placement that begins with what a click log has counted, instead of with nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from pydantic import ValidationError

from slotwise.errors import InvalidInput, SlotwiseError
from slotwise.ranker.kernels import compiling
from slotwise.service.store.contract import Portable
from slotwise.service.store.rows import Period, PeriodRow, TallyRow, hour_of
from slotwise.service.worker.definition import Definition
from slotwise.service.worker.faults import faults
from slotwise.service.worker.learning import try_out
from slotwise.service.worker.names import checked_name
from slotwise.tally import Tally
from slotwise.typing import IntArray


def from_counts(name: str, tally: Tally, showings: IntArray, item_ids: Sequence[str], first: Sequence[str]) -> Portable:
    """For a store: all items of a tally, those in `first` before the others, and all that was counted of them.

    The counts are of the time before now, and of no arm: what the service's own decisions come to is told apart from
    them.
    """
    ids = list(dict.fromkeys([*first, *item_ids]))
    try:
        definition = Definition.model_validate({"slots": tally.slots, "items": ids})
    except ValidationError as problem:
        fault = faults(problem, whole="the placement")[0]
        raise InvalidInput(f"{name} cannot be served: {fault['field']}: {fault['detail']}") from None
    rows = [
        TallyRow(
            int(slot),
            item_ids[item],
            int(tally.clicks[slot, item]),
            int(tally.passes[slot, item]),
            int(showings[slot, item]),
        )
        for slot, item in np.argwhere(showings)
    ]
    try:
        with compiling("never"):
            try_out(definition, rows)
    except SlotwiseError as problem:
        raise InvalidInput(f"{name} cannot be served: {problem}") from None
    before = Period(hour_of(time.time()), 0)
    periods = [PeriodRow(before, "", "", row.slot, row.item, row.clicks, row.passes, row.shows) for row in rows]
    return Portable(checked_name(name), definition.text(), rows, {}, periods)
