"""The definition of a placement: its slots, items and options, and how they are validated."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from itertools import chain
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
from slotwise.core.goal import MAX_VALUE
from slotwise.core.policy_task import MAX_SEGMENTS, PolicyTask
from slotwise.core.types import FloatArray
from slotwise.service.schemas.item_schema import MAX_FEATURES, Finite, Item, ListedItem, Strict
from slotwise.service.schemas.name_rules import MAX_NAME, Name, appearance
from slotwise.service.schemas.segment_rules import MAX_COMBINATIONS, OTHER, VisitorSegments

MAX_ITEMS: Final = 100_000
MAX_SLOTS: Final = 100
#: candidates of a decision
MAX_CANDIDATES: Final = 1_000
#: items times slots: memory, and time that other placements wait, grow with it
MAX_PAIRS: Final = 2_000_000
#: position bias of one slot relative to another: beyond, sums in the posterior overflow
MIN_BIAS, MAX_BIAS = 1e-9, 1e9
MIN_WINDOW, MAX_WINDOW = 0.1, 30 * 86_400.0
#: hours
MIN_HALF_LIFE, MAX_HALF_LIFE = 1.0, 24 * 365 * 10.0
MIN_STICKY, MAX_STICKY = 1.0, 30 * 86_400.0
MAX_PER_VISITOR: Final = 1_000_000
#: names in a reward, and the days in which events are accepted
MAX_REWARDED: Final = 20
MAX_REWARD_DAYS: Final = 90
#: of an event: the sum over all events of a decision is a valid value of a click
MAX_EVENT_VALUE: Final = MAX_VALUE / 1_000
MAX_GUARDRAILS: Final = 20
MAX_URL: Final = 2_000

EXAMPLE: Final[dict[str, Any]] = {
    "slots": 3,
    "items": ["tea", "coffee", {"id": "beans", "value": 2.5}, "cocoa"],
    "window_seconds": 1800.0,
}


def _object_or(other: str) -> Discriminator:
    """Choose one of two types for a value, so that an error message is about that type alone."""
    return Discriminator(lambda value: "=object" if isinstance(value, dict | BaseModel) else other)


def _refusal(why: str) -> PydanticCustomError:
    """An error with this text, in which braces stay as they are."""
    return PydanticCustomError("definition", "{why}", {"why": why})


def _key_of_segments(key: str) -> str:
    if ":" in key:
        raise _refusal("must not contain a colon, which separates key and value in a request")
    return key


class FollowingWindow(Strict):
    """An outcome window that adapts to the delays of reported clicks."""

    at_most: Annotated[Finite, Field(ge=MIN_WINDOW, le=MAX_WINDOW)]
    """The maximum, in seconds, and the window until enough delays are known. 5 % of decisions always wait this long."""
    catch: Annotated[Finite, Field(ge=0.5, lt=1)] = 0.995
    """The share of the clicks within `at_most` that the window catches; it is the shortest such window from 60 s on."""


_Seconds = Annotated[Finite, Field(ge=MIN_WINDOW, le=MAX_WINDOW)]
Window = Annotated[
    Annotated[_Seconds, Tag("=number")] | Annotated[FollowingWindow, Tag("=object")], _object_or("=number")
]
_Hours = Annotated[Finite, Field(ge=MIN_HALF_LIFE, le=MAX_HALF_LIFE)]
HalfLifeHours = Annotated[
    Annotated[_Hours, Tag("=number")] | Annotated[Literal["auto"], Tag("=text")],
    Discriminator(lambda value: "=text" if isinstance(value, str) else "=number"),
]
Mode = Literal["live", "shadow", "held"]
_Worth = Annotated[Finite, Field(ge=0, le=MAX_EVENT_VALUE)]
Worth = Annotated[
    Annotated[_Worth, Tag("=number")] | Annotated[Literal["value"], Tag("=text")],
    Discriminator(lambda value: "=text" if isinstance(value, str) else "=number"),
]


class Guardrail(Strict):
    """An event whose rate per view in the learned arm must not fall below the holdout's."""

    metric: Name
    """The name of the guardrail, in alerts and in the list of changes."""
    event: Name
    """An event of the reward, or `click`."""
    worse_by: Annotated[Finite, Field(ge=0, lt=1)]
    """The part by which the rate may be lower; it is broken if the rate is lower by more with 95 % confidence."""
    then: Literal["alert", "control"] = "alert"
    """`alert` reports that it is broken; `control` also shows the control order to everybody, in the mode `held`."""


