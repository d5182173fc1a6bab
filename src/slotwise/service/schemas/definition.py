"""A placement as its owner wants it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.core.feature_encoder import check_value
from slotwise.core.policy_task import MAX_SEGMENTS, Setting
from slotwise.service.schemas.item_schema import MAX_FEATURES, Finite, Item, ListedItem, Strict
from slotwise.service.schemas.name_rules import MAX_NAME, Name
from slotwise.service.schemas.segment_rules import MAX_COMBINATIONS, OTHER, VisitorSegments

MAX_ITEMS: Final = 100_000
MAX_SLOTS: Final = 100
#: items times slots: what a placement takes in memory, and in time that others wait
MAX_PAIRS: Final = 2_000_000
#: of one slot beside another: beyond that, sums of what is learned are no numbers any more
MIN_BIAS, MAX_BIAS = 1e-9, 1e9
MIN_WINDOW, MAX_WINDOW = 0.1, 30 * 86_400.0
#: hours
MIN_HALF_LIFE, MAX_HALF_LIFE = 1.0, 24 * 365 * 10.0
MIN_STICKY, MAX_STICKY = 1.0, 30 * 86_400.0

EXAMPLE: Final[dict[str, Any]] = {
    "slots": 3,
    "items": ["tea", "coffee", {"id": "beans", "value": 2.5}, "cocoa"],
    "window_seconds": 1800.0,
}


def _object_or(other: str) -> Discriminator:
    """Which of two kinds a value is to be read as, so that what is said to be wrong with it is about that one."""
    return Discriminator(lambda value: "=object" if isinstance(value, dict | BaseModel) else other)


def _key_of_segments(key: str) -> str:
    if ":" in key:
        raise PydanticCustomError("key", "must not have a colon in it, which stands between key and value in a request")
    return key


class FollowingWindow(Strict):
    """A window that follows the delays of the clicks that are reported."""

    at_most: Annotated[Finite, Field(ge=MIN_WINDOW, le=MAX_WINDOW)]
    """The longest it may be, and what it is until enough is known. Five decisions in a hundred always wait so long."""
    catch: Annotated[Finite, Field(ge=0.5, lt=1)] = 0.995
    """The share of the clicks within `at_most` that the window is to catch; it is the shortest from a minute on."""


class HalfLife(Strict):
    """How fast what was counted fades."""

    half_life_hours: Annotated[Finite, Field(ge=MIN_HALF_LIFE, le=MAX_HALF_LIFE)]
    """After so many hours a count weighs half as much."""


_Seconds = Annotated[Finite, Field(ge=MIN_WINDOW, le=MAX_WINDOW)]
Window = Annotated[
    Annotated[_Seconds, Tag("=number")] | Annotated[FollowingWindow, Tag("=object")], _object_or("=number")
]
Memory = Annotated[Annotated[Literal["auto"], Tag("=text")] | Annotated[HalfLife, Tag("=object")], _object_or("=text")]
Mode = Literal["live", "frozen", "shadow"]


class PlacementDefinition(Strict):
    """A placement as its owner wants it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    slots: Annotated[int, Field(ge=1, le=MAX_SLOTS)]
    items: Annotated[list[ListedItem], Field(min_length=1, max_length=MAX_ITEMS)]
    """Ids, or objects with an id and a value; at least as many as slots."""
    policy: Annotated[str, StringConstraints(max_length=MAX_NAME)] | None = None
    """The id of a registered policy; null is the default."""
    window_seconds: Window = 1800.0
    """How long an outcome may take; a decision is counted when it is over."""
    holdout: Annotated[Finite, Field(ge=0, le=1)] = 0.0
    """The share of decisions that show the items in the order given here, to compare with."""
    position_bias: (
        Annotated[list[Annotated[Finite, Field(ge=MIN_BIAS, le=MAX_BIAS)]], Field(max_length=MAX_SLOTS)] | None
    ) = None
    """How visible each slot is; null where that is to be learned."""
    segments: dict[Annotated[Name, AfterValidator(_key_of_segments)], Annotated[list[Name], Field(min_length=1)]] = (
        Field(default={})
    )
    """What is told apart in visitors: the values that each key of a decision's `context` is looked at for."""
    memory: Memory | None = None
    """Whether what was counted fades: null for never, "auto" for as fast as foretells clicks best."""
    values: Literal["learned"] | None = None
    """Whether the value of a click is learned from what clicks brought, for items that have no `value` of their own."""
    mode: Mode = "live"
    """Whether lists are learned and tried (live), the best one of what is known is shown to all (frozen), or the items
    are shown in the order given here while the estimates say what would have been shown (shadow)."""
    pin: dict[str, Annotated[int, Field(ge=1, le=MAX_SLOTS)]] = Field(default={})
    """Items to the slots in which everybody sees them, counted from 1; a decision's own wishes go before."""
    new_items_at_most: Annotated[Finite, Field(gt=0, le=1)] | None = None
    """The share of the slots for items without a counted outcome; null leaves that to the policy."""
    sticky_seconds: Annotated[Finite, Field(ge=MIN_STICKY, le=MAX_STICKY)] | None = None
    """How long a decision's `visitor` sees the same list; null for a list of its own for each view."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.items) < self.slots:
            raise PydanticCustomError(
                "too_few_items",
                "slots must be at most the number of items, {items}, got {slots}",
                {"items": len(self.items), "slots": self.slots},
            )
        if len(self.items) * self.slots > MAX_PAIRS:
            raise PydanticCustomError(
                "too_many_pairs",
                "items times slots must be at most {most}, got {given}",
                {"most": MAX_PAIRS, "given": len(self.items) * self.slots},
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
        self._check_pins(seen)
        self._check_segments()
        self._check_features()
        self._check_policy()
        return self

    def _check_policy(self) -> None:
        # imported here: policies need the compiler, and readers of the schema need no policies
        from slotwise.ranker.policy_options import check_served, policy_for

        try:
            policy = policy_for(self.policy, self.bias())
            check_served(policy, Setting(self.slots, len(self.items), 1, self.bias(), rules_per_decision=True))
            if self.memory is not None and policy.options.get("memory", "none") != "none":
                raise InvalidInput(f"memory must be null where the policy forgets by itself, as {policy} does")
        except SlotwiseError as problem:
            raise PydanticCustomError("policy", "{why}", {"why": str(problem)}) from problem

    def _check_pins(self, items: Collection[str]) -> None:
        in_slot: dict[int, str] = {}
        for item, slot in self.pin.items():
            if item not in items:
                raise PydanticCustomError(
                    "pin", "pin must name items of the placement, got {item}", {"item": repr(item)}
                )
            if slot > self.slots:
                raise PydanticCustomError(
                    "pin",
                    "pin must name a slot from 1 to {slots}, got {slot} for {item}",
                    {"slots": self.slots, "slot": slot, "item": repr(item)},
                )
            if slot in in_slot:
                raise PydanticCustomError(
                    "pin",
                    "pin must have one item for each slot, got {item} and {other} for slot {slot}",
                    {"item": repr(in_slot[slot]), "other": repr(item), "slot": slot},
                )
            in_slot[slot] = item

    def _check_segments(self) -> None:
        for key, values in self.segments.items():
            if OTHER in values:
                raise PydanticCustomError(
                    "other",
                    "segments has {other} under {key}, which every other value is",
                    {"other": repr(OTHER), "key": repr(key)},
                )
            if len(set(values)) < len(values):
                raise PydanticCustomError("twice", "segments has a value twice under {key}", {"key": repr(key)})
        listed = math.prod(len(values) for values in self.segments.values())
        combinations = len(VisitorSegments(self.segments))
        for kind, most, given in (
            ("of the values that are listed", MAX_COMBINATIONS, listed),
            ("with other as one more value of each key", MAX_SEGMENTS, combinations),
        ):
            if given > most:
                raise PydanticCustomError(
                    "too_many_segments",
                    "segments must have at most {most} combinations {kind}, got {given}",
                    {"most": most, "kind": kind, "given": given},
                )
        if combinations > 1 and combinations * len(self.items) * self.slots > MAX_PAIRS:
            raise PydanticCustomError(
                "too_many_pairs",
                "items times slots times segments must be at most {most}, got {given}",
                {"most": MAX_PAIRS, "given": combinations * len(self.items) * self.slots},
            )

    def _check_features(self) -> None:
        kinds: dict[str, tuple[bool, str]] = {}
        for item in self.items:
            for name, value in item.features.items():
                is_text, first = kinds.setdefault(name, (isinstance(value, str), item.id))
                try:
                    check_value(f"the feature {name!r} of {item.id!r}", value, is_text, f"that of {first!r} is")
                except InvalidInput as error:
                    raise PydanticCustomError("feature", "{why}", {"why": str(error)}) from error
        if len(kinds) > MAX_FEATURES:
            raise PydanticCustomError(
                "too_many_features",
                "items must have at most {most} different features, got {given}",
                {"most": MAX_FEATURES, "given": len(kinds)},
            )

    @property
    def longest_window(self) -> float:
        """Seconds that a decision waits at the most."""
        return self.window_seconds.at_most if isinstance(self.window_seconds, FollowingWindow) else self.window_seconds

    def item(self, id: str) -> Item | None:
        """The item of that id."""
        return next((item for item in self.items if item.id == id), None)

    def pinned(self, exclude: Collection[str], pin: Mapping[str, int]) -> Mapping[str, int]:
        """What is pinned where for a decision that excludes and pins items itself."""
        if not (exclude or pin):
            return self.pin
        taken = set(pin.values())
        kept = {i: slot for i, slot in self.pin.items() if i not in exclude and i not in pin and slot not in taken}
        return {**kept, **pin}

    def control_list(self, exclude: Collection[str], pin: Mapping[str, int]) -> tuple[str, ...]:
        """The items in control order, the order of the definition, as far as exclusions and pins allow.

        >>> PlacementDefinition(slots=3, items=["a", "b", "c", "d"]).control_list(exclude=["a"], pin={"d": 1})
        ('d', 'b', 'c')
        """
        by_slot = {slot: item for item, slot in pin.items()}
        excluded = set(exclude)
        others = (item.id for item in self.items if item.id not in excluded and item.id not in pin)
        shown = (by_slot.get(slot + 1) or next(others, None) for slot in range(self.slots))
        return tuple(item for item in shown if item is not None)

    def bias(self) -> Any:
        """λ per slot, or None where it is learned."""
        return (
            None
            if self.position_bias is None
            else validation.positive_vector("position_bias", self.position_bias, "slot")
        )

    def text(self) -> str:
        """As it is stored; the same definition is the same text."""
        return json.dumps(self.model_dump(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
