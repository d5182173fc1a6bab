"""The body of a decision request: exclusions, pins, context and visitor."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field, StringConstraints

from slotwise.service.schemas.definition import MAX_ITEMS, MAX_SLOTS
from slotwise.service.schemas.item_schema import Strict
from slotwise.service.schemas.name_rules import MAX_NAME

MAX_CANDIDATES: Final = 1_000
MAX_DECISIONS: Final = 100


class DecisionRequest(Strict):
    """Constraints and context of one decision."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {},
                {"exclude": ["cocoa"], "pin": {"tea": 1}, "visitor": "9f2c41"},
                {"candidates": ["tea", "cocoa"]},
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
    candidates: Annotated[list[str], Field(min_length=1, max_length=MAX_CANDIDATES)] | None = None
    """The only items that may be shown, of the placement's items; null for all of them."""
    count: Annotated[int, Field(ge=1, le=MAX_DECISIONS)] | None = None
    """The number of decisions, each for one view: all are made or none, and the response is a list. null for one."""
    context: dict[str, str] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """The visitor's segment: a value for each key of the placement's `segments`."""
    visitor: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    """An id of the visitor, of your choice. Only a hash of it is stored, and only if the placement is sticky or has a
    cap per visitor."""
