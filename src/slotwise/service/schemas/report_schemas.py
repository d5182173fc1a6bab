"""Types of the JSON documents that report on a placement; OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, with_config
from pydantic.config import JsonValue

# pydantic supports the one in `typing` from Python 3.12 on
from typing_extensions import TypedDict


def closed(*examples: Mapping[str, object]) -> ConfigDict:
    """The configuration of a type with no other fields, each described by the text below it."""
    extra: ConfigDict = {"json_schema_extra": {"examples": cast("list[JsonValue]", list(examples))}} if examples else {}
    return {"extra": "forbid", "use_attribute_docstrings": True, **extra}


@with_config(closed())
class ItemEstimateDocument(TypedDict):
    """The estimate of one item."""

    id: str
    attractiveness: float
    """The attractiveness: expected clicks on the item in the first slot per view without a click."""
    low: float
    high: float
    """With `low`, the 95 % credible interval of the attractiveness."""
    probability_in_best_list: float
    shown: int
    clicks: int


@with_config(closed())
class SlotEstimateDocument(TypedDict):
    """The estimated position bias of one slot."""

    slot: int
    """Counted from 1."""
    estimate: float
    """How visible the slot is, relative to the first one unless the position bias is given."""
    low: float
    high: float


@with_config(closed())
class TallyDocument(TypedDict):
    """Counts of final decisions by slot and item, including retired items."""

    items: list[str]
    """The item of each column."""
    clicks: list[list[int]]
    """A row per slot, a column per item."""
    passes: list[list[int]]
    """How often the item was in the slot of a list without a click; a row per slot, a column per item."""


@with_config(closed())
class DecisionCounts(TypedDict):
    """Numbers of decisions by outcome."""

    issued: int
    final: int
    """Past their deadline: the sum of `clicked`, `no_click`, `not_shown` and `capped`."""
    pending: int
    """Waiting for their deadline."""
    clicked: int
    no_click: int
    not_shown: int
    capped: int
    """Decisions beyond the hourly cap of their visitor or network, which are not learned from."""
    late: int
    """Decisions with an outcome after their deadline, which is ignored."""
    several: int
    """Decisions of `clicked` with clicks on several items. A large share suggests misfit."""
    value: float
    """The sum of the reported values of clicks."""


@with_config(closed())
class CurrentDecisions(DecisionCounts):
    """Numbers of decisions by outcome, including reported outcomes that are not counted yet."""

    reported: int
    """Decisions of `pending` with an outcome, which is counted at the deadline; over all segments."""
    reported_until: str | None
    """The first deadline of the reported decisions; null if there is none."""


@with_config(closed())
class SegmentCounts(TypedDict):
    """Numbers of decisions of one segment."""

    segment: dict[str, str]
    """The segment's context; a key that is left out is *other*."""
    decisions: DecisionCounts


@with_config(closed())
class ArmDocument(TypedDict):
    """Outcomes of one arm."""

    shown: int
    clicks: int
    click_rate: float
    value_per_view: float | None
    """Null if neither items nor outcomes have values."""


@with_config(closed())
class IntervalDocument(TypedDict):
    """A 95 % confidence interval."""

    low: float
    high: float | None
    """Null if there is no upper bound."""


@with_config(closed())
class RatioDocument(TypedDict):
    """The mean of the learned arm divided by the mean of the holdout."""

    estimate: float
    low: float
    high: float | None
    """With `low`, the fixed-horizon interval; null if it has no upper bound, because the holdout's mean may be 0."""
    anytime: IntervalDocument


@with_config(closed())
class UpliftDocument(TypedDict):
    """The uplift: learned lists compared with the holdout."""

    measure: Literal["click_rate", "value_per_view"]
    """The measure that is compared."""
    since: str | None
    until: str | None
    """With `since`, the period of the compared decisions; null for no bound."""
    learned: ArmDocument
    holdout: ArmDocument
    difference: float
    """Difference in means, stratified by holdout share; differs from the raw difference if the share changed."""
    low: float | None
    high: float | None
    """With `low`, the 95 % fixed-horizon confidence interval: valid for one look at a time chosen beforehand."""
    anytime: IntervalDocument | None
    """A 95 % confidence sequence: valid at any stopping time."""
    ratio: RatioDocument | None
    too_early: str | None
    """The reason if there is no interval yet."""


@with_config(closed())
class ModelCheckDocument(TypedDict):
    """The test of whether slots act alike on all items, and what was done."""

    is_tested: bool
    """Whether enough clicks are on items that were in several slots."""
    is_wrong: bool
    """Whether they do not. Lists and intervals then account for effects of pairs of slot and item."""
    evidence: float
    """How many times likelier the counts are with effects of pairs than without; above 100 the model is wrong."""
    spread: float
    """The typical relative effect of a pair; 0 if the model is not wrong."""
    sentence: str


