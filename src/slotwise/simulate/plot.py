"""The two-panel figure of a simulation: regret through time, and where it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slotwise.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from slotwise.simulate.results import Results

#: Okabe and Ito's palette, without its yellow, which is too pale for a line on white, and with a violet for it
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D3A9B", "#000000")


def figure(results: Results) -> Figure:
    """Mean cumulative regret with its standard error on the left, final regret of every replication on the right."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a plot", "plot") from None
    labels = list(results)
    drawn = Figure(figsize=(11, max(4.2, 0.42 * len(labels) + 2)), layout="constrained")
    through_time, at_the_end = drawn.subplots(1, 2)
    for place, label in enumerate(labels):
        run, colour = results[label], COLOURS[place % len(COLOURS)]
        dashed = "-" if place < len(COLOURS) else "--"
        rounds = np.concatenate([[0], run.rounds])
        mean = np.concatenate([[0.0], run.trajectory])
        through_time.plot(rounds, mean, color=colour, linestyle=dashed, label=label)
        if results.replications > 1:
            error = run.regret.std(axis=0, ddof=1) / np.sqrt(results.replications)
            through_time.fill_between(
                run.rounds, run.trajectory - error, run.trajectory + error, color=colour, alpha=0.2, linewidth=0
            )
        spread = np.random.default_rng(place).uniform(-0.18, 0.18, results.replications)
        at_the_end.scatter(
            run.final_regret, len(labels) - 1 - place + spread, s=12, color=colour, alpha=0.5, linewidths=0
        )
        at_the_end.plot([run.mean] * 2, np.array([-0.3, 0.3]) + len(labels) - 1 - place, color=colour, linewidth=2)
    through_time.set(xlabel="round", ylabel="mean cumulative regret", xlim=(0, results.rounds))
    through_time.set_ylim(bottom=0)
    through_time.legend(frameon=False)
    at_the_end.set(xlabel=f"regret after {results.rounds:,} rounds, {results.replications} replications")
    at_the_end.set_yticks(range(len(labels)), labels[::-1])
    at_the_end.set_xlim(left=0)
    for axes in (through_time, at_the_end):
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
    return drawn
