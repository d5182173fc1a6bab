"""The figures of a fitted log, by segment and over time too."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.core.plotting import PALETTE, bare, new_figure
from slotwise.core.types import FloatArray, IntArray
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.time_drift import TimeDrift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: how many items are drawn: of the best, and of the worst
BEST, WORST = 30, 5
#: an item without a click that may be worth more than this many times the best is as good as unknown
UNTOLD = 2.0
MAX_NAME = 28
#: the number of items and segments in a figure, and of items over time
ITEMS, SEGMENTS, LINES = 12, 5, 4
BLUE = PALETTE[0]
#: readable on a light and on a dark page
GREY, PALE = "0.5", 0.3


def overview(fit: Fit) -> Figure:
    """Slots on the left, items on the right."""
    drawn = new_figure(13, max(4.2, 1.3 + 0.24 * min(len(fit.item_ids), BEST + WORST)))
    left, right = drawn.subplots(1, 2)
    _draw_slots(left, fit)
    _draw_items(right, fit)
    if fit.placement is not None:
        drawn.suptitle(_shortened(fit.placement, 80))
    return drawn


def observed_and_fitted(goodness: LogGoodnessOfFit) -> Figure:
    """Click rate by slot, observed and fitted, and the same for each pair of slot and item."""
    drawn = new_figure(11, 4.2)
    by_slot, by_pair = drawn.subplots(1, 2)
    slots = np.arange(1, len(goodness.observed) + 1)
    by_slot.bar(slots, 100 * goodness.fitted, width=0.7, color=GREY, alpha=PALE, label="fitted")
    error = 196 * goodness.standard_error
    by_slot.errorbar(slots, 100 * goodness.observed, yerr=error, fmt="o", ms=5, color=BLUE, capsize=3, label="observed")
    by_slot.set(xlabel="slot", ylabel="impressions that clicked it, %")
    _slot_ticks(by_slot, len(slots))
    by_slot.set_ylim(bottom=0)
    by_slot.legend(frameon=False)
    bare(by_slot)
    if len(goodness.clicks):
        path = np.geomspace(0.8 * goodness.expected.min(), 1.25 * goodness.expected.max(), 100)
        band = 1.96 / np.sqrt(path)
        by_pair.fill_between(path, -band, band, color=GREY, alpha=PALE, linewidth=0, label="within chance")
        off = goodness.clicks / goodness.expected - 1.0
        by_pair.scatter(goodness.expected, off, s=14, color=BLUE, alpha=0.7, linewidths=0, zorder=3)
        _log_scale(by_pair, "{x:,.0f}")
        far = 1.15 * float(np.abs(np.append(off, band[0])).max())
        by_pair.set_ylim(-min(1.05, far), far)
        by_pair.legend(frameon=False, loc="upper right")
    by_pair.axhline(0.0, color=GREY, linewidth=1)
    by_pair.set(xlabel="clicks fitted, by slot and item", ylabel="clicks observed, relative to fitted")
    by_pair.yaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f} %")
    bare(by_pair)
    return drawn


def by_segment(fit: Fit) -> Figure:
    """Draw the attractiveness of the best items in the largest segments."""
    largest = sorted(fit.segments.items(), key=lambda pair: -pair[1].impressions)[:SEGMENTS]
    order = np.argsort(-fit.estimate.attractiveness, kind="stable")[:ITEMS]
    drawn = new_figure(9, 1.2 + 0.3 * len(order))
    axes = drawn.subplots()
    for number, (name, segment) in enumerate(largest):
        place = {id: item for item, id in enumerate(segment.item_ids)}
        limits = segment.estimate.intervals(LEVEL).attractiveness
        shift = 0.7 * ((number + 0.5) / len(largest) - 0.5)
        shared = [(row, place[fit.item_ids[item]]) for row, item in enumerate(order) if fit.item_ids[item] in place]
        rows = np.array([row for row, _ in shared]) + shift
        items = np.array([item for _, item in shared], np.int64)
        colour = PALETTE[number]
        axes.hlines(rows, limits.low[items], limits.high[items], color=colour, linewidth=2, alpha=0.45)
        axes.plot(segment.estimate.attractiveness[items], rows, "o", color=colour, markersize=5, label=_shortened(name))
    axes.set_yticks(np.arange(len(order)), [_shortened(fit.item_ids[item]) for item in order], fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("attractiveness: clicks on it in slot 1, per impression without a click")
    _log_scale(axes, "{x:g}")
    axes.legend(frameon=False, fontsize="small", loc="lower right")
    bare(axes)
    return drawn


def over_time(changes: TimeDrift) -> Figure:
    """The click rate, and the attractiveness of items that changed, or else of those with most clicks."""
    drawn = new_figure(9, 4.4)
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    periods = changes.periods
    when: Any = [periods.at(period + 0.5) for period in range(periods.count)]
    if periods.is_time:
        when = [datetime.fromtimestamp(at, UTC) for at in when]
    with np.errstate(invalid="ignore", divide="ignore"):
        above.plot(when, 100 * changes.clicked / changes.impressions, "o-", color=GREY, markersize=3, linewidth=1)
    above.set(ylabel="clicked, %")
    above.set_ylim(bottom=0)
    bare(above)
    ids = list(changes.item_ids)
    moved = [ids.index(changed.item) for changed in changes.moved[:LINES]]
    shown = moved or np.argsort(-changes.clicks.sum(axis=0), kind="stable")[:LINES].tolist()
    for number, item in enumerate(shown):
        rate, low, high = changes.rate(item)
        colour = PALETTE[number]
        below.plot(when, rate, "o-", color=colour, markersize=3, linewidth=1.2, label=_shortened(ids[item]))
        below.fill_between(when, low, high, color=colour, alpha=0.15, linewidth=0)
    _end_at_the_points(below, changes, shown)
    below.set(ylabel="attractiveness", xlabel="" if periods.is_time else "time, as the column counts it")
    below.legend(frameon=False, fontsize="small", loc="upper left")
    bare(below)
    if periods.is_time:
        _name_dates(below)
    return drawn


def _draw_slots(axes: Axes, fit: Fit) -> None:
    interval = fit.estimate.intervals(LEVEL).position_bias
    slots = np.arange(1, fit.slots + 1)
    top = _draw_intervals(axes, slots, fit.estimate.position_bias, interval.low, interval.high)
    axes.axhline(1.0, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(xlabel="slot", ylabel="position bias: clicks relative to slot 1")
    axes.set_ylim(0, top)
    _slot_ticks(axes, fit.slots)
    bare(axes)


def _draw_items(axes: Axes, fit: Fit) -> None:
    alpha, decided = fit.estimate.attractiveness, fit.shrunken.attractiveness
    interval = fit.estimate.intervals(LEVEL).attractiveness
    # by the estimate that a decision would be made on: an item seen twice and clicked once is not the best
    order = np.argsort(-decided, kind="stable")
    # too few data on the others to draw them next to these
    is_known = (alpha > 0) | (interval.high < UNTOLD * np.nanmax(np.where(np.isfinite(alpha), alpha, 0.0), initial=0.0))
    order = order[(is_known & np.isfinite(interval.high))[order]]
    unknown, left_out = len(alpha) - len(order), max(0, len(order) - BEST - WORST)
    if left_out:
        order = np.concatenate([order[:BEST], order[-WORST:]])
    places = np.arange(len(order))[::-1].astype(np.float64)
    if left_out:
        places[:BEST] += 1.0
        between = f"… {left_out:,} items between …"
        axes.text(0.02, WORST, between, va="center", color=GREY, transform=axes.get_yaxis_transform())
    low, high, middle = interval.low[order], interval.high[order], alpha[order]
    clicked = middle > 0
    left = 0.8 * float(np.concatenate([low[clicked], high[~clicked] / 10.0]).min(initial=decided.min()))
    axes.hlines(places, np.maximum(low, left), high, color=BLUE, linewidth=2, alpha=0.45)
    axes.plot(middle[clicked], places[clicked], "o", color=BLUE, markersize=5, label="as seen in the log")
    if fit.shrunken is not fit.estimate:
        axes.plot(decided[order], places, "|", color="black", markersize=9, label="to decide on")
        axes.legend(frameon=False, fontsize="small", loc="lower right")
    axes.set_yticks(places, [_shortened(fit.item_ids[item]) for item in order], fontsize="small")
    label = "attractiveness: clicks on it in slot 1, per impression without a click"
    axes.set_xlabel(label + (f"\n({unknown:,} items of which too little is known are not drawn)" * (unknown > 0)))
    _log_scale(axes, "{x:g}")
    axes.set_xlim(left=left)
    axes.set_ylim(-0.8, places.max(initial=0.0) + 0.8)
    bare(axes)


def _draw_intervals(axes: Axes, places: IntArray, middle: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Points with upright intervals, as arrows where there is no upper end; returns where the axis should end."""
    is_finite = np.isfinite(middle)
    points = middle[is_finite]
    ends = np.concatenate([high[high <= 4.0 * max(points.max(initial=0.0), 1e-12)], points])
    end = 1.08 * float(ends.max(initial=0.0)) or 1.0
    axes.vlines(places, np.minimum(low, end), np.minimum(high, end), color=BLUE, linewidth=2, alpha=0.45)
    axes.plot(places[is_finite], points, "o", color=BLUE, markersize=5)
    cut = ~(high <= end)
    axes.plot(places[cut], np.full(cut.sum(), end), "^", color=BLUE, markersize=5, alpha=0.45, clip_on=False)
    return end


def _slot_ticks(axes: Axes, slots: int) -> None:
    step = max(1, slots // 20)
    axes.set_xticks(np.arange(1, slots + 1, step))


def _end_at_the_points(axes: Axes, changes: TimeDrift, items: list[int]) -> None:
    """Let no interval of a period with hardly any impressions squeeze the rest."""
    rates = np.concatenate([changes.rate(item)[0] for item in items])
    axes.set_ylim(0, 1.4 * float(np.nanmax(rates, initial=0.0)) or 1.0)


def _name_dates(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _log_scale(axes: Axes, label: str) -> None:
    """A logarithmic x-axis, labelled at 1, 2 and 5 times each power of ten only, so that no two labels collide."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(label)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _shortened(name: str, longest: int = MAX_NAME) -> str:
    """A name that leaves room for the picture."""
    # matplotlib would take a dollar for the start of a formula
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    return cut.replace("$", r"\$")
