"""Types of the JSON documents of the dashboard; OpenAPI describes them."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from slotwise.service.schemas.definition import Mode
from slotwise.service.schemas.item_schema import ItemLabel
from slotwise.service.schemas.report_schemas import (
    CURRENT_EXAMPLE,
    ITEM_EXAMPLE,
    ChangeDocument,
    CurrentDecisions,
    RatioDocument,
    SegmentCounts,
    ShadowDocument,
    UpliftDocument,
    closed,
)

StateKind = Literal["nothing_yet", "guardrail", "one_item", "quiet", "changed", "too_early", "close", "settled"]
Level = Literal["fine", "look", "unknown"]
CheckId = Literal[
    "waiting", "late", "silent", "repeated", "capped", "candidates", "several", "fresh", "fit", "drift", "half_life"
]
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
    """The learning status of a placement, in one sentence."""

    kind: StateKind
    """The state: see `sentence`."""
    sentence: str
    more: str | None
    """A second sentence with details, or null."""
    since: str | None
    """Start of the state: since when the list has been best, there have been no views, or visitors have changed."""
    views_needed: int | None
    """The estimated number of further views until the list is settled, if clicks continue as before."""


@with_config(closed())
class GuardrailDocument(TypedDict):
    """A guardrail and its verdict."""

    metric: str
    event: str
    worse_by: float
    then: Literal["alert", "control"]
    state: Literal["holds", "unclear", "broken"]
    """By the anytime-valid interval of the ratio: above the bound, around it, or below it."""
    sentence: str
    learned: float
    """Views with the event as a share of the views of the learned arm, since the mode was last changed."""
    holdout: float
    ratio: RatioDocument | None
    """The learned arm's rate divided by the holdout's; null if it is too early."""
    too_early: str | None
    """The reason if there is no ratio."""


@with_config(
    closed(
        {
            "name": "home",
            **_STATE,
            "views": 331,
            "click_rate": 0.175,
            "uplift": None,
            "last_active": "2026-11-16T08:00:00.000Z",
        }
    )
)
class NamedState(StateDocument):
    """The learning status of a placement, with its name and the numbers of a list of placements."""

    name: str
    views: int
    """Counted views since the start."""
    click_rate: float | None
    """The share of the views with a click; null without views."""
    uplift: UpliftDocument | None
    """Since the start; null until both arms have final decisions."""
    last_active: str | None
    """Start of the last hour in which a decision was issued, or of the last day; null if none was in 90 days."""


@with_config(closed())
class SlotNow(TypedDict):
    """The item of the best list in a slot."""

    slot: int
    """Counted from 1."""
    item: str
    pinned: bool
    """Whether the placement's definition pins it there."""
    probability: float | None
    """The probability that the best list has this item in this slot; null before anything was counted."""
    runner_up: str | None
    """The second most probable item of this slot; null if there is none."""
    runner_up_probability: float | None


@with_config(closed())
class ItemNow(TypedDict):
    """The estimate of an item; null before it was shown."""

    id: str
    attractiveness: float | None
    """Expected clicks on the item in the first slot per view without a click; null if it was never shown."""
    low: float | None
    high: float | None
    """With `low`, the 95 % credible interval of the attractiveness."""
    value: float | None
    """The value of a click, given or learned; null if the placement has no values."""
    probability_in_best_list: float | None
    """Null before anything was counted."""
    shown: int
    clicks: int


@with_config(closed())
class SlotBias(TypedDict):
    """The position bias of a slot; null before the slot was filled."""

    slot: int
    bias: float | None
    """How visible the slot is, relative to the first one unless the position bias is given; null if never filled."""
    low: float | None
    high: float | None
    given: bool
    """Whether the position bias is given rather than learned."""
    shown: int
    clicks: int
    observed: float | None
    """Clicks per view of the slot."""
    fitted: float | None
    """The same by the model; null if it is not compared."""


@with_config(closed())
class Check(TypedDict):
    """One health check."""

    id: CheckId
    level: Level
    """`fine`, `look` if it needs attention, or `unknown` if there is not enough data."""
    sentence: str
    advice: str | None
    """Advice if it needs attention, otherwise null."""


