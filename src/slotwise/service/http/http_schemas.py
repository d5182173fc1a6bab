"""Types of decisions, placements and error responses, which the OpenAPI document describes."""

from __future__ import annotations

from typing import Annotated, Any, Final, NotRequired, Self

from pydantic import ConfigDict, Field, RootModel, with_config
from typing_extensions import TypedDict

from slotwise.service.http.outcome_schemas import ID_EXAMPLE, TOKEN_EXAMPLE
from slotwise.service.schemas.definition import EXAMPLE, FollowingWindow, Mode, PlacementDefinition
from slotwise.service.schemas.report_schemas import CHANGE, ChangeDocument, FieldProblem, closed
from slotwise.service.storage.decision_types import Arm, Kind

#: RFC 3339, in UTC
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


@with_config(
    closed(
        {
            "id": ID_EXAMPLE,
            "placement": "home",
            "items": ["beans", "tea", "coffee"],
            "arm": "learned",
            "expires": "2026-11-16T02:48:12.089Z",
            "token": TOKEN_EXAMPLE,
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
            "id": ID_EXAMPLE,
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
    """Whether it is beyond the hourly cap of its visitor or network, and not learned."""


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
