"""What callers may send, and what is wrong with it if they send something else."""

from __future__ import annotations

import json
import unicodedata
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from slotwise import checks
from slotwise.errors import InvalidInput, SlotwiseError
from slotwise.lists.goal import LARGEST_VALUE
from slotwise.policies import Setting
from slotwise.ranker.learner import policy_for
from slotwise.service.store.contract import Outcome

MOST_ITEMS: Final = 100_000
MOST_SLOTS: Final = 100
#: items times slots: what a placement takes in memory, and in time that others wait
MOST_PAIRS: Final = 2_000_000
LONGEST_NAME: Final = 200
SHORTEST_WINDOW, LONGEST_WINDOW = 0.1, 30 * 86_400.0
#: Other, control; other, surrogate; separators of lines and paragraphs
_NO_TEXT: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def _without_control_characters(name: str) -> str:
    # all of ASCII that is text, at once
    if not (name.isascii() and name.isprintable()):
        for character in name:
            if unicodedata.category(character) in _NO_TEXT:
                raise PydanticCustomError("control_character", "must not have control characters in it")
    return name


Name = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_NAME), AfterValidator(_without_control_characters)
]
#: it stands between two slashes in an address
PlacementName = Annotated[Name, StringConstraints(pattern=r"^[^/]*$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Item(_Strict):
    """Something that can be shown, and what a click on it is worth beside the others."""

    id: Name
    value: Annotated[Finite, Field(gt=0, le=LARGEST_VALUE)] | None = None


def _named(item: Any) -> Any:
    return {"id": item} if isinstance(item, str) else item


class Definition(_Strict):
    """A placement as its owner wants it."""

    slots: Annotated[int, Field(ge=1, le=MOST_SLOTS)]
    items: Annotated[
        list[Annotated[Item, BeforeValidator(_named, json_schema_input_type=Name | Item)]],
        Field(min_length=1, max_length=MOST_ITEMS),
    ]
    policy: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] | None = None
    window_seconds: Annotated[Finite, Field(ge=SHORTEST_WINDOW, le=LONGEST_WINDOW)] = 1800.0
    holdout: Annotated[Finite, Field(ge=0, le=1)] = 0.0
    position_bias: Annotated[list[Annotated[Finite, Field(gt=0)]], Field(max_length=MOST_SLOTS)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.items) < self.slots:
            raise PydanticCustomError(
                "too_few_items",
                "slots must be at most the number of items, {items}, got {slots}",
                {"items": len(self.items), "slots": self.slots},
            )
        if len(self.items) * self.slots > MOST_PAIRS:
            raise PydanticCustomError(
                "too_many_pairs",
                "items times slots must be at most {most}, got {given}",
                {"most": MOST_PAIRS, "given": len(self.items) * self.slots},
            )
        seen = set[str]()
        for item in self.items:
            if item.id in seen:
                raise PydanticCustomError("twice", "items must be different, got {item} twice", {"item": repr(item.id)})
            seen.add(item.id)
        if self.position_bias is not None and len(self.position_bias) != self.slots:
            raise PydanticCustomError(
                "position_bias",
                "position_bias must have one entry per slot, {slots}, got {given}",
                {"slots": self.slots, "given": len(self.position_bias)},
            )
        try:
            policy_for(self.policy, self.bias()).check(Setting(self.slots, len(self.items), 1, self.bias()))
        except SlotwiseError as problem:
            raise PydanticCustomError("policy", "{why}", {"why": str(problem)}) from problem
        return self

    def bias(self) -> Any:
        """λ per slot, or None where it is learned."""
        return (
            None if self.position_bias is None else checks.positive_vector("position_bias", self.position_bias, "slot")
        )

    def document(self) -> dict[str, Any]:
        """As it was given."""
        items = [item.id if item.value is None else {"id": item.id, "value": item.value} for item in self.items]
        return {**self.model_dump(exclude={"items"}), "items": items}

    def text(self) -> str:
        """As it is stored; the same definition is the same text."""
        return json.dumps(self.document(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Wish(_Strict):
    """What a decision must heed."""

    exclude: Annotated[list[str], Field(max_length=MOST_ITEMS)] = []
    #: item to slot, counted from 1
    pin: dict[str, Annotated[int, Field(ge=1, le=MOST_SLOTS)]] = {}


_OUTCOMES: Final = {"one": '{"clicked": ITEM}', "other": '{"clicked": null}', "third": '{"shown": false}'}


class ReportedOutcome(_Strict):
    """Exactly one of `clicked`, an item or null, and `shown`, which is false."""

    clicked: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] | None = None
    shown: Literal[False] | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if ("clicked" in self.model_fields_set) == ("shown" in self.model_fields_set):
            raise PydanticCustomError("outcome", "must be {one}, {other} or {third}", _OUTCOMES)
        if "shown" in self.model_fields_set and self.shown is None:
            raise PydanticCustomError("outcome", "shown must be false, got null")
        return self

    def outcome(self) -> Outcome:
        """In the store's words."""
        if self.shown is False:
            return Outcome("not_shown")
        return Outcome("no_click") if self.clicked is None else Outcome("clicked", self.clicked)


class BrowserOutcome(ReportedOutcome):
    """The same, with the decision's token instead of a key."""

    token: Annotated[str, StringConstraints(max_length=LONGEST_NAME)]


_name: Final = TypeAdapter[str](PlacementName)


def checked_name(name: str) -> str:
    """The name of a placement, or an error that says what is wrong with it."""
    try:
        return _name.validate_python(name)
    except ValidationError as problem:
        raise InvalidInput(f"name: {faults(problem)[0]['detail']}, got {checks.short(name)}") from None


def is_name(name: str) -> bool:
    """Whether a placement can be called so."""
    try:
        checked_name(name)
    except InvalidInput:
        return False
    return True


def faults(problem: ValidationError, *, whole: str = "body") -> list[dict[str, str]]:
    """The fields, their values and what is wrong with each; tokens are not repeated."""
    found = []
    for error in problem.errors(include_url=False, include_context=False)[:20]:
        field = ".".join(str(part) for part in error["loc"]) or whole
        fault = {"field": field[:LONGEST_NAME], "detail": error["msg"]}
        said = error["type"] == "missing" or ", got " in error["msg"]
        if error["loc"] and "token" not in error["loc"] and not said:
            fault["value"] = checks.short(error["input"])
        found.append(fault)
    return found
