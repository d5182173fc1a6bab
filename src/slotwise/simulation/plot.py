"""The two-panel figure of a simulation: regret through time, and where it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from slotwise.core.plotting import PALETTE, bare, new_figure
from slotwise.simulation.policy_run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure(
    runs: Mapping[str, Run],
    names: Mapping[str, str] | None = None,
    title: str = "",
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Mean cumulative regret with its standard error on the left, final regret of every replication on the right."""
    labels = list(runs)
    colours = colours or {label: PALETTE[place % len(PALETTE)] for place, label in enumerate(labels)}
    drawn = new_figure(11, max(4.2, 0.42 * len(labels) + 1.6))
    through_time, at_the_end = drawn.subplots(1, 2)
    _draw_trajectories(through_time, runs, names or {}, colours)
    _draw_endings(at_the_end, runs, names or {}, colours)
    if title:
        drawn.suptitle(title)
    return drawn


def _draw_trajectories(
    axes: Axes, runs: Mapping[str, Run], names: Mapping[str, str], colours: Mapping[str, str]
) -> None:
    for label, run in runs.items():
        mean = np.concatenate([[0.0], run.trajectory])
        axes.plot(np.concatenate([[0], run.rounds]), mean, color=colours[label], label=names.get(label, label))
        replications = len(run.regret)
        if replications > 1:
            error = run.regret.std(axis=0, ddof=1) / np.sqrt(replications)
            low, high = run.trajectory - error, run.trajectory + error
            axes.fill_between(run.rounds, low, high, color=colours[label], alpha=0.2, linewidth=0)
    axes.set(xlabel="round", ylabel="mean cumulative regret", xlim=(0, _last_round(runs)))
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(frameon=False)
    tidy(axes)


def _draw_endings(axes: Axes, runs: Mapping[str, Run], names: Mapping[str, str], colours: Mapping[str, str]) -> None:
    labels = list(runs)
    places = np.arange(len(labels))[::-1]
    replications = len(next(iter(runs.values())).regret)
    if replications > 1:
        boxes = axes.boxplot(
            [runs[label].final_regret for label in labels],
            positions=places,
            orientation="horizontal",
            widths=0.55,
            showfliers=False,
            medianprops={"color": "black", "linewidth": 1.4},
            patch_artist=True,
        )
        for box, label in zip(boxes["boxes"], labels, strict=True):
            box.set(facecolor=colours[label], alpha=0.35, edgecolor=colours[label])
    for place, label in zip(places, labels, strict=True):
        final = runs[label].final_regret
        spread = np.random.default_rng(int(place)).uniform(-0.18, 0.18, len(final))
        axes.scatter(final, place + spread, s=9, color=colours[label], alpha=0.6, linewidths=0, zorder=3)
    axes.set(xlabel=f"regret after {_last_round(runs):,} rounds, {replications} replications")
    axes.set_yticks(places, [names.get(label, label) for label in labels])
    axes.set_xlim(left=0)
    tidy(axes)


def _last_round(runs: Mapping[str, Run]) -> int:
    return int(next(iter(runs.values())).rounds[-1])


def tidy(axes: Axes) -> None:
    """Leave out what carries no information, and write rounds as whole numbers."""
    bare(axes)
    axes.xaxis.set_major_formatter("{x:,.0f}")