class PlacementDefinition(Strict):
    """A placement: a named place on a page with slots, items and a policy."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    slots: Annotated[int, Field(ge=1, le=MAX_SLOTS)]
    """The number of items shown at once."""
    items: Annotated[list[ListedItem], Field(min_length=1, max_length=MAX_ITEMS)]
    """Ids, or objects with an id and properties such as value, features and name; at least as many as slots."""
    policy: Annotated[str, StringConstraints(max_length=MAX_NAME)] | None = None
    """The id of a registered policy; null is the default."""
    window_seconds: Window = 1800.0
    """The outcome window, in seconds, or a window that adapts to delays; a decision is counted at its end."""
    holdout: Annotated[Finite, Field(ge=0, le=1)] = 0.0
    """The share of decisions that show the items in control order, the order of `items`, for comparison."""
    position_bias: (
        Annotated[list[Annotated[Finite, Field(ge=MIN_BIAS, le=MAX_BIAS)]], Field(max_length=MAX_SLOTS)] | None
    ) = None
    """The position bias, how visible each slot is; null if it is learned."""
    segments: dict[Annotated[Name, AfterValidator(_key_of_segments)], Annotated[list[Name], Field(min_length=1)]] = (
        Field(default={})
    )
    """Segments of visitors: for each key of a decision's `context`, the values that are distinguished."""
    half_life: HalfLifeHours | None = None
    """Hours after which a count weighs half as much. "auto" selects the number that predicts clicks best; null keeps
    the weight of all counts."""
    values: Literal["learned"] | None = None
    """Whether the value of a click is learned from reported values, for items that have no `value` of their own."""
    reward: Annotated[dict[Name, Worth], Field(min_length=1, max_length=MAX_REWARDED)] | None = None
    """Events and what each is worth: a number, or "value" for the value that the event brings. The event `click` is the
    click itself, worth 0 unless it is listed. Lists are then ranked by the learned worth of a click."""
    reward_days: Annotated[Finite, Field(ge=0, le=MAX_REWARD_DAYS)] = 0.0
    """Days from a decision until which its events are accepted; events until its deadline always are."""
    mode: Mode = "live"
    """`live` shows learned lists; `shadow` shows the items in control order, while the estimates report the list that
    would have been shown. `held` is set by a broken guardrail, and shows the control order."""
    guardrails: Annotated[list[Guardrail], Field(max_length=MAX_GUARDRAILS)] = Field(default=[])
    """Events whose rate per view is compared with the holdout's, all the time."""
    exploring: bool = True
    """Whether lists other than the best one are tried; if false, everybody sees the best list. Clicks still count."""
    alert_url: Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL)] | None = None
    """The webhook that gets signed alerts about this placement; null for none."""
    pin: dict[str, Annotated[int, Field(ge=1, le=MAX_SLOTS)]] = Field(default={})
    """Items to the slots in which everybody sees them, counted from 1; pins of a decision request take precedence."""
    new_items_at_most: Annotated[Finite, Field(gt=0, le=1)] | None = None
    """The cold-start cap: the share of slots for items without a counted outcome; null leaves it to the policy."""
    sticky_seconds: Annotated[Finite, Field(ge=MIN_STICKY, le=MAX_STICKY)] | None = None
    """How long a decision's `visitor` sees the same list; null for a new list in each view."""

    max_items: Annotated[int, Field(ge=1, le=MAX_ITEMS)] | None = None
    """How many items are learned that only the candidates of decisions name. If there are more, those seen least are
    dropped. null if candidates must be items of the placement."""
    per_visitor_hour: Annotated[int, Field(ge=1, le=MAX_PER_VISITOR)] | None = None
    """How many decisions of one `visitor` in an hour are learned from; further ones are counted as `capped` only. null
    for no cap."""
    per_network_hour: Annotated[int, Field(ge=1, le=MAX_PER_VISITOR)] | None = None
    """The same for the decisions of one network: an IPv4 `address`, or an IPv6 network of size /64. null for no cap."""

    @model_validator(mode="before")
    @classmethod
    def _check_renamed(cls, document: object) -> object:
        if isinstance(document, dict):
            if "memory" in document:
                raise _refusal("memory is no field: set half_life to a number of hours, 'auto' or null")
            if document.get("mode") == "frozen":
                raise _refusal("mode must be 'live' or 'shadow', got 'frozen': set exploring to false instead")
        return document

    @model_validator(mode="after")
    def _fits(self) -> Self:
        items, pairs = len(self.items), self.columns * self.slots
        if items < self.slots:
            raise _refusal(f"slots must be at most the number of items, {items}, got {self.slots}")
        if pairs > MAX_PAIRS:
            raise _refusal(f"{self._columns_text} times slots must be at most {MAX_PAIRS}, got {pairs}")
        seen = dict[str, str]()
        for item in self.items:
            look = appearance(item.id)
            if look in seen:
                other = "twice" if seen[look] == item.id else f"and {seen[look]!a}, which look the same"
                raise _refusal(f"items must be different, got {item.id!a} {other}")
            seen[look] = item.id
        if self.position_bias is not None and len(self.position_bias) != self.slots:
            given = len(self.position_bias)
            raise _refusal(f"position_bias must have one entry per slot, {self.slots}, got {given}")
        self._check_pins(set(seen.values()))
        self._check_segments()
        self._check_features()
        self._check_policy()
        self._check_guardrails()
        if self.reward_days and self.reward is None:
            raise _refusal(f"reward_days must be omitted without a reward, got {self.reward_days:g}")
        return self

    def _check_guardrails(self) -> None:
        metrics = [guardrail.metric for guardrail in self.guardrails]
        for guardrail in self.guardrails:
            if not 0.0 < self.holdout < 1.0:
                raise _refusal(
                    f"guardrails: {guardrail.metric!r} needs a holdout to compare with, got {self.holdout:g}"
                )
            if guardrail.event not in {"click", *(self.reward or ())}:
                raise _refusal(
                    f"guardrails: {guardrail.metric!r} must have an event of the reward, got {guardrail.event!r}"
                )
            if metrics.count(guardrail.metric) > 1:
                raise _refusal(f"guardrails must have different metrics, got {guardrail.metric!r} twice")

    def _check_policy(self) -> None:
        # imported here: policies need the compiler, and readers of the schema need no policies
        from slotwise.ranker.policy_options import check_served, policy_for

        try:
            policy = policy_for(self.policy, self.bias())
            check_served(policy, PolicyTask(self.slots, len(self.items), 1, self.bias(), rules_per_decision=True))
            if self.half_life is not None and policy.options.get("half_life") not in (None, "none"):
                raise InvalidInput(f"half_life must be null if the policy has a half-life of its own, as {policy} does")
        except SlotwiseError as problem:
            raise _refusal(str(problem)) from problem

    def _check_pins(self, items: Collection[str]) -> None:
        for item in self.pin:
            if item not in items:
                raise _refusal(f"pin must name items of the placement, got {item!r}")
        try:
            validation.pins("pin", self.pin, first=1, last=self.slots)
        except InvalidInput as error:
            raise _refusal(str(error)) from error

    def _check_segments(self) -> None:
        for key, values in self.segments.items():
            if OTHER in values:
                raise _refusal(
                    f"segments: {OTHER!r} is reserved for values that are not listed, got it under the key {key!r}"
                )
            if len(set(values)) < len(values):
                raise _refusal(f"segments: the values of a key must be different, got one twice under the key {key!r}")
        listed = math.prod(len(values) for values in self.segments.values())
        combinations = len(VisitorSegments(self.segments))
        for kind, most, given in (
            ("of the values that are listed", MAX_COMBINATIONS, listed),
            ("with other as one more value of each key", MAX_SEGMENTS, combinations),
        ):
            if given > most:
                raise _refusal(f"segments must have at most {most} combinations {kind}, got {given}")
        cells = combinations * self.columns * self.slots
        if combinations > 1 and cells > MAX_PAIRS:
            raise _refusal(f"{self._columns_text} times slots times segments must be at most {MAX_PAIRS}, got {cells}")

    def _check_features(self) -> None:
        kinds: dict[str, tuple[bool, str]] = {}
        for item in self.items:
            for name, value in item.features.items():
                is_text, first = kinds.setdefault(name, (isinstance(value, str), item.id))
                try:
                    check_value(f"the feature {name!r} of {item.id!r}", value, is_text, f"that of {first!r} is")
                except InvalidInput as error:
                    raise _refusal(str(error)) from error
        if len(kinds) > MAX_FEATURES:
            raise _refusal(f"items must have at most {MAX_FEATURES} different features, got {len(kinds)}")

    @property
    def columns(self) -> int:
        """The most columns that a learner has: of items, of candidate items, and of new candidates of a decision."""
        return len(self.items) + (0 if self.max_items is None else 2 * self.max_items + MAX_CANDIDATES)

    @property
    def _columns_text(self) -> str:
        return "items" if self.max_items is None else f"items and twice max_items and {MAX_CANDIDATES}"

    @property
    def longest_window(self) -> float:
        """The maximum number of seconds that a decision waits for its outcome."""
        return self.window_seconds.at_most if isinstance(self.window_seconds, FollowingWindow) else self.window_seconds

    @property
    def learns_values(self) -> bool:
        """Whether the value of a click is learned, from reported values or from rewarded events."""
        return self.values == "learned" or self.reward is not None

    def item(self, id: str) -> Item | None:
        """The item with this id, or None."""
        return next((item for item in self.items if item.id == id), None)

    def pinned(
        self, exclude: Collection[str], pin: Mapping[str, int], candidates: Collection[str] | None = None
    ) -> Mapping[str, int]:
        """The pins of a decision: the request's, and those of the definition that do not conflict with it."""
        if not (exclude or pin or candidates):
            return self.pin
        taken = set(pin.values())
        pins = {
            i: slot
            for i, slot in self.pin.items()
            if i not in exclude and i not in pin and slot not in taken and (candidates is None or i in candidates)
        }
        return {**pins, **pin}

    def control_list(
        self,
        exclude: Collection[str],
        pin: Mapping[str, int],
        candidates: Collection[str] | None = None,
        candidate_items: Collection[str] = (),
    ) -> tuple[str, ...]:
        """The items in control order, the order of the definition, as far as the constraints allow.

        Candidate items follow, in the order of the request.

        >>> PlacementDefinition(slots=3, items=["a", "b", "c", "d"]).control_list(exclude=["a"], pin={"d": 1})
        ('d', 'b', 'c')
        """
        by_slot = {slot: item for item, slot in pin.items()}
        excluded, only = {*exclude, *pin}, None if candidates is None else set(candidates)
        own = (item.id for item in self.items if only is None or item.id in only)
        others = (item for item in chain(own, candidate_items) if item not in excluded)
        shown = (by_slot.get(slot + 1) or next(others, None) for slot in range(self.slots))
        return tuple(item for item in shown if item is not None)

    def bias(self) -> FloatArray | None:
        """The position bias λ per slot, or None if it is learned."""
        return (
            None
            if self.position_bias is None
            else validation.positive_vector("position_bias", self.position_bias, "slot")
        )

    def text(self) -> str:
        """The definition as it is stored; equal definitions have equal texts."""
        return json.dumps(self.model_dump(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
