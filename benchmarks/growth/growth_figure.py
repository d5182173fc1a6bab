"""Small plots of growth, one per operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from slotwise.core.plotting import PALETTE, bare, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: seconds, as the ticks of an axis say them
TICKS = {
    1e-6: "1 µs",
    1e-5: "10 µs",
    1e-4: "0.1 ms",
    1e-3: "1 ms",
    1e-2: "10 ms",
    0.1: "0.1 s",
    1.0: "1 s",
    10.0: "10 s",
}


def draw(rows: Sequence[dict[str, Any]]) -> Figure:
    """Processor time against size, a panel per operation and a line per variable."""
    operations = list(dict.fromkeys(row["operation"] for row in rows))
    across = 3
    down = -(-len(operations) // across)
    figure = new_figure(10.0, 3.1 * down)
    panels = figure.subplots(down, across, squeeze=False).flat
    for operation, axes in zip(operations, panels, strict=False):
        these = [row for row in rows if row["operation"] == operation]
        for colour, row in zip(PALETTE, these, strict=False):
            sizes = [one["size"] for one in row["measured"]]
            seconds = [one["seconds"] for one in row["measured"]]
            axes.loglog(sizes, seconds, marker="o", markersize=3, color=colour, label=row["variable"])
        low, high = axes.get_ylim()
        shown = [second for second in TICKS if low <= second <= high]
        axes.set_yticks(shown, [TICKS[second] for second in shown])
        axes.minorticks_off()
        axes.set_title(f"one {these[0]['unit']}" if operation != "simulation" else "one round, or run", fontsize=10)
        axes.legend(frameon=False, fontsize=7)
        bare(axes)
    for axes in list(panels):
        axes.set_visible(False)
    return figure