@with_config(closed())
class OverviewCounts(CurrentDecisions):
    """Numbers of decisions by outcome, and of missing, repeated and conflicting outcomes."""

    silent: int
    """Decisions of `no_click` without a report."""
    duplicates: int
    conflicts: int


_ITEM: Final = {**ITEM_EXAMPLE, "value": None}


@with_config(
    closed(
        {
            "name": "home",
            "version": 2,
            "mode": "live",
            "exploring": True,
            "slots": 1,
            "item_count": 2,
            "holdout": 0.0,
            "window_seconds": 1800.0,
            "segments": {"device": ["mobile", "desktop"]},
            "segment": [],
            "state": _STATE,
            "guardrails": [],
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
            "labels": {"tea": {"name": "Green tea"}},
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
            "checks": [
                {
                    "id": "late",
                    "level": "fine",
                    "sentence": "2 of 370 decisions had an outcome too late.",
                    "advice": None,
                }
            ],
            "shadow": None,
            "half_life": None,
            "last_active": "2026-11-16T08:00:00.000Z",
        }
    )
)
class OverviewDocument(TypedDict):
    """The overview of a placement for its owner."""

    name: str
    version: int
    mode: Mode
    exploring: bool
    slots: int
    item_count: int
    holdout: float
    window_seconds: float
    """The current outcome window."""
    segments: dict[str, list[str]]
    segment: list[str]
    """The segment filters of this overview, each KEY:VALUE; empty for all segments."""
    state: StateDocument
    """Over all segments, also if a segment is given."""
    guardrails: list[GuardrailDocument]
    uplift: UpliftDocument | None
    """Since the start; null until both arms have final decisions."""
    uplift_in_period: UpliftDocument | None
    """Over `period` only."""
    pays: str
    """The uplift in one sentence."""
    pays_in_period: str
    period: str
    best_list: list[SlotNow]
    items: list[ItemNow]
    """The most relevant items: the current list, then by probability of belonging to it, then by attractiveness."""
    labels: dict[str, ItemLabel]
    """By id: names, addresses and pictures of the listed items and of runners-up that have any."""
    position_bias: list[SlotBias]
    decisions: OverviewCounts
    by_segment: list[SegmentCounts]
    """The segments with most decisions."""
    checks: list[Check]
    """Health checks, over all segments."""
    shadow: ShadowDocument | None
    half_life: float | None
    last_active: str | None
    """Start of the last hour in which a decision was issued, or of the last day; null if none was in 90 days."""


@with_config(closed({"items": [_ITEM], "labels": {}, "found": 1, "of": 2}))
class ItemsPage(TypedDict):
    """A page of search results, the most relevant items first."""

    items: list[ItemNow]
    labels: dict[str, ItemLabel]
    """By id: names, addresses and pictures of the items that have any."""
    found: int
    """The number of matching items."""
    of: int
    """The number of items of the placement."""


@with_config(closed())
class ArmLine(TypedDict):
    """The means of an arm by period; null in periods without views."""

    shown: list[int]
    clicks: list[int]
    mean: list[float | None]
    """The mean of the measure."""
    low: list[float | None]
    high: list[float | None]
    """With `low`, the 95 % confidence interval of each period."""


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
    """The history by column, in UTC, for charts."""

    by: Literal["hour", "day"]
    since: str
    until: str
    starts: list[str]
    """Starts of the periods in which a decision was issued, in order; each list below has an entry for each of them."""
    measure: Measure
    issued: list[int]
    arms: dict[str, ArmLine]
    items: list[str]
    """The items that were shown most in this time."""
    shows: list[list[list[int]]]
    """By slot, and by item of `items`: how often it was shown there."""
    rest: list[list[int]]
    """By slot: how often another item was shown there."""
    probabilities: list[list[float | None]]
    """By item of `items`: its probability of being in the best list at the end of the period; null if not stored."""
    changes: list[ChangeDocument]
    """Changes of the definition, in order."""
