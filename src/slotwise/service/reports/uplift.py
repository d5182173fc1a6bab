"""Does it pay: what the learned lists bring against the holdout, as a document."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypedDict, Unpack

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.reports.ab_test import MIN_CLICKS, MIN_VALUES, HoldoutStratum, Interval, Sums, compare
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import ArmDocument, IntervalDocument, RatioDocument, UpliftDocument
from slotwise.service.schemas.timestamps import rfc3339, seconds_of
from slotwise.service.storage import Store
from slotwise.service.storage.count_rows import LAST, ArmCounts, CountPeriod, ItemClicks
from slotwise.service.storage.decision_types import DAY, HOUR, Arm
from slotwise.service.storage.placements_table import Change

#: the newest changes of a definition that are looked through for a change of the share
MAX_CHANGES: Final = 10_000
_PERIOD: Final = re.compile(r"([1-9][0-9]{0,3})([hdw])", re.ASCII)
_SECONDS: Final = {"h": HOUR, "d": DAY, "w": 7 * DAY}
_ARMS: Final[tuple[Arm, ...]] = ("learned", "holdout")

Measure = Literal["click_rate", "value_per_view"]


class AskedSpan(TypedDict, total=False):
    """Two times, or a period that has just ended, as people write them; None is the same as nothing."""

    since: str | None
    until: str | None
    period: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """A time, in seconds since 1970, of which the hours that begin in it count; without an end where it is None."""

    since: float | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInput(f"since must be before until, got {rfc3339(self.since)} and {rfc3339(self.until)}")

    @classmethod
    def asked(cls, now: float, **asked: Unpack[AskedSpan]) -> Span:
        """Between two times as people write them, or the last hours, days or weeks.

        >>> Span.asked(0.0, since="1970-01-02"), Span.asked(30 * 86_400.0, period="7d")
        (Span(since=86400.0, until=None), Span(since=1987200.0, until=None))
        """
        since, until, period = asked.get("since"), asked.get("until"), asked.get("period")
        if period is None:
            return cls(
                None if since is None else seconds_of("since", since),
                None if until is None else seconds_of("until", until),
            )
        if since is not None or until is not None:
            raise InvalidInput(f"period must be given without since and until, got {validation.short(period)}")
        found = _PERIOD.fullmatch(period)
        if found is None:
            raise InvalidInput(f"period must be like 24h, 7d or 4w, got {validation.short(period)}")
        return cls(max(0.0, now - int(found[1]) * _SECONDS[found[2]]))


ALWAYS: Final = Span()


class UpliftEvidence(NamedTuple):
    """What the store knows of both arms in a time."""

    span: Span
    arms: Sequence[ArmCounts]
    #: where items have values and no outcome brought one
    clicks: Sequence[ItemClicks]
    #: when the share of the holdout was changed
    changed: Sequence[float]
    #: by item, where any has one
    values: Mapping[str, float]


def read_evidence(
    store: Store,
    name: str,
    definition: PlacementDefinition,
    span: Span = ALWAYS,
    wanted: Callable[[str], bool] | None = None,
) -> UpliftEvidence:
    """From the store, of all segments or of those that are wanted."""
    since = 0 if span.since is None else math.ceil(span.since)
    until = LAST if span.until is None else math.ceil(span.until)
    by_segment = wanted is not None

    def is_wanted(row: ArmCounts | ItemClicks) -> bool:
        # what was counted before hours were told apart is of no time in particular
        return (wanted is None or wanted(row.segment)) and (row.period.hours > 0 or span == ALWAYS)

    arms = [*filter(is_wanted, store.arm_counts(name, since, until, by_segment=by_segment))]
    values = {item.id: item.value for item in definition.items if item.value is not None}
    clicks: list[ItemClicks] = []
    if values and not _bring_values(arms):
        clicks = [*filter(is_wanted, store.item_clicks(name, since, until, by_segment=by_segment))]
    return UpliftEvidence(span, arms, clicks, _changes_of_share(store.changes(name, MAX_CHANGES)), values)


def uplift(evidence: UpliftEvidence) -> UpliftDocument | None:
    """What is compared is what outcomes brought; else the values of the items that were clicked; else the clicks.

    None until both arms have something final.

    >>> hour = CountPeriod(0)
    >>> arms = [ArmCounts(hour, "", "learned", 60, 140, 0.0, 0.0), ArmCounts(hour, "", "holdout", 20, 80, 0.0, 0.0)]
    >>> found = uplift(UpliftEvidence(ALWAYS, arms, [], [], {}))
    >>> found["measure"], found["learned"]["click_rate"], round(found["difference"], 3), round(found["low"], 3)
    ('click_rate', 0.3, 0.1, -0.001)
    """
    clicks = {arm: _clicks(row for row in evidence.arms if row.arm == arm) for arm in _ARMS}
    if not all(sums.views for sums in clicks.values()):
        return None
    measure = measure_of(evidence)
    of_clicks = measure == "click_rate"
    strata = _strata(evidence)
    found = compare(strata, least=MIN_CLICKS if of_clicks else MIN_VALUES, both_ways=of_clicks)
    difference, ratio = found.difference, found.ratio
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
        "difference": found.learned - found.holdout if found.views else values["learned"].mean - values["holdout"].mean,
        "low": None if difference is None else difference.plain.low,
        "high": None if difference is None else difference.plain.high,
        "anytime": None if difference is None else _interval(difference.anytime),
        "ratio": None
        if ratio is None
        else RatioDocument(estimate=ratio.estimate, **_interval(ratio.plain), anytime=_interval(ratio.anytime)),
        "too_early": found.too_early,
    }


def measure_of(evidence: UpliftEvidence) -> Measure:
    """What is compared."""
    return "value_per_view" if evidence.values or _bring_values(evidence.arms) else "click_rate"


def _bring_values(arms: Iterable[ArmCounts]) -> bool:
    return any(row.squares for row in arms)


def _changes_of_share(changes: Iterable[Change]) -> list[float]:
    return sorted(change.time for change in changes if "holdout" in json.loads(change.what or "{}").get("fields", {}))


def views_by_period(evidence: UpliftEvidence) -> Iterator[tuple[CountPeriod, Arm, Sums]]:
    """What the views of each arm in each period brought, in the measure that is compared."""
    worth: dict[tuple[CountPeriod, str, Arm], Sums] = defaultdict(Sums)
    for on in evidence.clicks:
        value = evidence.values.get(on.item, 1.0)
        worth[on.period, on.segment, on.arm] += Sums(0, on.clicks * value, on.clicks * value**2)
    brings_values = _bring_values(evidence.arms)
    for row in evidence.arms:
        views = row.clicked + row.no_click
        if not views:
            continue
        if brings_values:
            yield row.period, row.arm, Sums(views, row.value, row.squares)
        elif not evidence.values:
            yield row.period, row.arm, Sums.of_clicks(views, row.clicked)
        elif row.period.hours:
            yield row.period, row.arm, Sums(views) + worth[row.period, row.segment, row.arm]
        # which items were clicked in which arm was not kept before there were hours


def _strata(evidence: UpliftEvidence) -> list[HoldoutStratum]:
    """Together what was issued under one share; a period in which it was changed is one of its own."""
    sums: dict[tuple[int, int | None], dict[Arm, Sums]] = defaultdict(lambda: dict.fromkeys(_ARMS, Sums()))
    for period, arm, brought in views_by_period(evidence):
        if arm in _ARMS:
            sums[_share(period, evidence.changed)][arm] += brought
    return [HoldoutStratum(arms["learned"], arms["holdout"]) for arms in sums.values()]


def _share(period: CountPeriod, changed: Sequence[float]) -> tuple[int, int | None]:
    """Which of the shares it was issued under, by number; and its start, where that changed meanwhile."""
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


def _interval(interval: Interval) -> IntervalDocument:
    return {"low": interval.low, "high": None if interval.high == math.inf else interval.high}
