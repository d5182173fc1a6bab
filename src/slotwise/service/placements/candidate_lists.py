"""The candidates of a decision request: items of the placement, and others, which only candidates name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.ranker.policy_options import check_pooling
from slotwise.service.placements.placement_state import Placement
from slotwise.service.schemas.decision_request import CandidateInRequest
from slotwise.service.schemas.name_rules import Name, appearance
from slotwise.service.schemas.validation_errors import faults
from slotwise.service.storage.decision_types import Features

_name: Final = TypeAdapter[str](Name)


class CandidateList(NamedTuple):
    """The candidates of a decision."""

    #: items of the placement; None if all of them may be shown
    items: Sequence[str] | None
    #: others with their features, in the order of the request
    others: dict[str, Features]


def candidate_list(
    placement: Placement, given: Sequence[CandidateInRequest] | None, exclude: Collection[str]
) -> CandidateList:
    """The candidates of a request, checked; unless the placement has `max_items`, all must be its own items."""
    others: dict[str, Features] = {}
    if given is None:
        return CandidateList(None, others)
    items: list[str] = []
    looks: dict[str, str] = {}
    for candidate in given:
        id = candidate if isinstance(candidate, str) else candidate.id
        if id in placement.listed or placement.definition.max_items is None:
            items.append(id)
            continue
        features = {} if isinstance(candidate, str) else candidate.features
        if others.setdefault(id, features) != features:
            raise InvalidInput(f"candidates must be different, got {validation.short(id)} twice with other features")
        look = appearance(_checked(id))
        if (same := placement.looks.get(look) or looks.setdefault(look, id)) != id:
            raise InvalidInput(f"candidates must be different, got {id!a} and {same!a}, which look the same")
    if names := {name for features in others.values() for name in features}:
        check_pooling(placement.learner.policy, 1, has_features=True)
        for name in names:
            _checked(name)
    for item in exclude:
        others.pop(item, None)
    return CandidateList(items, others)


def _checked(id: str) -> str:
    try:
        return _name.validate_python(id)
    except ValidationError as problem:
        raise InvalidInput(f"candidates: {faults(problem)[0]['detail']}, got {validation.short(id)}") from None
