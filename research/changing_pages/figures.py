"""The figures of the study of changing pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from research.changing_pages.cells import Found
from research.changing_pages.part_tables import WAY_NAMES, error, limit_of, mean
from research.changing_pages.plan import OURS, Plan, recorded_long
from slotwise.core.plotting import PALETTE, bare, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def segments(found: Found, plan: Plan) -> Figure:  # noqa: ARG001
    """Mean regret by how far tastes are apart, for the three ways."""
    ours = {(*row.split(" | "), way): one for (_, row, policy, way), one in found.items() if policy == OURS}
    sizes = list(dict.fromkeys(size for size, _, _ in ours))
    drawn = new_figure(4.5 * len(sizes), 3.8)
    for axes, size in zip(drawn.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
        for number, (way, name) in enumerate(WAY_NAMES.items()):
            mine = {float(apart): one for (its, apart, its_way), one in ours.items() if (its, its_way) == (size, way)}
            axes.errorbar(
                list(mine),
                [mean(one) for one in mine.values()],
                [error(one) for one in mine.values()],
                fmt="o-",
                markersize=4,
                capsize=2,
                color=PALETTE[number],
                label=name,
            )
        axes.set(yscale="log", xlabel="h: how far tastes are apart", ylabel="mean regret")
        axes.set_title(f"segments, items, slots, rounds: {size}", fontsize="medium")
        axes.yaxis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_minor_formatter("")
        bare(axes)
    drawn.axes[0].legend(frameon=False, fontsize="small")
    return drawn


def long(found: Found, plan: Plan) -> Figure:
    """Regret against log T, with the slope of the limit from the last decade on."""
    mine = {key: one for key, one in found.items() if key[0] == "long"}
    points = np.array(recorded_long(plan), float)
    problems = list(dict.fromkeys(row for _, row, _, _ in mine))
    drawn = new_figure(4.5 * len(problems), 4.0)
    for axes, id in zip(drawn.subplots(1, len(problems), squeeze=False)[0], problems, strict=True):
        rows = [(policy, one) for (_, row, policy, _), one in mine.items() if row == id]
        for number, (policy, one) in enumerate(rows):
            means = one.regret.mean(axis=0)
            axes.plot(points, means, "o-", markersize=3, color=PALETTE[number], label=policy)
            axes.plot(points, one.regret.T, color=PALETTE[number], linewidth=0.5, alpha=0.25)
        last = points >= points[-1] / 10.0 - 0.5
        base = min(float(one.regret.mean(axis=0)[last][0]) for _, one in rows)
        line = base + limit_of(id) * np.log(points[last] / points[last][0])
        axes.plot(points[last], line, "--", color="black", linewidth=1.4, label="slope C")
        axes.set(xscale="log", title=f"({id})", xlabel="round", ylabel="regret: mean, and each run")
        axes.set_ylim(bottom=0)
        bare(axes)
    drawn.axes[0].legend(frameon=False, fontsize="small", loc="upper left")
    return drawn


FIGURES = {"segments": segments, "long": long}