COUNTS_EXAMPLE: Final = {
    "issued": 370,
    "final": 365,
    "pending": 5,
    "clicked": 58,
    "no_click": 273,
    "not_shown": 34,
    "capped": 0,
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
    "half_life": 72.0,
    "model_check": {
        "is_tested": True,
        "is_wrong": False,
        "evidence": 0.4,
        "spread": 0.0,
        "sentence": "No sign that slots act differently on different items.",
    },
    "candidate_items": {"learned": 0, "dropped": 0},
}


@with_config(closed(_EXAMPLE))
class EstimatesDocument(TypedDict):
    """Estimates, counts and uplift of a placement."""

    items: list[ItemEstimateDocument]
    position_bias: list[SlotEstimateDocument]
    tally: TallyDocument
    best_list: list[str]
    """The list with the highest expected value, the first slot first."""
    decisions: CurrentDecisions
    by_segment: list[SegmentCounts]
    """Every segment with decisions; one entry if the placement has no segments."""
    window_seconds: float
    """The current outcome window."""
    uplift: UpliftDocument | None
    """Null until both arms have final decisions."""
    shadow: ShadowDocument | None
    """Null unless the placement's mode is `shadow`."""
    half_life: float | None
    """Hours after which a count weighs half as much in the estimates. Null if counts keep their weight, also by the
    choice of "auto"."""
    model_check: ModelCheckDocument
    candidate_items: CandidateItemCounts


@with_config(closed({"learned": 120, "dropped": 0}))
class CandidateItemCounts(TypedDict):
    """Items that only candidates of decisions name."""

    learned: int
    """Those that the placement knows now."""
    dropped: int
    """Those that were seen least when there were more than `max_items`; their counts were deleted."""


@with_config(closed())
class Expectation(TypedDict):
    """The expected value of a view, with its 95 % credible interval."""

    estimate: float
    low: float
    high: float


@with_config(closed())
class ShadowDocument(TypedDict):
    """The list that would be shown if the placement were live, and its expected value under the current posterior."""

    would_show: list[str]
    """The best list."""
    shows: list[str]
    """The items in control order."""
    measure: Literal["click_rate", "value"]
    """The measure of a view: the click rate, or the value of a click if items have different values."""
    would_bring: Expectation
    brings: Expectation
    difference: Expectation
    """The expected gain. Both lists are evaluated on the same posterior draws, so it is more certain than either."""


@with_config(closed())
class FieldChange(TypedDict):
    """A changed field of a definition."""

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
    """The version after the change, which is also the placement's ETag, in quotation marks."""
    time: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    fields: dict[str, FieldChange]
    """Changed fields other than the items; empty in the change that created the placement."""
    added: ChangedItems
    retired: ChangedItems
    changed: ChangedItems
    """Items with another value or other features."""
    reordered: bool
    """Whether the order of the remaining items changed."""
    reason: NotRequired[str]
    """The reason of a change that the service made by itself, such as a broken guardrail."""


@with_config(closed())
class ShowsDocument(TypedDict):
    """How often items were shown and clicked, in lists that were seen."""

    items: list[str]
    """The item of each column."""
    shows: list[list[int]]
    """A row per slot, a column per item."""
    clicks: list[list[int]]
    """A row per slot, a column per item."""


@with_config(closed())
class EstimatesSummary(TypedDict):
    """Summary of the estimates over all segments at the end of a period."""

    best_list: list[str]
    probabilities: dict[str, float]
    """Probabilities of belonging to the best list, of at least 1 %."""


@with_config(closed())
class PeriodDocument(TypedDict):
    """Outcomes of the decisions that were issued in a period."""

    start: str
    hours: int
    """1, 24, or 0 for all counts before `start`, which are not known by hour."""
    decisions: DecisionCounts
    by_arm: dict[str, DecisionCounts]
    by_segment: list[SegmentCounts]
    shown: ShowsDocument
    at_the_end: EstimatesSummary | None
    """Null if it was not stored: no worker was running, or nothing was counted."""


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
    """Outcomes by period, in UTC."""

    by: Literal["hour", "day"]
    since: str
    until: str
    periods: list[PeriodDocument]
    """Periods in which a decision was issued, in order."""
    changes: list[ChangeDocument]
    """Changes of the definition, in order."""


@with_config(closed())
class FieldProblem(TypedDict):
    """An error in one field."""

    field: str
    detail: str
    value: NotRequired[str]
    """The value, shortened if it is long; left out for tokens."""
