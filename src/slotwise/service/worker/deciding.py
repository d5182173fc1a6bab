"""One decision from what is in memory: the learned list, or the holdout's."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from slotwise.service.store.contract import Arm, Decision, new_id
from slotwise.service.worker.definition import Wish
from slotwise.service.worker.ledger import NO_CONDITIONS, Conditions
from slotwise.service.worker.placements import Placement


def decide(placement: Placement, wish: Wish, now: float) -> Decision:
    """What to show, yet to be written down."""
    definition, learner = placement.definition, placement.learner
    # what is not among the items cannot be shown anyway
    exclude = [item for item in wish.exclude if item in placement.numbers]
    arm: Arm = "holdout" if definition.holdout and random.random() < definition.holdout else "learned"
    # also for the holdout, as it refuses wishes that cannot be heeded
    segment = placement.segments.text(wish.context)
    items = placement.choose(exclude, wish.pin, segment)
    if arm == "holdout":
        items = as_given([item.id for item in definition.items], definition.slots, exclude, wish.pin)
    holds = learner.in_epochs and arm == "learned" and not exclude and not wish.pin
    window, waits = placement.window()
    decision = Decision(
        new_id(now),
        placement.name,
        items,
        arm,
        now,
        now + window,
        holds,
        placement.version,
        segment=segment,
        waits_seconds=waits,
    )
    if not learner.in_epochs:
        placement.ledger.note(decision, _conditions(segment, exclude, wish.pin))
    return decision


def _conditions(segment: str, exclude: Sequence[str], pin: Mapping[str, int]) -> Conditions:
    if not (segment or exclude or pin):
        return NO_CONDITIONS
    return Conditions(segment, tuple(sorted(exclude)), tuple(sorted(pin.items())))


def as_given(items: Sequence[str], slots: int, exclude: Collection[str], pin: Mapping[str, int]) -> tuple[str, ...]:
    """The items in the order in which they were given, as far as allowed.

    >>> as_given(["a", "b", "c", "d"], 3, exclude=["a"], pin={"d": 1})
    ('d', 'b', 'c')
    """
    by_slot = {slot: item for item, slot in pin.items()}
    excluded = set(exclude)
    rest = (item for item in items if item not in excluded and item not in pin)
    shown = (by_slot.get(slot + 1) or next(rest, None) for slot in range(slots))
    return tuple(item for item in shown if item is not None)
