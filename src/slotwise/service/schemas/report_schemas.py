"""What a worker answers with where the answer is a document: the types that are written, and that OpenAPI describes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config

# pydantic reads the one in `typing` from Python 3.12 on only
from typing_extensions import TypedDict


def closed(*examples: Any) -> ConfigDict:
    """A type with these fields and no others, each described by the text below it."""
    extra: ConfigDict = {"json_schema_extra": {"examples": list(examples)}} if examples else {}
    return {"extra": "forbid", "use_attribute_docstrings": True, **extra}


@with_config(closed())
class ItemEstimateDocument(TypedDict):
    """What is known of one item."""

    id: str
    attractiveness: float
    """What the item is worth in the first slot: clicks on it per visit without a click."""
    low: float
    high: float
    """With `low`, an interval that holds the attractiveness with a probability of 95 %."""
    probability_in_best_list: float
    shown: int
    clicks: int


@with_config(closed())
class SlotEstimateDocument(TypedDict):
    """What is known of one slot."""

    slot: int
    """Counted from 1."""
    estimate: float
    """How visible the slot is, relative to the first one unless the position bias was given."""
    low: float
    high: float


@with_config(closed())
class TallyDocument(TypedDict):
    """The counts of final decisions, retired items included."""

    items: list[str]
    """What each column is of."""
    clicks: list[list[int]]
    """A row per slot, a column per item."""
    passes: list[list[int]]
    """How often the item stood in the slot and nothing was clicked; a row per slot, a column per item."""


@with_config(closed())
class DecisionCounts(TypedDict):
    """How many decisions came to what."""

    issued: int
    final: int
    """Past their deadline, and counted: `clicked`, `no_click` and `not_shown` together."""
    pending: int
    """Waiting for their deadline."""
    clicked: int
    no_click: int
    not_shown: int
    late: int
    """With an outcome after their deadline, which is never learned."""
    several: int
    """Of `clicked`, those with clicks on more than one item; the first counts. If many, the model may not fit."""
    value: float
    """What the clicks brought, where that was reported."""


@with_config(closed())
class CurrentDecisions(DecisionCounts):
    """How many decisions came to what, and what is on its way."""

    reported: int
    """Of `pending`, those with an outcome: it arrived, and is counted at the deadline; of everybody's decisions."""
    reported_until: str | None
    """When the first of these is counted; null where there is none."""


@with_config(closed())
class SegmentCounts(TypedDict):
    """What became of the decisions for some visitors."""

    segment: dict[str, str]
    """What is known of them; a key that is left out is other."""
    decisions: DecisionCounts


@with_config(closed())
class ArmDocument(TypedDict):
    """What came of the decisions of one arm."""

    shown: int
    clicks: int
    click_rate: float
    value_per_view: float | None
    """Null where neither the items have values nor outcomes brought any."""


@with_config(closed())
class IntervalDocument(TypedDict):
    """It holds the true value with a probability of 95 %."""

    low: float
    high: float | None
    """Null where there is no upper end."""


@with_config(closed())
class RatioDocument(TypedDict):
    """What the learned lists bring, divided by what the holdout brings."""

    estimate: float
    low: float
    high: float | None
    """With `low`, the plain interval; null where it has no upper end, because the holdout may bring nothing."""
    anytime: IntervalDocument


@with_config(closed())
class UpliftDocument(TypedDict):
    """What the learned lists bring against the holdout."""

    measure: Literal["click_rate", "value_per_view"]
    """What is compared."""
    since: str | None
    until: str | None
    """With `since`, the time of which decisions are compared; null where it has no such end."""
    learned: ArmDocument
    holdout: ArmDocument
    difference: float
    """Of the measure, at times of the same holdout: not that of the averages above where the share has changed."""
    low: float | None
    high: float | None
    """With `low`, the plain interval: it holds the difference with 95 % for who looks once, at a time chosen before."""
    anytime: IntervalDocument | None
    """An interval that may be looked at every day: with 95 % all of them hold, whenever one stops looking."""
    ratio: RatioDocument | None
    too_early: str | None
    """Why there is no interval yet."""


COUNTS_EXAMPLE: Final = {
    "issued": 370,
    "final": 365,
    "pending": 5,
    "clicked": 58,
    "no_click": 273,
    "not_shown": 34,
    "late": 2,
    "several": 3,
    "value": 0.0,
}
ITEM_EXAMPLE: Final = {
    "id": "tea",
    "attractiveness": 0.31,
    "low": 0.22,
    "high": 0.44,
    "probability_in_best_list": 0.97,
    "shown": 190,
    "clicks": 41,
}
CURRENT_EXAMPLE: Final = {**COUNTS_EXAMPLE, "reported": 1, "reported_until": "2026-11-16T02:48:12.089Z"}
_EXAMPLE: Final = {
    "items": [
        ITEM_EXAMPLE,
        {
            "id": "cocoa",
            "attractiveness": 0.12,
            "low": 0.07,
            "high": 0.2,
            "probability_in_best_list": 0.4,
            "shown": 175,
            "clicks": 17,
        },
    ],
    "position_bias": [{"slot": 1, "estimate": 1.0, "low": 1.0, "high": 1.0}],
    "tally": {"items": ["tea", "cocoa"], "clicks": [[41, 17]], "passes": [[132, 141]]},
    "decisions": CURRENT_EXAMPLE,
    "best_list": ["tea"],
    "by_segment": [],
    "window_seconds": 1800.0,
    "uplift": None,
    "shadow": None,
    "memory": {"half_life_hours": 72.0},
}


