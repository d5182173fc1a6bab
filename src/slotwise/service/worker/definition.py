"""A placement's definition and a decision's wishes, and what is wrong with what is neither."""

from __future__ import annotations

import json
import unicodedata
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
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
from slotwise.service.worker.documents import FieldProblem

MOST_ITEMS: Final = 100_000
MOST_SLOTS: Final = 100
#: items times slots: what a placement takes in memory, and in time that others wait
MOST_PAIRS: Final = 2_000_000
LONGEST_NAME: Final = 200
#: of one slot beside another: beyond that, sums of what is learned are no numbers any more
SMALLEST_BIAS, LARGEST_BIAS = 1e-9, 1e9
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
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class Item(_Strict):
    """Something that can be shown."""

    id: Name
    value: Annotated[Finite, Field(gt=0, le=LARGEST_VALUE)] | None = None
    """What a click on it is worth beside clicks on the others; 1 where it is not said."""


def _named(item: Any) -> Any:
    return {"id": item} if isinstance(item, str) else item


def _as_given(item: Item) -> str | Item:
    return item.id if item.value is None else item


#: an id alone, or with what a click on it is worth
ListedItem = Annotated[
    Item,
    BeforeValidator(_named, json_schema_input_type=Name | Item),
    PlainSerializer(_as_given, return_type=str | Item),
]


EXAMPLE: Final[dict[str, Any]] = {
    "slots": 3,
    "items": ["tea", "coffee", {"id": "beans", "value": 2.5}, "cocoa"],
    "window_seconds": 1800.0,
}


class Definition(_Strict):
    """A placement as its owner wants it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    slots: Annotated[int, Field(ge=1, le=MOST_SLOTS)]
    items: Annotated[list[ListedItem], Field(min_length=1, max_length=MOST_ITEMS)]
    """Ids, or objects with an id and a value; at least as many as slots."""
    policy: Annotated[str, StringConstraints(max_length=LONGEST_NAME)] | None = None
    """The id of a registered policy; null is the default."""
    window_seconds: Annotated[Finite, Field(ge=SHORTEST_WINDOW, le=LONGEST_WINDOW)] = 1800.0
    """How long an outcome may take; a decision is counted when it is over."""
    holdout: Annotated[Finite, Field(ge=0, le=1)] = 0.0
    """The share of decisions that show the items in the order given here, to compare with."""
    position_bias: (
        Annotated[list[Annotated[Finite, Field(ge=SMALLEST_BIAS, le=LARGEST_BIAS)]], Field(max_length=MOST_SLOTS)]
        | None
    ) = None
    """How visible each slot is; null where that is to be learned."""

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
            policy = policy_for(self.policy, self.bias())
            policy.check(Setting(self.slots, len(self.items), 1, self.bias(), rules_per_decision=True))
            if why := policy.limits.get("tally"):
                raise InvalidInput(f"{policy} cannot start from a tally: {why}")
        except SlotwiseError as problem:
            raise PydanticCustomError("policy", "{why}", {"why": str(problem)}) from problem
        return self

    def bias(self) -> Any:
        """λ per slot, or None where it is learned."""
        return (
            None if self.position_bias is None else checks.positive_vector("position_bias", self.position_bias, "slot")
        )

    def text(self) -> str:
        """As it is stored; the same definition is the same text."""
        return json.dumps(self.model_dump(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Wish(_Strict):
    """What a decision must heed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"exclude": ["cocoa"], "pin": {"tea": 1}}]})

    exclude: Annotated[list[str], Field(max_length=MOST_ITEMS)] = []
    """Items that are not to be shown."""
    pin: dict[str, Annotated[int, Field(ge=1, le=MOST_SLOTS)]] = {}
    """Items to the slots in which they must be, counted from 1."""


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


def faults(problem: ValidationError, *, whole: str = "body") -> list[FieldProblem]:
    """The fields, their values and what is wrong with each; tokens are not repeated."""
    found: list[FieldProblem] = []
    for error in problem.errors(include_url=False, include_context=False)[:20]:
        field = ".".join(str(part) for part in error["loc"]) or whole
        fault: FieldProblem = {"field": field[:LONGEST_NAME], "detail": error["msg"]}
        said = error["type"] == "missing" or ", got " in error["msg"]
        if error["loc"] and "token" not in error["loc"] and not said:
            fault["value"] = checks.short(error["input"])
        found.append(fault)
    return found
