"""Bodies that are HTTP's alone: each type here reads or writes one, and OpenAPI describes that very type."""

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
from slotwise.service.schemas.definition import EXAMPLE, Definition, FollowingWindow, Mode
from slotwise.service.schemas.name_rules import MAX_NAME
from slotwise.service.schemas.report_schemas import CHANGE, ChangeDocument, FieldProblem, closed
from slotwise.service.storage.decision_types import Arm, Kind, Outcome

_ID: Final = "019a8c3f7d2b5e60c1f2a3b4c5d6e7f8"
_TOKEN: Final = "AZqMP30rXmDB8qO0xdbn-EHaPz3Q..."

#: RFC 3339, in UTC
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]

_ONE_OF_THEM: Final = {"one": '{"clicked": ITEM}', "other": '{"clicked": null}', "third": '{"shown": false}'}
#: which JSON Schema cannot see in the validator
_NO_VALUE: Final[dict[str, Any]] = {"value": {"type": "null"}}
_ONE_REQUIRED: Final[dict[str, Any]] = {
    "oneOf": [{"required": ["clicked"]}, {"required": ["shown"]}],
    "anyOf": [
        {"required": ["clicked"], "properties": {"clicked": {"type": ["string", "array"]}}},
        {"properties": _NO_VALUE},
    ],
}

#: in one outcome
MAX_CLICKS: Final = 20
ClickedItem = Annotated[str, StringConstraints(max_length=MAX_NAME)]
Clicks = Annotated[list[ClickedItem], Field(min_length=1, max_length=MAX_CLICKS)]


def _listed(clicked: Any) -> Any:
    return [clicked] if isinstance(clicked, str) else clicked


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
            ],
        },
    )

    clicked: Annotated[Clicks | None, BeforeValidator(_listed, json_schema_input_type=ClickedItem | Clicks | None)] = (
        None
    )
    """What was clicked, an item or several in the order of the clicks, of which the first counts; null for nothing."""
    shown: Literal[False] = False
    """False where nobody saw the list."""
    value: Annotated[float, Field(ge=0, le=MAX_VALUE, allow_inf_nan=False)] | None = None
    """What the click brought."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if ("clicked" in self.model_fields_set) == ("shown" in self.model_fields_set):
            raise PydanticCustomError("outcome", "must be {one}, {other} or {third}", _ONE_OF_THEM)
        if self.value is not None and self.clicked is None:
            raise PydanticCustomError(
                "value", "value must be left out where nothing was clicked, got {value}", {"value": self.value}
            )
        return self

    def outcome(self) -> Outcome:
        """In the store's words."""
        if "shown" in self.model_fields_set:
            return Outcome("not_shown")
        if self.clicked is None:
            return Outcome("no_click")
        first, *then = self.clicked
        return Outcome("clicked", first, tuple(then), self.value)


class BrowserOutcome(ReportedOutcome):
    """The same, with the decision's token instead of a key."""

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
    """One list for one page view."""

    id: str
    placement: str
    items: tuple[str, ...]
    """What to show, the first slot first."""
    arm: Arm
    """Whether the list was learned, or shows the items in the order of the placement: for the holdout, to compare with,
    or in the shadow of what would have been shown."""
    expires: DateTime
    """When the outcome must be in."""
    token: str
    """What a browser reports the outcome with."""


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
            "late": False,
        }
    )
)
class LoggedDocument(TypedDict):
    """A decision, and what has become of it."""

    id: str
    placement: str
    issued: DateTime
    expires: DateTime
    """When the outcome had to be in."""
    context: dict[str, str]
    """What was known of the visitor."""
    arm: Arm
    items: tuple[str, ...]
    """What was to be shown, the first slot first."""
    propensities: tuple[float, ...] | None
    """Per slot, how likely it was that its item would be there; null where that is not known, or not yet."""
    final: bool
    """Whether it is past its deadline, and counted."""
    outcome: Kind | None
    """What was reported; null where nothing was, which counts as a no-click."""
    clicked: list[str]
    """What was clicked, in that order: the first counts."""
    value: float | None
    """What the click brought, where that was said."""
    late: bool
    """Whether an outcome came after the deadline; it is not learned from."""


@with_config(closed({"duplicate": False}))
class OutcomeDocument(TypedDict):
    """The outcome is on record."""

    duplicate: bool
    """Whether it was before."""


class PlacementPatch(RootModel[dict[str, Any]]):
    """The fields to change, as RFC 7396 has it: null is the default, and a list replaces all of the list."""

    model_config = ConfigDict(
        json_schema_extra={
            "properties": {
                name: {"description": field.description or ""} for name, field in Definition.model_fields.items()
            },
            "examples": [{"holdout": 0.1}, {"mode": "frozen", "policy": None}],
        }
    )


@with_config(closed({"name": "home"}))
class DeletedDocument(TypedDict):
    """A placement that is there no longer."""

    name: str


@with_config(closed({"changes": [CHANGE]}))
class ChangeList(TypedDict):
    """Changes of a placement's definition, the newest first, and no more than a thousand of them."""

    changes: list[ChangeDocument]


class PlacementDocument(Definition):
    """A placement as it was put."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "home", **EXAMPLE}]})

    name: str

    @classmethod
    def of(cls, name: str, definition: Definition) -> Self:
        """Without checking again what was checked."""
        return cls.model_construct(name=name, **dict(definition))


_SUMMARY: Final[dict[str, Any]] = {
    "name": "home",
    "slots": 3,
    "policy": None,
    "window_seconds": 1800.0,
    "holdout": 0.0,
    "position_bias": None,
    "mode": "live",
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
    item_count: int


@with_config(closed())
class BrokenSummary(TypedDict):
    """A placement that cannot be read: `PUT` it again."""

    name: str
    detail: str
    """Why."""


@with_config(closed({"placements": [_SUMMARY], "broken": []}))
class PlacementList(TypedDict):
    """Every placement."""

    placements: list[PlacementSummary]
    broken: list[BrokenSummary]
    """Those of which the store has something that cannot be worked with; the others are not hurt."""


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
    """A refusal, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    """What is wrong, with the field and the value."""
    errors: NotRequired[list[FieldProblem]]
