"""One decision from what is in memory: the learned list, or the holdout's."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from slotwise.service.decisions.keyed_hash import Digests
from slotwise.service.placements.placement_state import NO_CONDITIONS, Conditions, Placement
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage.decision_types import Arm, IssuedDecision, Once, Sticky, new_id


def decide(
    placement: Placement, wish: DecisionRequest, now: float, once: Once | None = None, sticky: Sticky | None = None
) -> IssuedDecision:
    """What to show, yet to be written down: the store knows what was shown before with the same key, or to whom."""
    definition = placement.definition
    # what is not among the items cannot be shown anyway
    exclude = [item for item in wish.exclude if item in placement.numbers]
    arm = _arm(definition)
    segment = placement.segments.text(wish.context)
    items: tuple[str, ...] = ()
    pin = definition.pinned(exclude, wish.pin)
    if arm == "learned" or exclude or wish.pin:
        # whatever the arm, as it refuses wishes that cannot be heeded
        items = placement.choose(exclude, pin, segment)
    if arm != "learned":
        items = definition.control_list(exclude, pin)
    window, waits = placement.window()
    conditions = _conditions(segment, exclude, pin)
    ledger = placement.ledger
    drawn = ledger.drawn.get(conditions)
    decision = IssuedDecision(
        new_id(now),
        placement.name,
        items,
        arm,
        now,
        now + window,
        once,
        sticky,
        segment=segment,
        waits_seconds=waits,
        propensities=None if drawn is None else drawn.propensities(items, arm),
    )
    if drawn is not None:
        ledger.known += 1
    else:
        ledger.note(decision, conditions)
    return decision


def _conditions(segment: str, exclude: Sequence[str], pin: Mapping[str, int]) -> Conditions:
    if not (segment or exclude or pin):
        return NO_CONDITIONS
    return Conditions(segment, tuple(sorted(exclude)), tuple(sorted(pin.items())))


def _arm(definition: PlacementDefinition) -> Arm:
    if definition.mode == "shadow":
        return "shadow"
    return "holdout" if definition.holdout and random.random() < definition.holdout else "learned"


def once_for(key: str | None, wish: DecisionRequest, digests: Digests) -> Once | None:
    """What makes a decision one with others of the same key."""
    return None if key is None else Once(key, digests.of("request", wish.model_dump()))


def sticky_for(placement: Placement, wish: DecisionRequest, now: float, digests: Digests) -> Sticky | None:
    """What shows a visitor the same list again, where the placement says so."""
    definition = placement.definition
    if wish.visitor is None or definition.sticky_seconds is None:
        return None
    segment = placement.segments.text(wish.context)
    return Sticky(
        digests.of("visitor", placement.name, wish.visitor),
        # a holdout that has ended, or another mode, is for everybody from now on
        digests.of("terms", definition.mode, definition.slots, definition.holdout > 0.0, segment),
        now + definition.sticky_seconds,
        placement.listed.difference(wish.exclude) if wish.exclude else placement.listed,
        definition.pinned(wish.exclude, wish.pin),
    )
