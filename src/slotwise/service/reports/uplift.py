"""The uplift of the learned lists over the holdout, in numbers and in one sentence; `ab_test.py` has the intervals."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypedDict, Unpack

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.reports.ab_test import (
    MIN_CLICKS,
    MIN_VALUES,
    ComparedNumber,
    HoldoutStratum,
    Interval,
    Sums,
    compare,
    merge_small,
)
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import ArmDocument, IntervalDocument, RatioDocument, UpliftDocument
from slotwise.service.schemas.segment_rules import VisitorSegments
from slotwise.service.schemas.timestamps import rfc3339, seconds_of
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import LAST, ArmCounts, CountPeriod, ItemClicks
from slotwise.service.storage.decision_types import DAY, HOUR, Arm
from slotwise.service.storage.placements_table import Change

#: the newest changes of a definition, searched for changes of the holdout share
MAX_CHANGES: Final = 10_000
_PERIOD: Final = re.compile(r"([1-9][0-9]{0,3})([hdw])", re.ASCII)
_SECONDS: Final = {"h": HOUR, "d": DAY, "w": 7 * DAY}
#: segments that the uplift is adjusted for: with more, reading them costs more than it gains
MAX_ADJUSTED: Final = 50
#: ratios from here on are written as a multiple, and smaller ones in per cent
TWICE: Final = 2.0
_ARMS: Final[tuple[Arm, ...]] = ("learned", "holdout")

#: the length of a period in hours, the time of day of its start, and its start
_Time = tuple[int, int, int]
Measure = Literal["click_rate", "value_per_view"]


class SpanTexts(TypedDict, total=False):
    """Two times as text, or the length of a period that ends now; None is the same as missing."""

    since: str | None
    until: str | None
    period: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """A time span in seconds since 1970; hours that begin in it count. None for no bound."""

    since: float | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInput(f"since must be before until, got {rfc3339(self.since)} and {rfc3339(self.until)}")

    @classmethod
    def parse(cls, now: float, **texts: Unpack[SpanTexts]) -> Span:
        """A span from two times as text, or from a number of hours, days or weeks up to now.

        >>> Span.parse(0.0, since="1970-01-02"), Span.parse(30 * 86_400.0, period="7d")
        (Span(since=86400.0, until=None), Span(since=1987200.0, until=None))
        """
        since, until, period = texts.get("since"), texts.get("until"), texts.get("period")
        if period is None:
            return cls(
                None if since is None else seconds_of("since", since),
                None if until is None else seconds_of("until", until),
            )
        if since is not None or until is not None:
            raise InvalidInput(f"period must be given without since and until, got {validation.short(period)}")
        match = _PERIOD.fullmatch(period)
        if match is None:
            raise InvalidInput(f"period must be like 24h, 7d or 4w, got {validation.short(period)}")
        return cls(max(0.0, now - int(match[1]) * _SECONDS[match[2]]))


ALWAYS: Final = Span()


class UpliftEvidence(NamedTuple):
    """The counts of both arms in a time span."""

    span: Span
    arms: Sequence[ArmCounts]
    #: clicks by item, if items have values and no outcome does
    clicks: Sequence[ItemClicks]
    #: times of changes of the holdout share
    changed: Sequence[float]
    #: values of items that have one
    values: Mapping[str, float]
    #: the most clicks of a view
    slots: int = 1


def read_evidence(
    store: Store,
    name: str,
    definition: PlacementDefinition,
    span: Span = ALWAYS,
    wanted: Callable[[str], bool] | None = None,
) -> UpliftEvidence:
    """Read the counts of all segments, or of those for which `wanted` is true; by segment unless there are many."""
    since = 0 if span.since is None else math.ceil(span.since)
    until = LAST if span.until is None else math.ceil(span.until)
    by_segment = wanted is not None or len(VisitorSegments(definition.segments)) <= MAX_ADJUSTED

    def is_wanted(row: ArmCounts | ItemClicks) -> bool:
        # counts from before there were periods belong to no span
        return (wanted is None or wanted(row.segment)) and (row.period.hours > 0 or span == ALWAYS)

    arms = [*filter(is_wanted, store.arm_counts(name, since, until, by_segment=by_segment))]
    values = {item.id: item.value for item in definition.items if item.value is not None}
    clicks: list[ItemClicks] = []
    if values and not _have_values(arms):
        clicks = [*filter(is_wanted, store.item_clicks(name, since, until, by_segment=by_segment))]
    return UpliftEvidence(
        span, arms, clicks, changes_of_share(store.changes(name, MAX_CHANGES)), values, definition.slots
    )


def uplift(evidence: UpliftEvidence) -> UpliftDocument | None:
    """The uplift in reported values; otherwise in values of the clicked items; otherwise in clicks.

    None until both arms have final decisions.

    >>> hour = CountPeriod(0)
    >>> arms = [ArmCounts(hour, "", "learned", 60, 140, 0.0, 0.0), ArmCounts(hour, "", "holdout", 20, 80, 0.0, 0.0)]
    >>> document = uplift(UpliftEvidence(ALWAYS, arms, [], [], {}))
    >>> document["measure"], document["learned"]["click_rate"], round(document["difference"], 3)
    ('click_rate', 0.3, 0.1)
    """
    clicks = {arm: _clicks(row for row in evidence.arms if row.arm == arm) for arm in _ARMS}
    if not all(sums.views for sums in clicks.values()):
        return None
    measure = measure_of(evidence)
    of_clicks = measure == "click_rate"
    strata = strata_of(evidence)
    comparison = compare(strata, min_size=MIN_CLICKS if of_clicks else MIN_VALUES, both_ways=of_clicks)
    difference, ratio = comparison.difference, comparison.ratio
    values = {
        "learned": sum((stratum.learned for stratum in strata), Sums()),
        "holdout": sum((stratum.holdout for stratum in strata), Sums()),
    }
    return {
        "measure": measure,
        "since": None if evidence.span.since is None else rfc3339(evidence.span.since),
        "until": None if evidence.span.until is None else rfc3339(evidence.span.until),
        "learned": _arm(clicks["learned"], None if of_clicks else values["learned"]),
        "holdout": _arm(clicks["holdout"], None if of_clicks else values["holdout"]),
        "difference": comparison.learned - comparison.holdout
        if comparison.views
        else values["learned"].mean - values["holdout"].mean,
        "low": None if difference is None else difference.plain.low,
        "high": None if difference is None else difference.plain.high,
        "anytime": None if difference is None else _interval(difference.anytime),
        "ratio": None if ratio is None else ratio_document(ratio),
        "too_early": comparison.too_early,
    }


def measure_of(evidence: UpliftEvidence) -> Measure:
    """The measure that is compared."""
    return "value_per_view" if evidence.values or _have_values(evidence.arms) else "click_rate"


def _have_values(arms: Iterable[ArmCounts]) -> bool:
    return any(row.squares for row in arms)


def changes_of_share(changes: Iterable[Change]) -> list[float]:
    """The times at which the holdout share changed, in order."""
    return sorted(change.time for change in changes if "holdout" in json.loads(change.what or "{}").get("fields", {}))


def views_by_period(evidence: UpliftEvidence) -> Iterator[tuple[CountPeriod, str, Arm, Sums]]:
    """The sums by period, segment and arm, in the measure that is compared."""
    values: dict[tuple[CountPeriod, str, Arm], Sums] = defaultdict(Sums)
    clicks: Counter[tuple[CountPeriod, str, Arm]] = Counter()
    largest: dict[tuple[CountPeriod, str, Arm], float] = defaultdict(float)
    for row in evidence.clicks:
        key, value = (row.period, row.segment, row.arm), evidence.values.get(row.item, 1.0)
        values[key] += Sums(0, row.clicks * value, row.clicks * value**2)
        clicks[key] += row.clicks
        largest[key] = max(largest[key], value)
    have_values = _have_values(evidence.arms)
    for counts in evidence.arms:
        views = counts.clicked + counts.no_click
        # value without views comes from events of decisions whose hour was merged into its day
        if not views and not counts.squares:
            continue
        if have_values:
            yield counts.period, counts.segment, counts.arm, Sums(views, counts.value, counts.squares)
        elif not evidence.values:
            yield counts.period, counts.segment, counts.arm, Sums.of_clicks(views, counts.clicked)
        elif counts.period.hours:
            key = counts.period, counts.segment, counts.arm
            # the square of m values of one view has m(m - 1) products more, each at most the largest value squared
            products = evidence.slots * max(0, clicks[key] - counts.clicked)
            yield *key, Sums(views) + values[key] + Sums(0, 0.0, products * largest[key] ** 2)
        # counts from before there were periods do not know which item was clicked in which arm


def strata_of(evidence: UpliftEvidence) -> list[HoldoutStratum]:
    """Strata of one holdout share, one segment and one hour of the day; small ones are merged in this order."""
    by_share: dict[tuple[int, int | None], dict[str, dict[_Time, HoldoutStratum]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(HoldoutStratum))
    )
    for period, segment, arm, views in views_by_period(evidence):
        if arm in _ARMS:
            times = by_share[_share(period, evidence.changed)][segment]
            times[period.hours, period.start % DAY, period.start] += HoldoutStratum(**{arm: views})
    return [
        stratum
        for segments in by_share.values()
        for stratum in merge_small([of for _, of in sorted(times.items())] for _, times in sorted(segments.items()))
    ]


def _share(period: CountPeriod, changed: Sequence[float]) -> tuple[int, int | None]:
    """The number of the share that a period has, and the period's start if the share changed during it."""
    if period.hours == 0:
        return 0, period.start
    end = period.start + period.hours * HOUR
    before = sum(time <= period.start for time in changed)
    return before, period.start if any(period.start < time < end for time in changed) else None


