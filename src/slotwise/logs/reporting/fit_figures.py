"""The figures of a fitted log: how well the model fits, segments, and changes over time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.core.plotting import PALETTE, bare, new_figure
from slotwise.logs.evaluation.log_goodness_of_fit import LogGoodnessOfFit
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.time_drift import TimeDrift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NAME = 28
#: the number of items and segments in a figure, and of items over time
ITEMS, SEGMENTS, LINES = 12, 5, 4
BLUE = PALETTE[0]
#: readable on a light and on a dark page
GREY, PALE = "0.5", 0.3


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
