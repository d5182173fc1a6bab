"""Figures by segment and over time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.core.plotting import PALETTE, bare, new_figure
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.time_drift import TimeDrift
from slotwise.logs.reporting.fit_figures import log_scale, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: the number of items and segments in a figure, and of items over time
ITEMS, SEGMENTS, LINES = 12, 5, 4


def by_segment(fit: Fit) -> Figure:
    """Draw the attractiveness of the best items in the largest segments."""
    largest = sorted(fit.segments.items(), key=lambda pair: -pair[1].impressions)[:SEGMENTS]
    order = np.argsort(-fit.estimate.attractiveness, kind="stable")[:ITEMS]
    drawn = new_figure(9, 1.4 + 0.42 * len(order))
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
        axes.plot(segment.estimate.attractiveness[items], rows, "o", color=colour, markersize=5, label=shortened(name))
    axes.set_yticks(np.arange(len(order)), [shortened(fit.item_ids[item]) for item in order], fontsize="small")
    axes.invert_yaxis()
    axes.set_xlabel("attractiveness: clicks on it in slot 1, per impression without a click")
    log_scale(axes, "{x:g}")
    axes.legend(frameon=False, fontsize="small", loc="lower right")
    bare(axes)
    return drawn


def over_time(changes: TimeDrift) -> Figure:
    """The click rate, and the attractiveness of items that changed, or else of those with most clicks."""
    drawn = new_figure(9, 5.4)
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    periods = changes.periods
    when: Any = [periods.at(period + 0.5) for period in range(periods.count)]
    if periods.is_time:
        when = [datetime.fromtimestamp(at, UTC) for at in when]
    with np.errstate(invalid="ignore", divide="ignore"):
        above.plot(when, 100 * changes.clicked / changes.impressions, "o-", color="0.35", markersize=3, linewidth=1)
    above.set(ylabel="clicked, %")
    above.set_ylim(bottom=0)
    bare(above)
    ids = list(changes.item_ids)
    moved = [ids.index(changed.item) for changed in changes.moved[:LINES]]
    shown = moved or np.argsort(-changes.clicks.sum(axis=0), kind="stable")[:LINES].tolist()
    for number, item in enumerate(shown):
        rate, low, high = changes.rate(item)
        colour = PALETTE[number]
        below.plot(when, rate, "o-", color=colour, markersize=3, linewidth=1.2, label=shortened(ids[item]))
        below.fill_between(when, low, high, color=colour, alpha=0.15, linewidth=0)
    _end_at_the_points(below, changes, shown)
    below.set(ylabel="attractiveness", xlabel="" if periods.is_time else "time, as the column counts it")
    below.legend(frameon=False, fontsize="small", loc="upper left")
    bare(below)
    if periods.is_time:
        _name_dates(below)
    return drawn


def _end_at_the_points(axes: Axes, changes: TimeDrift, items: list[int]) -> None:
    """Let no interval of a period with hardly any impressions squeeze the rest."""
    rates = np.concatenate([changes.rate(item)[0] for item in items])
    axes.set_ylim(0, 1.4 * float(np.nanmax(rates, initial=0.0)) or 1.0)


def _name_dates(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
