"""Strata of a log: segments and periods within a placement.

Everything that counts a log counts it by placement. So an impression is given to a stratum, a placement of its own that
names its segment and its period next to the page; added up, the tallies of a page's strata are that of the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir

from slotwise.core.errors import InvalidInput
from slotwise.logs.reading.columns import Strata
from slotwise.logs.reading.layout import SEGMENT, TIME
from slotwise.logs.reading.value_parsing import SEPARATOR

#: what a stratum's name is joined by: ASCII's record separator, which is in no name
JOINED = "\x1e"
#: more segments are not segments but visitors, queries or times
MAX_SEGMENTS = 200
#: of placements, segments and periods
MAX_STRATA = 20_000
MAX_PERIODS = 48
HOUR, DAY = 3_600.0, 86_400.0
#: how long a period may be, in seconds: the shortest that makes few enough of them
WIDTHS = (60.0, 600.0, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 28 * DAY, 84 * DAY, 364 * DAY)
#: numbers from here on are taken for seconds since 1970, as times are; a thousand times as large, for milliseconds
FIRST_TIME, THOUSAND = 1e8, 1e3
#: if this share of the impressions at either end extends a log by this factor, their times count as errors and
#: put into its first and its last period
STRAY, FAR = 0.001, 2.0


class LogStratum(NamedTuple):
    """A part of a log: a placement, a segment's values and a period, as far as the log has them."""

    placement: str | None
    segment: tuple[str, ...]
    period: int


@dataclass(frozen=True)
class TimePeriods:
    """Periods of equal length, one after the other."""

    #: when the first begins, and how long each is: in seconds, or in the column's own unit where it holds no times
    start: float
    width: float
    count: int
    is_time: bool

    @classmethod
    def between(cls, first: float, last: float) -> TimePeriods:
        """Few enough periods that hold both.

        >>> TimePeriods.between(1_790_000_000.0, 1_790_000_000.0 + 20 * DAY)
        TimePeriods(start=1789992000.0, width=43200.0, count=41, is_time=True)
        """
        if first < FIRST_TIME:
            width = (last - first) / MAX_PERIODS or 1.0
            return cls(first, width, MAX_PERIODS if last > first else 1, is_time=False)
        for width in (*WIDTHS, math.inf):
            start = math.floor(first / width) * width if math.isfinite(width) else first
            count = math.floor((last - start) / width) + 1
            if count <= MAX_PERIODS:
                break
        return cls(start, width, count, is_time=True)

    def at(self, period: Any) -> Any:
        """When a period begins, or each of several."""
        return self.start + period * self.width

    def name(self, period: float) -> str:
        """When a period begins, in words.

        >>> TimePeriods(1_790_000_000.0, DAY, 3, is_time=True).name(1)
        '22 September 2026'
        """
        when = self.at(period)
        if not self.is_time:
            return f"{when:.4g}"
        at = datetime.fromtimestamp(when, UTC)
        return f"{at.day} {at:%B %Y}" if self.width >= DAY else f"{at.day} {at:%B %Y, %H:%M}"

    def length_in_words(self, periods: float) -> str:
        """Return the length of a number of periods in words.

        >>> TimePeriods(0.0, DAY, 30, is_time=True).length_in_words(9)
        '9 days'
        >>> TimePeriods(0.0, DAY, 400, is_time=True).length_in_words(184)
        '180 days'
        """
        length = periods * self.width
        if not self.is_time:
            return f"{length:.3g} (as the column counts)"
        for unit, seconds in (("day", DAY), ("hour", HOUR), ("minute", 60.0)):
            if length >= 2 * seconds or unit == "minute":
                break
        return f"{float(f'{length / seconds:.2g}'):,.12g} {unit}s"


@dataclass(frozen=True)
class Stratified:
    """The strata of a log: segments and periods."""

    placed: bool
    segmented: bool
    periods: TimePeriods | None

    def stratum(self, name: str | None) -> LogStratum:
        """Return the stratum of a name."""
        placement, segment, period = str(name).split(JOINED)
        values = tuple(segment.split(SEPARATOR)) if self.segmented else ()
        return LogStratum(placement if self.placed else None, values, int(period))


