"""What one decision must heed."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from slotwise.service.schemas.definition import MAX_ITEMS, MAX_SLOTS
from slotwise.service.schemas.item_schema import Strict
from slotwise.service.schemas.name_rules import MAX_NAME


class DecisionRequest(Strict):
    """What a decision must heed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{}, {"exclude": ["cocoa"], "pin": {"tea": 1}, "visitor": "9f2c41"}, {"context": {}}]
        }
    )

    # made anew for each, which is quicker than copying an empty one
    exclude: list[str] = Field(default_factory=list, max_length=MAX_ITEMS, json_schema_extra={"default": []})
    """Items that are not to be shown."""
    pin: dict[str, Annotated[int, Field(ge=1, le=MAX_SLOTS)]] = Field(
        default_factory=dict, json_schema_extra={"default": {}}
    )
    """Items to the slots in which they must be, counted from 1."""
    context: dict[str, str] = Field(default_factory=dict, json_schema_extra={"default": {}})
    """What is known of the visitor, under the keys of the placement's `segments`."""
    visitor: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    """Who is looking, in whatever words of yours: kept as a digest only, and only where a placement is sticky."""