def _clicks(rows: Iterable[ArmCounts]) -> Sums:
    return sum((Sums.of_clicks(row.clicked + row.no_click, row.clicked) for row in rows), Sums())


def _arm(clicks: Sums, values: Sums | None) -> ArmDocument:
    return {
        "shown": clicks.views,
        "clicks": round(clicks.total),
        "click_rate": clicks.mean,
        "value_per_view": None if values is None else values.mean,
    }


def ratio_document(ratio: ComparedNumber) -> RatioDocument:
    """The ratio of two means with its intervals."""
    return RatioDocument(estimate=ratio.estimate, **_interval(ratio.plain), anytime=_interval(ratio.anytime))


def _interval(interval: Interval) -> IntervalDocument:
    return {"low": interval.low, "high": None if interval.high == math.inf else interval.high}


def pays(uplift: UpliftDocument | None, holdout: float) -> str:
    """The meaning of the comparison of the learned lists with the holdout, by the anytime-valid interval.

    Parameters
    ----------
    uplift
        The comparison; None if an arm has no final decisions.
    holdout
        The holdout share of the placement.
    """
    if uplift is None:
        if holdout == 0.0:
            return "Not measured: there is no holdout to compare with."
        return "Not known yet: both the learned lists and the holdout need counted views in this period."
    # the page that shows it refreshes by itself
    interval = uplift["anytime"]
    if interval is None:
        return f"Too early: {uplift['too_early']}."
    if interval["low"] > 0.0:
        return f"Positive: the learned lists bring {_more(uplift)}."
    if interval["high"] is not None and interval["high"] < 0.0:
        return f"Negative: the learned lists bring {_less(uplift)}."
    return "Not clear: the interval of the difference includes zero."


def _more(uplift: UpliftDocument) -> str:
    """The gain over the holdout: in per cent, or as a multiple from 2 on."""
    of_clicks = uplift["measure"] == "click_rate"
    what = "clicks per view" if of_clicks else "value per view"
    if uplift["ratio"] is None:
        return f"more {what}"
    times = uplift["ratio"]["estimate"]
    if times >= TWICE:
        return f"{times:.1f} times as {'many' if of_clicks else 'much'} {what}"
    return f"{100.0 * (times - 1.0):.2g} % more {what}"


def _less(uplift: UpliftDocument) -> str:
    less, what = ("fewer", "clicks per view") if uplift["measure"] == "click_rate" else ("less", "value per view")
    if uplift["ratio"] is None:
        return f"{less} {what}"
    return f"{100.0 * (1.0 - uplift['ratio']['estimate']):.2g} % {less} {what}"
