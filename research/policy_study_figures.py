"""The figures of the study of policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from research.policy_study import CHOOSING, KNOWN, PLAIN, UNKNOWN, PolicyFinding, relative
from slotwise.core.plotting import PALETTE, bare, new_figure
from slotwise.simulation.plot import tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_problem(found: Sequence[PolicyFinding]) -> Figure:
    """Mean and worst regret on each problem, relative to the mean of plain posterior sampling that knows as much."""
    drawn = new_figure(11, 7.4)
    for axes, labels, title in zip(
        drawn.subplots(2, 1), (UNKNOWN, KNOWN), ("biases unknown", "biases known"), strict=True
    ):
        rows = [one for one in found if one.cell.part == "report" and one.cell.label in labels]
        problems = list(dict.fromkeys(one.cell.problem.id for one in rows))
        plain = {one.cell.problem.id: one.regret[:, -1].mean() for one in rows if one.cell.label == labels[0]}
        for number, label in enumerate(labels):
            ours = {
                one.cell.problem.id: one.regret[:, -1] / plain[one.cell.problem.id]
                for one in rows
                if one.cell.label == label
            }
            places = np.arange(len(problems)) + 0.14 * (number - (len(labels) - 1) / 2)
            means = [ours[id].mean() for id in problems]
            worst = [ours[id].max() for id in problems]
            axes.vlines(places, means, worst, color=PALETTE[number], linewidth=1.0, alpha=0.5)
            axes.scatter(places, means, s=34, color=PALETTE[number], label=label, zorder=3)
            axes.scatter(places, worst, s=16, color=PALETTE[number], marker="v", zorder=3)
        axes.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
        axes.set(yscale="log", ylabel="regret, relative", title=title)
        axes.set_xticks(range(len(problems)), [f"({id})" for id in problems])
        bare(axes)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(frameon=False, fontsize="small", ncols=len(labels), loc="upper center")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.6)
    drawn.suptitle(
        "Mean (dots) and worst replication (triangles), relative to plain posterior sampling", fontsize="medium"
    )
    return drawn


def tails(found: Sequence[PolicyFinding]) -> Figure:
    """How often regret exceeds a multiple of plain posterior sampling's mean, over the random problems."""
    chosen = relative([one for one in found if one.cell.part == "choose"])
    drawn = new_figure(10, 5.6)
    axes = drawn.subplots()
    for number, (label, values) in enumerate(chosen.items()):
        ordered = np.sort(values)[::-1]
        share = np.arange(1, len(ordered) + 1) / len(ordered)
        axes.plot(ordered, share, color=PALETTE[number], linewidth=2.0 if label == UNKNOWN[-1] else 1.2, label=label)
    axes.set(xscale="log", yscale="log", xlabel=f"regret relative to the mean of {PLAIN} on the same problem")
    axes.set_ylabel("share of replications above")
    axes.set_title(f"Tails over {CHOOSING} random problems", fontsize="medium")
    axes.set_xlim(left=0.1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    bare(axes)
    axes.legend(frameon=False, fontsize="small", loc="lower left")
    return drawn


def long_run(found: Sequence[PolicyFinding]) -> Figure:
    """Mean regret over a million rounds, and the worst replication."""
    rows = [one for one in found if one.cell.part == "long"]
    problems = list(dict.fromkeys(one.cell.problem.id for one in rows))
    drawn = new_figure(3.0 * len(problems) + 0.6, 4.0)
    for axes, id in zip(drawn.subplots(1, len(problems), squeeze=False)[0], problems, strict=True):
        for number, one in enumerate(one for one in rows if one.cell.problem.id == id):
            at = one.cell.recorded
            axes.plot(at, one.regret.mean(axis=0), "o-", markersize=4, color=PALETTE[number], label=one.cell.label)
            axes.plot(at[-1:], one.regret[:, -1:].max(axis=0), "v", markersize=5, color=PALETTE[number])
        tidy(axes)
        axes.set(xscale="log", title=f"({id})", xlabel="round")
        axes.set_ylim(bottom=0)
    axes = drawn.axes[0]
    axes.set_ylabel("mean regret; triangle: worst")
    drawn.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize="small"
    )
    return drawn
