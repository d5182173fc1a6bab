"""What the dashboard shows, as documents: each type here is written by the worker, and described by OpenAPI."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from slotwise.service.schemas.definition import Mode
from slotwise.service.schemas.report_schemas import (
    CURRENT_EXAMPLE,
    ITEM_EXAMPLE,
    ChangeDocument,
    CurrentDecisions,
    MemoryDocument,
    SegmentCounts,
    ShadowDocument,
    UpliftDocument,
    closed,
)

StateKind = Literal["nothing_yet", "one_item", "quiet", "changed", "too_early", "close", "settled"]
Level = Literal["fine", "look", "unknown"]
Measure = Literal["click_rate", "value_per_view"]

_STATE: Final = {
    "kind": "settled",
    "sentence": "Settled: this list has been best for 3 days.",
    "more": None,
    "since": "2026-11-13T08:00:00.000Z",
    "views_needed": None,
}


@with_config(closed())
class StateDocument(TypedDict):
    """How it stands with a placement, in one sentence."""

    kind: StateKind
    """By the rules in docs/dashboard.md."""
    sentence: str
    more: str | None
    """A second sentence, where there is more to say."""
    since: str | None
    """Since when the list has been best, there have been no views, or something has been different."""
    views_needed: int | None
    """About how many more views it takes until the list is settled, if they go on as before."""


@with_config(closed({"name": "home", **_STATE}))
class NamedState(StateDocument):
    """The state of a placement."""

    name: str


@with_config(closed())
class SlotNow(TypedDict):
    """What the best list has in a slot."""

    slot: int
    """Counted from 1."""
    item: str
    pinned: bool
    """Whether it is there because the placement says so."""
    probability: float | None
    """That the best list has this item in this slot; null before anything was counted."""
    runner_up: str | None
    """The item that is next most likely to belong there; null where none is likely at all."""
    runner_up_probability: float | None


@with_config(closed())
class ItemNow(TypedDict):
    """What is known of an item; what rests on nothing yet is null."""

    id: str
    attractiveness: float | None
    """What the item is worth in the first slot: clicks on it per visit without a click; null if it was never shown."""
    low: float | None
    high: float | None
    """With `low`, an interval that holds the attractiveness with a probability of 95 %."""
    value: float | None
    """What a click is worth, given or learned; null where nothing is said of values."""
    probability_in_best_list: float | None
    """Null before anything was counted."""
    shown: int
    clicks: int


@with_config(closed())
class SlotBias(TypedDict):
    """What is known of a slot; what rests on nothing yet is null."""

    slot: int
    bias: float | None
    """How visible the slot is, relative to the first one unless the position bias was given; null if never filled."""
    low: float | None
    high: float | None
    given: bool
    """Whether the position bias was given rather than learned."""
    shown: int
    clicks: int
    observed: float | None
    """Clicks per view of the slot."""
    fitted: float | None
    """What the model makes of the same; null where it is not compared."""


@with_config(closed())
class Check(TypedDict):
    """One thing that was looked at."""

    id: Literal["waiting", "late", "silent", "repeated", "several", "fresh", "fit", "drift", "memory"]
    level: Level
    """Whether all is well, somebody should have a look, or it is not known yet."""
    sentence: str


@with_config(closed())
class OverviewCounts(CurrentDecisions):
    """How many decisions came to what, and how often outcomes were missing, repeated or contradicted."""

    silent: int
    """Of `no_click`, those about which nothing was reported."""
    duplicates: int
    conflicts: int


_ITEM: Final = {**ITEM_EXAMPLE, "value": None}


@with_config(
    closed(
        {
            "name": "home",
            "version": 2,
            "mode": "live",
            "slots": 1,
            "item_count": 2,
            "holdout": 0.0,
            "window_seconds": 1800.0,
            "segments": {"device": ["mobile", "desktop"]},
            "segment": [],
            "state": _STATE,
            "uplift": None,
            "uplift_in_period": None,
            "pays": "Not measured: there is no holdout to compare with.",
            "pays_in_period": "Not measured: there is no holdout to compare with.",
            "period": "7d",
            "best_list": [
                {
                    "slot": 1,
                    "item": "tea",
                    "pinned": False,
                    "probability": 0.97,
                    "runner_up": "cocoa",
                    "runner_up_probability": 0.03,
                }
            ],
            "items": [_ITEM],
            "position_bias": [
                {
                    "slot": 1,
                    "bias": 1.0,
                    "low": 1.0,
                    "high": 1.0,
                    "given": False,
                    "shown": 331,
                    "clicks": 58,
                    "observed": 0.175,
                    "fitted": 0.174,
                }
            ],
            "decisions": {**CURRENT_EXAMPLE, "silent": 12, "duplicates": 1, "conflicts": 0},
            "by_segment": [],
            "checks": [{"id": "late", "level": "fine", "sentence": "2 of 370 decisions had an outcome too late."}],
            "shadow": None,
            "memory": None,
        }
    )
)
class OverviewDocument(TypedDict):
    """What the owner of a placement wants to know, in one document."""

    name: str
    version: int
    mode: Mode
    slots: int
    item_count: int
    holdout: float
    window_seconds: float
    """How long decisions wait now."""
    segments: dict[str, list[str]]
    segment: list[str]
    """The visitors that this is about, each KEY:VALUE; empty for everybody."""
    state: StateDocument
    """Of everybody, whichever segment was asked for."""
    uplift: UpliftDocument | None
    """Since the start; null until both the learned lists and the holdout have something final."""
    uplift_in_period: UpliftDocument | None
    """Over `period` alone."""
    pays: str
    """What that means, in one sentence."""
    pays_in_period: str
    period: str
    best_list: list[SlotNow]
    items: list[ItemNow]
    """The most relevant ones: the list now, then those that are likeliest to belong to it, then the most attractive."""
    position_bias: list[SlotBias]
    decisions: OverviewCounts
    by_segment: list[SegmentCounts]
    """Those with most decisions."""
    checks: list[Check]
    """Whether all is well; of everybody."""
    shadow: ShadowDocument | None
    memory: MemoryDocument | None


@with_config(closed({"items": [_ITEM], "found": 1, "of": 2}))
class ItemsPage(TypedDict):
    """Items that were searched for, the most relevant first."""

    items: list[ItemNow]
    found: int
    """How many there are that match."""
    of: int
    """How many items the placement has."""


@with_config(closed())
class ArmLine(TypedDict):
    """What an arm brought in each period; null where it had no views."""

    shown: list[int]
    clicks: list[int]
    mean: list[float | None]
    """Of the measure."""
    low: list[float | None]
    high: list[float | None]
    """With `low`, the 95 % interval of each period by itself."""


@with_config(
    closed(
        {
            "by": "day",
            "since": "2026-11-15T00:00:00.000Z",
            "until": "2026-11-16T00:00:00.000Z",
            "starts": ["2026-11-15T00:00:00.000Z"],
            "measure": "click_rate",
            "issued": [370],
            "arms": {
                "learned": {"shown": [331], "clicks": [58], "mean": [0.175], "low": [0.138], "high": [0.22]},
            },
            "items": ["tea", "cocoa"],
            "shows": [[[190], [175]]],
            "rest": [[5]],
            "probabilities": [[0.97], [0.03]],
            "changes": [],
        }
    )
)
class TimelineDocument(TypedDict):
    """What happened when, by column, in UTC: the same as the history, made for drawing."""

    by: Literal["hour", "day"]
    since: str
    until: str
    starts: list[str]
    """Of the periods in which a decision was issued, in order; each list below has an entry for each of them."""
    measure: Measure
    issued: list[int]
    arms: dict[str, ArmLine]
    items: list[str]
    """Those that were shown most in this time."""
    shows: list[list[list[int]]]
    """By slot, and by item of `items`: how often it was shown there."""
    rest: list[list[int]]
    """By slot: how often another item was shown there."""
    probabilities: list[list[float | None]]
    """By item of `items`: that it belongs to the best list, as was believed at the end; null where it was not kept."""
    changes: list[ChangeDocument]
    """Of the definition, in order."""