def stratify(
    usable: ir.Table, keys: Sequence[str], strata: Strata, keep: Callable[[ir.Table], ir.Table]
) -> tuple[ir.Table, Stratified, int]:
    """Rows whose placement is their stratum, and how many impressions were left out because their time is not known.

    An impression was shown to one segment. Of the times of its rows the earliest counts: a click may be later.
    """
    questions: dict[str, ir.Value] = {}
    if strata.segment:
        questions |= {SEGMENT: usable[SEGMENT].min(), "other": usable[SEGMENT].max()}
    if strata.time is not None:
        questions[TIME] = usable[TIME].min()
    pages = keep(usable.group_by(list(keys)).aggregate(**questions))
    if strata.segment:
        _refuse_segments(pages, strata.segment)
    unknown, periods, scale = 0, None, 1.0
    if strata.time is not None:
        unknown = int(pages.count(where=pages[TIME].isnull()).to_pyarrow().as_py())
        periods, scale = _periods(pages, strata.time)
        pages = pages.filter(pages[TIME].notnull())
    stratum = [
        pages.placement if "placement" in keys else ibis.literal(""),
        pages[SEGMENT].fill_null("") if strata.segment else ibis.literal(""),
        ibis.literal("0") if periods is None else _number(pages[TIME] / scale, periods).cast("string"),
    ]
    named = keep(pages.select(*keys, slotwise_stratum=ibis.literal(JOINED).join(stratum)))
    stratified = Stratified("placement" in keys, bool(strata.segment), periods)
    count = int(named.slotwise_stratum.nunique().to_pyarrow().as_py())
    if count > MAX_STRATA:
        raise InvalidInput(
            f"placements, segments and periods must be at most {MAX_STRATA:,} together, got {count:,} with an "
            "impression: leave out the time, or take a segment of fewer values"
        )
    rows = usable.drop(*(name for name in (SEGMENT, TIME) if name in usable.columns)).join(named, list(keys))
    return rows.mutate(placement=rows.slotwise_stratum).drop("slotwise_stratum"), stratified, unknown


def _refuse_segments(pages: ir.Table, names: tuple[str, ...]) -> None:
    columns = " and ".join(names)
    differ = pages.filter(pages[SEGMENT] < pages.other)
    example = differ.select(SEGMENT, "other").limit(1).to_pyarrow().to_pylist()
    if example:
        first, two = (example[0][name].replace(SEPARATOR, ", ") for name in (SEGMENT, "other"))
        raise InvalidInput(f"{columns} must be the same in all rows of an impression, got {first!r} and {two!r} in one")
    count = int(pages[SEGMENT].nunique().to_pyarrow().as_py())
    if count > MAX_SEGMENTS:
        raise InvalidInput(
            f"{columns} must have at most {MAX_SEGMENTS} different values, like a device or a country, got {count:,}: "
            "name pages and queries with placement, and put numbers into ranges"
        )


def _periods(pages: ir.Table, name: str) -> tuple[TimePeriods, float]:
    """The periods of a log, and by what its times are to be divided."""
    when = pages[TIME]
    ends = {"first": when.min(), "last": when.max()}
    inner = {"usual_first": when.quantile(STRAY), "usual_last": when.quantile(1.0 - STRAY)}
    (limits,) = pages.aggregate(**ends, **inner).to_pyarrow().to_pylist()
    first, last = limits["first"], limits["last"]
    if first is None:
        raise InvalidInput(f"{name} is empty in all rows: is it the column of the times?")
    if last - first > FAR * (limits["usual_last"] - limits["usual_first"]):
        first, last = limits["usual_first"], limits["usual_last"]
    scale = 1.0
    while first / scale >= FIRST_TIME * THOUSAND:
        scale *= THOUSAND
    return TimePeriods.between(first / scale, last / scale), scale


def _number(when: ir.Value, periods: TimePeriods) -> ir.Value:
    """Which period a time is in."""
    return ((when - periods.start) / periods.width).floor().cast("int64").clip(0, periods.count - 1)
