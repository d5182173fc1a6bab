"""The body of a decision request: exclusions, pins, context and visitor."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag

from slotwise.service.schemas.definition import MAX_CANDIDATES, MAX_ITEMS, MAX_SLOTS
from slotwise.service.schemas.item_schema import MAX_FEATURES, Finite, Strict
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.network_rules import checked_address

MAX_DECISIONS: Final = 100


#: a number or a text; strict, so that neither becomes the other
FeatureInRequest = Finite | str


class Candidate(Strict):
    """A candidate with features, for a placement that learns items from candidates."""

    # of a thousand candidates at a time, so what takes calls into Python is checked once a name: `candidate_list`
    id: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
    features: Annotated[
        dict[Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)], FeatureInRequest],
        Field(max_length=MAX_FEATURES),
    ] = Field(default={})
    """Numbers and texts by name, as of the items of the placement; ignored for one of its own items."""


CandidateInRequest = Annotated[
    Annotated[str, Tag("=text")] | Annotated[Candidate, Tag("=object")],
    Discriminator(lambda value: "=object" if isinstance(value, dict | Candidate) else "=text"),
]


class DecisionRequest(Strict):
    """Constraints and context of one decision."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {},
                {"exclude": ["cocoa"], "pin": {"tea": 1}, "visitor": "9f2c41"},
                {"candidates": ["tea", "cocoa"]},
                {"candidates": ["tea", {"id": "mate", "features": {"price": 3.2}}]},
            ]
        }
    )

    # a factory is quicker than copying an empty list
    exclude: list[str] = Field(default_factory=list, max_length=MAX_ITEMS, json_schema_extra={"default": []})
    """Items that must not be shown."""
    pin: dict[str, Annotated[int, Field(ge=1, le=MAX_SLOTS)]] = Field(
        default_factory=dict, json_schema_extra={"default": {}}
    )
    """Items to the slots in which they must be shown, counted from 1."""
    candidates: Annotated[list[CandidateInRequest], Field(min_length=1, max_length=MAX_CANDIDATES)] | None = None
    """The only items that may be shown: ids, or objects with an id and features. They are items of the placement, or
    any if it has `max_items`. null for all items of the placement."""
    count: Annotated[int, Field(ge=1, le=MAX_DECISIONS)] | None = None
    """The number of decisions, each for one view: all are made or none, and the response is a list. null for one."""
    context: dict[str, str] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """The visitor's segment: a value for each key of the placement's `segments`."""
    visitor: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    """An id of the visitor, of your choice. Only a hash of it is stored, and only if the placement is sticky or has a
    cap per visitor."""
    address: Annotated[str, AfterValidator(checked_address)] | None = None
    """The visitor's IP address, as your server knows it. Only a hash of its network is stored, for up to two hours, and
    only if the placement has a cap per network."""