@with_config(closed(_EXAMPLE))
class EstimatesDocument(TypedDict):
    """What is known of a placement."""

    items: list[ItemEstimateDocument]
    position_bias: list[SlotEstimateDocument]
    tally: TallyDocument
    best_list: list[str]
    """The list that is expected to bring most, the first slot first."""
    decisions: CurrentDecisions
    by_segment: list[SegmentCounts]
    """Of all that there are decisions for; one where the placement tells nobody apart."""
    window_seconds: float
    """How long decisions wait now."""
    uplift: UpliftDocument | None
    """Null until both the learned lists and the holdout have something final."""
    shadow: ShadowDocument | None
    """Null unless the placement is in the shadow."""
    memory: MemoryDocument | None
    """How fast counts fade on which attractiveness and position bias rest; null where the placement has no memory."""


@with_config(closed())
class MemoryDocument(TypedDict):
    """How fast counts fade."""

    half_life_hours: float | None
    """After so many hours a count weighs half as much; null where "auto" has found that nothing should fade."""


@with_config(closed())
class Expectation(TypedDict):
    """What is expected of a view, with an interval of 95 %."""

    estimate: float
    low: float
    high: float


@with_config(closed())
class ShadowDocument(TypedDict):
    """What would be shown if the placement were live, and what that would bring, by what is believed now."""

    would_show: list[str]
    """The best list."""
    shows: list[str]
    """The items as given."""
    measure: Literal["click_rate", "value"]
    """What is expected of a view: a click, or its value where clicks on some items are worth more than on others."""
    would_bring: Expectation
    brings: Expectation
    difference: Expectation
    """What would be gained; both lists are judged by the same draws, so it is known better than either."""


@with_config(closed())
class FieldChange(TypedDict):
    """A field of a definition that changed."""

    before: Any
    after: Any


@with_config(closed())
class ChangedItems(TypedDict):
    """Items that a change concerns."""

    count: int
    items: list[str]
    """Their ids, the first hundred."""


_NO_ITEMS: Final = {"count": 0, "items": []}


CHANGE: Final = {
    "version": 2,
    "time": "2026-11-16T02:18:12.089Z",
    "fields": {"holdout": {"before": 0.0, "after": 0.1}},
    "added": {"count": 1, "items": ["milk"]},
    "retired": _NO_ITEMS,
    "changed": _NO_ITEMS,
    "reordered": False,
}


@with_config(closed(CHANGE))
class ChangeDocument(TypedDict):
    """One change of a placement's definition."""

    version: int
    """The version that it made, which is also the placement's ETag, in quotation marks."""
    time: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    fields: dict[str, FieldChange]
    """All that changed but the items; empty in the change that created the placement."""
    added: ChangedItems
    retired: ChangedItems
    changed: ChangedItems
    """Items that have another value or other features."""
    reordered: bool
    """Whether the items that stayed are in another order."""


@with_config(closed())
class ShowsDocument(TypedDict):
    """How often items were shown and clicked, where somebody saw the list."""

    items: list[str]
    """What each column is of."""
    shows: list[list[int]]
    """A row per slot, a column per item."""
    clicks: list[list[int]]
    """A row per slot, a column per item."""


@with_config(closed())
class Believed(TypedDict):
    """What was believed of everybody at the end of a period."""

    best_list: list[str]
    probabilities: dict[str, float]
    """Of belonging to the best list, where that is at least 1 %."""


@with_config(closed())
class PeriodDocument(TypedDict):
    """What became of the decisions that were issued in a period."""

    start: str
    hours: int
    """1, 24, or 0 for all that was before `start`: of that nothing is known by hour."""
    decisions: DecisionCounts
    by_arm: dict[str, DecisionCounts]
    by_segment: list[SegmentCounts]
    shown: ShowsDocument
    at_the_end: Believed | None
    """Null where it was not kept: nothing ran, or nothing was counted."""


@with_config(
    closed(
        {
            "by": "day",
            "since": "2026-11-15T00:00:00.000Z",
            "until": "2026-11-16T00:00:00.000Z",
            "periods": [
                {
                    "start": "2026-11-15T00:00:00.000Z",
                    "hours": 24,
                    "decisions": COUNTS_EXAMPLE,
                    "by_arm": {"learned": COUNTS_EXAMPLE},
                    "by_segment": [{"segment": {"device": "mobile"}, "decisions": COUNTS_EXAMPLE}],
                    "shown": {"items": ["cocoa", "tea"], "shows": [[175, 190]], "clicks": [[17, 41]]},
                    "at_the_end": {"best_list": ["tea"], "probabilities": {"tea": 0.97, "cocoa": 0.03}},
                }
            ],
            "changes": [],
        }
    )
)
class HistoryDocument(TypedDict):
    """What happened when, in UTC."""

    by: Literal["hour", "day"]
    since: str
    until: str
    periods: list[PeriodDocument]
    """Those in which a decision was issued, in order."""
    changes: list[ChangeDocument]
    """In order."""


@with_config(closed())
class FieldProblem(TypedDict):
    """What is wrong with one field."""

    field: str
    detail: str
    value: NotRequired[str]
    """As it was given, cut where it is long; a token is not repeated."""
