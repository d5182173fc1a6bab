"""Types of reported outcomes and events, which the OpenAPI document describes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator, with_config
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from slotwise.core.goal import MAX_VALUE
from slotwise.service.schemas.definition import MAX_EVENT_VALUE
from slotwise.service.schemas.item_schema import Strict
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.report_schemas import closed
from slotwise.service.storage.decision_types import Event, Outcome, Verdict

ID_EXAMPLE: Final = "019a8c3f7d2b5e60c1f2a3b4c5d6e7f8"
TOKEN_EXAMPLE: Final = "AZqMP30rXmDB8qO0xdbn-EHaPz3Q..."
#: in one outcome or request
MAX_EVENTS: Final = 20
_ONE_OF_THEM: Final = {"one": '{"clicked": ITEM}', "other": '{"clicked": null}', "third": '{"shown": false}'}
#: rules of the validator, for JSON Schema
_NO_VALUE: Final[dict[str, Any]] = {"value": {"type": "null"}}
_ONE_REQUIRED: Final[dict[str, Any]] = {
    "oneOf": [{"required": ["clicked"]}, {"required": ["shown"]}],
    "not": {"required": ["shown", "events"], "properties": {"events": {"minItems": 1}}},
    "anyOf": [
        {"required": ["clicked"], "properties": {"clicked": {"type": ["string", "array"]}}},
        {"properties": _NO_VALUE},
    ],
}
#: in one outcome
MAX_CLICKS: Final = 20
#: in one request
MAX_OUTCOMES: Final = 1_000
ClickedItem = Annotated[str, StringConstraints(max_length=MAX_NAME)]
Clicks = Annotated[list[ClickedItem], Field(min_length=1, max_length=MAX_CLICKS)]


def _listed(clicked: object) -> object:
    return [clicked] if isinstance(clicked, str) else clicked


def _false(shown: object) -> object:
    # 0 and 0.0 equal False, and would pass
    if shown is not False:
        raise PydanticCustomError("shown", "must be false, got {value}", {"value": repr(shown)})
    return shown


class ReportedEvent(Strict):
    """An event that happened together with an outcome, such as a purchase."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "purchase", "value": 39.0}]})

    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
    """One of the events of the placement's `reward`, apart from `click`."""
    value: Annotated[float, Field(ge=0, le=MAX_EVENT_VALUE, allow_inf_nan=False)] | None = None
    """The value that it brought; required if the reward of the event is "value", and kept without effect otherwise."""


class LaterEvent(ReportedEvent):
    """An event with an id, by which a repeated report is recognised."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"event_id": "order-7", "name": "purchase", "value": 39.0}]}
    )

    event_id: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
    """An id of your choice, such as the number of an order."""

    def event(self) -> Event:
        """Return the event as the store records it."""
        return Event(self.name, self.value, self.event_id)


class LaterEvents(Strict):
    """Events of a decision, after its outcome or before."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"events": [{"event_id": "order-7", "name": "purchase", "value": 39.0}]}]}
    )

    events: Annotated[list[LaterEvent], Field(min_length=1, max_length=MAX_EVENTS)]
    """All of them are recorded, or none."""


class ReportedOutcome(Strict):
    """Either `clicked`, an item or null, or `shown`, which is false."""

    model_config = ConfigDict(
        json_schema_extra={
            **_ONE_REQUIRED,
            "examples": [
                {"clicked": "tea"},
                {"clicked": None},
                {"shown": False},
                {"clicked": ["tea", "cocoa"], "value": 12.5},
                {"clicked": "tea", "events": [{"name": "cart"}, {"name": "purchase", "value": 39.0}]},
            ],
        },
    )

    clicked: Annotated[Clicks | None, BeforeValidator(_listed, json_schema_input_type=ClickedItem | Clicks | None)] = (
        None
    )
    """The clicked item, or several in the order of the clicks, which all count. null: nothing was clicked."""
    shown: Annotated[Literal[False], BeforeValidator(_false)] = False
    """false: the visitor did not see the list."""
    value: Annotated[float, Field(ge=0, le=MAX_VALUE, allow_inf_nan=False)] | None = None
    """Value of the click."""
    events: Annotated[list[ReportedEvent], Field(max_length=MAX_EVENTS)] = Field(
        default_factory=list, json_schema_extra={"default": []}
    )
    """Events by now, if the placement has a `reward`."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if ("clicked" in self.model_fields_set) == ("shown" in self.model_fields_set):
            raise PydanticCustomError("outcome", "must be {one}, {other} or {third}", _ONE_OF_THEM)
        if self.value is not None and self.clicked is None:
            raise PydanticCustomError(
                "value", "value must be omitted without a click, got {value}", {"value": self.value}
            )
        if self.events and "shown" in self.model_fields_set:
            raise PydanticCustomError("events", "events must be omitted for a list that was not shown")
        return self

    def outcome(self) -> Outcome:
        """Return the outcome as the store records it."""
        if "shown" in self.model_fields_set:
            return Outcome("not_shown")
        events = tuple(Event(event.name, event.value) for event in self.events)
        if self.clicked is None:
            return Outcome("no_click", events=events)
        first, *then = self.clicked
        return Outcome("clicked", first, tuple(then), self.value, events)


class DecisionOutcome(ReportedOutcome):
    """An outcome with the decision's id."""

    model_config = ConfigDict(json_schema_extra={**_ONE_REQUIRED, "examples": [{"id": ID_EXAMPLE, "clicked": "tea"}]})

    id: Annotated[str, StringConstraints(max_length=MAX_NAME)]


class OutcomeList(Strict):
    """Outcomes of many decisions."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"outcomes": [{"id": ID_EXAMPLE, "clicked": "tea"}]}]},
    )

    outcomes: Annotated[list[DecisionOutcome], Field(min_length=1, max_length=MAX_OUTCOMES)]


@with_config(closed({"id": ID_EXAMPLE, "verdict": "recorded"}))
class VerdictDocument(TypedDict):
    """The verdict on one outcome."""

    id: str
    verdict: Verdict
    """recorded; duplicate: the same as before; conflict: another one was reported before; late: after the deadline;
    unknown_decision. An unknown_item was not shown; an invalid_event is not one of the reward."""


@with_config(closed({"outcomes": [{"id": ID_EXAMPLE, "verdict": "recorded"}]}))
class VerdictList(TypedDict):
    """Verdicts in the order of the outcomes."""

    outcomes: list[VerdictDocument]


class BrowserEvents(LaterEvents):
    """Later events with the decision's token instead of an API key, until its deadline."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"token": TOKEN_EXAMPLE, "events": [{"event_id": "c-1", "name": "cart"}]}]}
    )

    token: Annotated[str, StringConstraints(max_length=MAX_NAME)]


class BrowserOutcome(ReportedOutcome):
    """An outcome with the decision's token instead of an API key."""

    model_config = ConfigDict(
        json_schema_extra={**_ONE_REQUIRED, "examples": [{"token": TOKEN_EXAMPLE, "clicked": "tea"}]},
    )

    token: Annotated[str, StringConstraints(max_length=MAX_NAME)]


@with_config(closed({"duplicate": False}))
class OutcomeDocument(TypedDict):
    """The outcome is recorded."""

    duplicate: bool
    """Whether it was recorded before."""
