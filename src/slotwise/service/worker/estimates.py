"""What is known of a placement, as one document."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from slotwise.belief import posterior
from slotwise.ranker.estimates import Estimates
from slotwise.ranker.kernels import kernels_for
from slotwise.ranker.learner import policy_for
from slotwise.service.store import Store
from slotwise.service.store.contract import Arm, Counters, TallyRow, Version
from slotwise.service.worker.definition import Definition
from slotwise.service.worker.documents import (
    DecisionCounts,
    EstimatesDocument,
    ItemEstimate,
    SlotEstimate,
    TallyDocument,
)
from slotwise.service.worker.learning import matrices, numbered, retired_items
from slotwise.service.worker.placements import Placements
from slotwise.service.worker.uplift import uplift
from slotwise.tally import Tally

LEVEL: Final = 0.95
#: documents that are kept, and the largest of them
MOST_REMEMBERED, MOST_REMEMBERED_ITEMS = 64, 2_000


class FromTally(NamedTuple):
    """The part of the document that follows from definition and tally."""

    items: list[ItemEstimate]
    position_bias: list[SlotEstimate]
    tally: TallyDocument


@dataclass(frozen=True)
class _Known:
    version: Version
    from_tally: FromTally


class EstimateDesk:
    """Works out documents one after the other, in a thread, and again only when something changed."""

    def __init__(self, placements: Placements) -> None:
        self._placements = placements
        self._known: dict[str, _Known] = {}
        self._turn = asyncio.Lock()

    async def document(self, name: str) -> EstimatesDocument:
        """From the store as it is now."""
        known = self._known.get(name)

        def read(store: Store) -> tuple[Version, Mapping[Arm, Counters], tuple[str, list[TallyRow]] | None]:
            # of one moment: a document in which nothing is pending has everything in its tally
            with store.snapshot():
                version = store.version(name)
                assert version is not None
                counted = store.counters().get(name, {})
                if known is not None and known.version == version:
                    return version, counted, None
                return version, counted, (store.definition(name), store.tally(name))

        async with self._turn:
            version, arms, changed = await self._placements.read(read)
            if changed is None:
                assert known is not None
                found = known.from_tally
            else:
                definition = Definition.model_validate_json(changed[0])
                found = await asyncio.to_thread(estimated, definition, changed[1])
                self._remember(name, _Known(version, found))
        total = sum(arms.values(), Counters())
        return {
            "items": found.items,
            "position_bias": found.position_bias,
            "tally": found.tally,
            "decisions": _counts(total),
            "uplift": uplift(arms),
        }

    def _remember(self, name: str, known: _Known) -> None:
        self._known.pop(name, None)
        if len(known.from_tally.items) <= MOST_REMEMBERED_ITEMS:
            self._known[name] = known
            if len(self._known) > MOST_REMEMBERED:
                del self._known[next(iter(self._known))]


def estimated(definition: Definition, rows: Sequence[TallyRow]) -> FromTally:
    """Items, slots and tally. Retired items are in the tally, which loses nothing, and not among the items."""
    listed, retired = [item.id for item in definition.items], retired_items(definition, rows)
    numbers = numbered([*listed, *retired])
    values = [1.0 if item.value is None else item.value for item in definition.items] + [1.0] * len(retired)
    shown = np.zeros(len(numbers), np.int64)
    for row in rows:
        # of the slots that there are, as the clicks beside it
        if row.item in numbers and row.slot < definition.slots:
            shown[numbers[row.item]] += row.shows
    bias = definition.bias()
    policy = policy_for(definition.policy, bias)
    kernels = kernels_for(policy, definition.slots, len(numbers), bias_is_known=bias is not None)
    with kernels.for_estimates(len(numbers)):
        believed = posterior(
            Tally(*matrices(rows, numbers, definition.slots)),
            bias,
            values=np.array(values),
            excluded=np.arange(len(listed), len(numbers)),
        )
        found = Estimates.of(believed, tuple(numbers), shown, LEVEL).as_dict()
    return FromTally(found["items"][: len(listed)], found["position_bias"], _whole_tally(definition, rows))


def _whole_tally(definition: Definition, rows: Sequence[TallyRow]) -> TallyDocument:
    names = dict.fromkeys(item.id for item in definition.items)
    names.update(dict.fromkeys(sorted({row.item for row in rows})))
    slots = max([definition.slots, *(row.slot + 1 for row in rows)])
    clicks, passes = matrices(rows, numbered(names), slots)
    return {"items": list(names), "clicks": clicks.tolist(), "passes": passes.tolist()}


def _counts(total: Counters) -> DecisionCounts:
    return {
        "issued": total.issued,
        "final": total.final,
        "pending": total.pending,
        "clicked": total.clicked,
        "no_click": total.no_click,
        "not_shown": total.not_shown,
        "late": total.late,
    }
