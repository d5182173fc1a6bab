"""Types of request and response bodies, which the OpenAPI document describes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    model_validator,
    with_config,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from slotwise.core.goal import MAX_VALUE
from slotwise.service.schemas.definition import EXAMPLE, MAX_EVENT_VALUE, FollowingWindow, Mode, PlacementDefinition
from slotwise.service.schemas.item_schema import Strict
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.report_schemas import CHANGE, ChangeDocument, FieldProblem, closed
from slotwise.service.storage.decision_types import Arm, Event, Kind, Outcome, Verdict

_ID: Final = "019a8c3f7d2b5e60c1f2a3b4c5d6e7f8"
_TOKEN: Final = "AZqMP30rXmDB8qO0xdbn-EHaPz3Q..."

#: RFC 3339, in UTC
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

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


class ReportedOutcome(BaseModel):
    """Either `clicked`, an item or null, or `shown`, which is false."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        use_attribute_docstrings=True,
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

    model_config = ConfigDict(json_schema_extra={**_ONE_REQUIRED, "examples": [{"id": _ID, "clicked": "tea"}]})

    id: Annotated[str, StringConstraints(max_length=MAX_NAME)]


class OutcomeList(BaseModel):
    """Outcomes of many decisions."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        json_schema_extra={"examples": [{"outcomes": [{"id": _ID, "clicked": "tea"}]}]},
    )

    outcomes: Annotated[list[DecisionOutcome], Field(min_length=1, max_length=MAX_OUTCOMES)]


@with_config(closed({"id": _ID, "verdict": "recorded"}))
class VerdictDocument(TypedDict):
    """The verdict on one outcome."""

    id: str
    verdict: Verdict
    """recorded; duplicate: the same as before; conflict: another one was reported before; late: after the deadline;
    unknown_decision. An unknown_item was not shown; an invalid_event is not one of the reward."""


@with_config(closed({"outcomes": [{"id": _ID, "verdict": "recorded"}]}))
class VerdictList(TypedDict):
    """Verdicts in the order of the outcomes."""

    outcomes: list[VerdictDocument]


class BrowserEvents(LaterEvents):
    """Later events with the decision's token instead of an API key, until its deadline."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"token": _TOKEN, "events": [{"event_id": "c-1", "name": "cart"}]}]}
    )

    token: Annotated[str, StringConstraints(max_length=MAX_NAME)]


class BrowserOutcome(ReportedOutcome):
    """An outcome with the decision's token instead of an API key."""

    model_config = ConfigDict(
        json_schema_extra={**_ONE_REQUIRED, "examples": [{"token": _TOKEN, "clicked": "tea"}]},
    )

    token: Annotated[str, StringConstraints(max_length=MAX_NAME)]


@with_config(
    closed(
        {
            "id": _ID,
            "placement": "home",
            "items": ["beans", "tea", "coffee"],
            "arm": "learned",
            "expires": "2026-11-16T02:48:12.089Z",
            "token": _TOKEN,
        }
    )
)
class DecisionDocument(TypedDict):
    """A list for one view."""

    id: str
    placement: str
    items: tuple[str, ...]
    """Items to show, first slot first."""
    arm: Arm
    """learned: a learned list; holdout: the control order, for comparison; shadow: the control order in shadow mode."""
    expires: DateTime
    """Deadline of the outcome."""
    token: str
    """Token for reporting the outcome from a browser."""


@with_config(closed({"decisions": []}))
class DecisionList(TypedDict):
    """Lists for several views, in answer to a request with `count`."""

    decisions: list[DecisionDocument]


@with_config(closed({"name": "purchase", "value": 39.0, "event_id": "order-7"}))
class EventDocument(TypedDict):
    """An event of a decision."""

    name: str
    value: float | None
    event_id: str | None
    """null if it was reported with the outcome."""


