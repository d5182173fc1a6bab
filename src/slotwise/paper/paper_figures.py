"""The figures of the paper's experiments: regret by policy, regret between the bounds, coverage of the intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from slotwise import theory
from slotwise.click_models import MNL
from slotwise.core.plotting import bare, new_figure
from slotwise.paper.coverage import INTERVALS, Coverage
from slotwise.policies import available_policies
from slotwise.simulation import Results
from slotwise.simulation.plot import figure as regret_figure
from slotwise.simulation.plot import tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: the paper's policies in the order of its legend, and the colour of each in every figure
COLOURS = {
    "epoch-ucb": "#0072B2",
    "epoch-ucb-w": "#56B4E9",
    "epoch-ucb-upb": "#E69F00",
    "epoch-ucb-upb-star": "#D55E00",
    "mnl-bandit": "#5D3A9B",
    "toprank": "#009E73",
    "pbm-ucb": "#000000",
}


def names() -> dict[str, str]:
    """Return the policies' names in the paper, by id."""
    return {entry.id: entry.name for entry in available_policies()}


def regret(problem: str, results: Results) -> Figure:
    """Draw the paper's two panels: mean regret through time, and the distribution of final regret."""
    return regret_figure(results, names(), f"Problem ({problem})", COLOURS)


def between_bounds(users: Mapping[str, MNL], results: Mapping[str, Results]) -> Figure:
    """Draw the regret of every policy with the shape of the lower bound and the upper bounds, a panel a problem."""
    drawn = new_figure(4.6 * len(results), 4.6)
    panels = drawn.subplots(1, len(results), squeeze=False)[0]
    for axes, (problem, result) in zip(panels, results.items(), strict=True):
        for label, run in result.items():
            axes.plot(run.rounds, run.trajectory, color=COLOURS[label], label=names().get(label, label))
        items, bias = users[problem].items, users[problem].position_bias
        rounds = np.unique(np.geomspace(max(1, result.rounds // 1000), result.rounds, 40).astype(int))
        for function, style, text in (
            (theory.lower_bound_shape, ":", "shape of the lower bound, √(JTS₂/S)"),
            (theory.upper_bound_known_bias, "--", "Proposition 1, known bias"),
            (theory.upper_bound_unknown_bias, "-.", "Proposition 3, unknown bias, C = 1"),
        ):
            heights = [function(items, int(t), bias) for t in rounds]
            axes.plot(rounds, heights, color="0.45", linestyle=style, linewidth=1.4, label=text)
        axes.set(xscale="log", yscale="log", xlabel="round", title=f"Problem ({problem})")
        tidy(axes)
        axes.set_ylim(bottom=max(0.5, min(run.trajectory[run.trajectory > 0].min() for run in result.values())))
    panels[0].set_ylabel("mean cumulative regret")
    handles, texts = panels[0].get_legend_handles_labels()
    drawn.legend(handles, texts, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return drawn


def coverage(measured: Sequence[Coverage]) -> Figure:
    """Draw the coverage and width of the intervals by problem, a point for each epoch policy."""
    problems = list(dict.fromkeys(cell.problem for cell in measured))
    shades = dict(zip(problems, ("#0072B2", "#D55E00", "#009E73"), strict=False))
    labels = list(INTERVALS)
    drawn = new_figure(11, 4.4)
    shares, widths = drawn.subplots(1, 2, sharey=True)
    places = np.arange(len(labels))[::-1]
    for shift, problem in enumerate(problems):
        offset = 0.22 * (shift - (len(problems) - 1) / 2)
        for place, label in zip(places, labels, strict=True):
            ours = [cell for cell in measured if cell.problem == problem and cell.interval == label]
            text = f"problem ({problem})" if label == labels[0] else None
            at = np.full(len(ours), place - offset)
            shares.scatter([100 * cell.covered for cell in ours], at, s=22, color=shades[problem], label=text)
            widths.scatter([cell.median_relative_width for cell in ours], at, s=22, color=shades[problem])
    for place, label in zip(places, labels, strict=True):
        promised = np.mean([100 * cell.promised for cell in measured if cell.interval == label])
        text = "nominal coverage of one item" if label == labels[0] else None
        shares.plot([promised] * 2, [place - 0.4, place + 0.4], color="0.3", linewidth=1.2, linestyle=":", label=text)
    shares.set(xlabel="coverage of the true attractiveness, %", yticks=places, yticklabels=labels)
    shares.set_xlim(right=101)
    shares.legend(frameon=False, loc="best", fontsize="small")
    widths.set(xlabel="median width, relative to the true attractiveness", xscale="log")
    for axes in (shares, widths):
        bare(axes)
        axes.grid(axis="y", color="0.92")
        axes.set_axisbelow(True)
    drawn.suptitle("Coverage and width of the paper's intervals, one point per policy", fontsize="medium")
    return drawn
