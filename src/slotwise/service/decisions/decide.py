"""Draws the arm and the list of one decision, not yet stored: learned, holdout or shadow."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from slotwise.service.decisions.keyed_hash import Digests
from slotwise.service.placements.candidate_lists import candidate_list
from slotwise.service.placements.placement_state import NO_CONDITIONS, Conditions, Placement
from slotwise.service.schemas.decision_request import DecisionRequest
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.network_rules import network_of
from slotwise.service.storage.decision_types import (
    DAY,
    Arm,
    CandidateTerms,
    Features,
    HourlyCap,
    IssuedDecision,
    Once,
    RewardTerms,
    Sticky,
    new_id,
)


def decide(
    placement: Placement,
    request: DecisionRequest,
    now: float,
    once: Once | None = None,
    sticky: Sticky | None = None,
    caps: tuple[HourlyCap, ...] = (),
) -> IssuedDecision:
    """A decision that is not written yet: the store may replace it by an earlier one of the same key or visitor."""
    definition = placement.definition
    # other items cannot be shown anyway
    exclude = [item for item in request.exclude if item in placement.numbers]
    candidates, others = candidate_list(placement, request.candidates, request.exclude)
    arm = _arm(definition)
    segment = placement.segments.text(request.context)
    items: tuple[str, ...] = ()
    pin = definition.pinned(exclude, request.pin, candidates)
    if arm == "learned" or exclude or request.pin or candidates is not None:
        # in every arm, because it rejects constraints that cannot be satisfied
        items = placement.choose(exclude, pin, candidates, others, segment)
    if arm != "learned":
        items = definition.control_list(exclude, pin, candidates, others)
    window, waits = placement.window()
    conditions = _conditions(segment, exclude, pin, candidates, others)
    pending = placement.pending_propensities
    redrawn = pending.redrawn.get(conditions)
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
        propensities=None if redrawn is None else redrawn.propensities(items, arm),
        caps=caps,
        reward=_reward(placement, now, now + window),
        candidates=CandidateTerms(others, definition.max_items) if others and definition.max_items else None,
    )
    if redrawn is not None:
        pending.known += 1
    else:
        pending.note(decision, conditions)
    return decision


def _reward(placement: Placement, now: float, deadline: float) -> RewardTerms | None:
    text = placement.reward_text
    return None if text is None else RewardTerms(text, max(deadline, now + placement.definition.reward_days * DAY))


def _conditions(
    segment: str,
    exclude: Sequence[str],
    pin: Mapping[str, int],
    candidates: Sequence[str] | None,
    others: Mapping[str, Features],
) -> Conditions:
    if not (segment or exclude or pin or candidates is not None):
        return NO_CONDITIONS
    only = None if candidates is None else tuple(sorted(candidates))
    of_others = tuple((item, tuple(sorted(features.items()))) for item, features in others.items())
    return Conditions(segment, tuple(sorted(exclude)), tuple(sorted(pin.items())), only, of_others)


def _arm(definition: PlacementDefinition) -> Arm:
    # neither shadow nor held compares arms
    if definition.mode != "live":
        return "shadow"
    return "holdout" if definition.holdout and random.random() < definition.holdout else "learned"


def once_for(key: str | None, request: DecisionRequest, digests: Digests) -> Once | None:
    """The idempotency key of a decision, with a hash of the request."""
    return None if key is None else Once(key, digests.of("request", request.model_dump(exclude_none=True)))


def sticky_for(placement: Placement, request: DecisionRequest, now: float, digests: Digests) -> Sticky | None:
    """The visitor who sees the same list again, if the placement is sticky."""
    definition = placement.definition
    if request.visitor is None or definition.sticky_seconds is None:
        return None
    segment, allowed = placement.segments.text(request.context), placement.listed
    candidates, others = candidate_list(placement, request.candidates, request.exclude)
    if candidates is not None:
        allowed = allowed.intersection(candidates).union(others)
    return Sticky(
        _visitor(placement, request.visitor, digests),
        # a holdout that has ended, another mode, or exploring on or off applies to everybody from now on
        digests.of("terms", definition.mode, definition.exploring, definition.slots, definition.holdout > 0.0, segment),
        now + definition.sticky_seconds,
        allowed.difference(request.exclude) if request.exclude else allowed,
        definition.pinned(request.exclude, request.pin, candidates),
    )


def caps_for(placement: Placement, request: DecisionRequest, digests: Digests) -> tuple[HourlyCap, ...]:
    """The caps of the visitor and of the network, as far as the placement has them and the request names them."""
    definition, caps = placement.definition, []
    if request.visitor is not None and definition.per_visitor_hour is not None:
        caps.append(HourlyCap(_visitor(placement, request.visitor, digests), definition.per_visitor_hour))
    if request.address is not None and definition.per_network_hour is not None:
        network = digests.of("network", placement.name, network_of(request.address))
        caps.append(HourlyCap(network, definition.per_network_hour))
    return tuple(caps)


def _visitor(placement: Placement, visitor: str, digests: Digests) -> str:
    return digests.of("visitor", placement.name, visitor)