@with_config(
    closed(
        {
            "id": _ID,
            "placement": "home",
            "issued": "2026-11-16T02:18:12.089Z",
            "expires": "2026-11-16T02:48:12.089Z",
            "context": {"device": "mobile"},
            "arm": "learned",
            "items": ["beans", "tea", "coffee"],
            "propensities": [0.62, 0.33, 0.41],
            "final": True,
            "outcome": "clicked",
            "clicked": ["tea"],
            "value": 2.5,
            "events": [],
            "late": False,
            "capped": False,
        }
    )
)
class LoggedDocument(TypedDict):
    """A decision with its outcome so far."""

    id: str
    placement: str
    issued: DateTime
    expires: DateTime
    """Deadline of the outcome."""
    context: dict[str, str]
    """The visitor's segments."""
    arm: Arm
    items: tuple[str, ...]
    """Items of the list, first slot first."""
    propensities: tuple[float, ...] | None
    """Probability of each slot's item to be there when the list was drawn; null if not known, or not yet."""
    final: bool
    """Whether the deadline has passed and the decision is counted."""
    outcome: Kind | None
    """The reported outcome; null if none was reported, which counts as no click."""
    clicked: list[str]
    """Clicked items, in the order of the clicks, which all count."""
    value: float | None
    """The reported value of the click, or the sum of click and events by the placement's reward; null if unknown."""
    events: list[EventDocument]
    """Events of the outcome, and later ones with their ids."""
    late: bool
    """Whether an outcome arrived after the deadline; it is not learned."""
    capped: bool
    """Whether it is beyond the hourly cap of its visitor, and not learned."""


@with_config(closed({"duplicate": False}))
class OutcomeDocument(TypedDict):
    """The outcome is recorded."""

    duplicate: bool
    """Whether it was recorded before."""


class PlacementPatch(RootModel[dict[str, Any]]):
    """The fields to change (JSON merge patch, RFC 7396): null restores the default, and a list replaces the list."""

    model_config = ConfigDict(
        json_schema_extra={
            "properties": {
                name: {"description": field.description or ""}
                for name, field in PlacementDefinition.model_fields.items()
            },
            "examples": [{"holdout": 0.1}, {"exploring": False, "policy": None}],
        }
    )


@with_config(closed({"name": "home"}))
class DeletedDocument(TypedDict):
    """A deleted placement."""

    name: str


@with_config(closed({"changes": [CHANGE]}))
class ChangeList(TypedDict):
    """Up to 1,000 changes of a placement's definition, newest first."""

    changes: list[ChangeDocument]


class PlacementDocument(PlacementDefinition):
    """A placement's definition."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "home", **EXAMPLE}]})

    name: str

    @classmethod
    def of(cls, name: str, definition: PlacementDefinition) -> Self:
        """Return the document of a definition, which is valid already."""
        return cls.model_construct(name=name, **dict(definition))


_SUMMARY: Final[dict[str, Any]] = {
    "name": "home",
    "slots": 3,
    "policy": None,
    "window_seconds": 1800.0,
    "holdout": 0.0,
    "position_bias": None,
    "mode": "live",
    "exploring": True,
    "item_count": 4,
}


@with_config(closed())
class PlacementSummary(TypedDict):
    """A placement without its items."""

    name: str
    slots: int
    policy: str | None
    window_seconds: float | FollowingWindow
    holdout: float
    position_bias: list[float] | None
    mode: Mode
    exploring: bool
    item_count: int


@with_config(closed())
class BrokenSummary(TypedDict):
    """A placement that the service cannot load: `PUT` it again."""

    name: str
    detail: str
    """The reason."""


@with_config(closed({"placements": [_SUMMARY], "broken": []}))
class PlacementList(TypedDict):
    """Every placement."""

    placements: list[PlacementSummary]
    broken: list[BrokenSummary]
    """Placements that cannot be loaded; the others are not affected."""


@with_config(
    closed(
        {
            "type": "about:blank",
            "title": "Unprocessable Entity",
            "status": 422,
            "detail": "window_seconds: Input should be greater than or equal to 0.1, got 0",
            "errors": [
                {"field": "window_seconds", "detail": "Input should be greater than or equal to 0.1", "value": "0"}
            ],
        }
    )
)
class ProblemDocument(TypedDict):
    """An error response (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    """The error, with the field and the value."""
    errors: NotRequired[list[FieldProblem]]
