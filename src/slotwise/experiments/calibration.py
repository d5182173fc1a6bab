"""Simulation-based calibration of the samplers (Talts, Betancourt, Simpson, Vehtari and Gelman, 2018).

Parameters are drawn from the prior, data from the parameters, and a sample from the posterior given the data. If the
sampler is right, the rank of the true parameter among the sampled ones is uniform, whatever the prior and the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from slotwise.belief import gibbs_bias, imagine, joint_gibbs, learned_bias, update, update_by_tally
from slotwise.choice import MNL, draw
from slotwise.compiled import jit
from slotwise.drawing import new_figure
from slotwise.rng import stream
from slotwise.setting import Setting
from slotwise.simulate.plot import tidy
from slotwise.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLOTS, ITEMS = 3, 4
#: rounds of data, half of which have a click
ROUNDS = 60
#: of the priors: α ~ Gamma(2, 4); λ ~ Gamma(3, 3), and 1 for the first slot where there is an anchor
SHAPE, RATE, BIAS_SHAPE, BIAS_RATE = 2.0, 4.0, 3.0, 3.0
#: sampled values per data set, and sweeps from one to the next, enough for them to be all but independent
DRAWS, THINNING = 63, 20
#: histogram bars; they divide the DRAWS + 1 possible ranks evenly
BARS = 16

#: sampler and the data that it is given; the last is not a posterior of its data, and is there to be seen
CASES = {
    ("joint", "choices"): "Gibbs, joint likelihood, on choices",
    ("gibbs", "poisson"): "Gibbs, Poisson likelihood, on Poisson counts",
    ("integrated", "poisson"): "bias by its normal approximation, on Poisson counts",
    ("gibbs", "choices"): "Gibbs, Poisson likelihood, on choices",
    ("integrated", "choices"): "bias by its normal approximation, on choices",
}


@dataclass(frozen=True, eq=False)
class Calibration:
    """The ranks of one parameter's true values under one sampler."""

    sampler: str
    data: str
    parameter: str
    ranks: IntArray

    @property
    def p_value(self) -> float:
        """Of the chi-square test that the ranks are uniform."""
        counts = np.bincount(self.ranks * BARS // (DRAWS + 1), minlength=BARS)
        return float(stats.chisquare(counts).pvalue)


def run(datasets: int = 1_000, seed: int = 0, cases: Sequence[tuple[str, str]] = tuple(CASES)) -> list[Calibration]:
    """The ranks of α_1, of γ_22 = λ_2 α_2 and of λ_2/λ_1 for each case."""
    found = []
    for sampler, data in cases:
        ranks = np.array([_one(sampler, data, np.random.default_rng(stream(seed, index))) for index in range(datasets)])
        for place, parameter in enumerate(("α₁", "λ₂α₂", "λ₂/λ₁")):
            found.append(Calibration(sampler, data, parameter, ranks[:, place]))
    return found


def figure(found: Sequence[Calibration]) -> Figure:
    """A histogram of ranks a parameter and case; flat is right, and nine bars of ten are within the band if it is."""
    rows = list(dict.fromkeys((one.sampler, one.data) for one in found))
    drawn = new_figure(10, 1.9 * len(rows))
    panels = drawn.subplots(len(rows), 3, sharex=True, squeeze=False)
    for number, one in enumerate(found):
        axes = panels[number // 3][number % 3]
        expected = len(one.ranks) / BARS
        low, high = (stats.binom.ppf(q, len(one.ranks), 1 / BARS) for q in (0.05, 0.95))
        axes.axhspan(low, high, color="0.88")
        axes.axhline(expected, color="0.5", linewidth=0.8)
        counts = np.bincount(one.ranks * BARS // (DRAWS + 1), minlength=BARS)
        axes.bar(np.arange(BARS) + 0.5, counts, width=0.9, color="#0072B2")
        axes.set_title(f"{one.parameter}, p = {one.p_value:.2g}", fontsize="small")
        axes.set_ylim(0, 2 * expected)
        axes.set_xticks([])
        tidy(axes)
        if number % 3 == 0:
            axes.set_ylabel(CASES[one.sampler, one.data].replace(", ", ",\n"), fontsize="x-small")
    for axes in panels[-1]:
        axes.set_xlabel("rank of the truth among the sampled", fontsize="small")
    return drawn


def _one(sampler: str, data: str, rng: np.random.Generator) -> IntArray:
    """One data set from the prior, and the ranks of its parameters."""
    attractiveness = rng.gamma(SHAPE, size=ITEMS) / RATE
    bias = rng.gamma(BIAS_SHAPE, size=SLOTS) / BIAS_RATE
    if sampler != "integrated":
        bias[0] = 1.0
    sampled = np.ones(ITEMS)
    setting = Setting(SLOTS, ITEMS, ROUNDS)
    belief: Any
    if sampler == "integrated":
        belief = learned_bias(setting, shape=SHAPE, rate=RATE, bias_shape=BIAS_SHAPE)
    else:
        make = joint_gibbs if sampler == "joint" else gibbs_bias
        belief = make(setting, sampled, shape=SHAPE, rate=RATE, bias_shape=BIAS_SHAPE, bias_rate=BIAS_RATE)
    if data == "poisson":
        passes = rng.integers(0, 2 * ROUNDS // (SLOTS * ITEMS), (SLOTS, ITEMS)).astype(np.float64)
        update_by_tally(belief, rng.poisson(np.outer(bias, attractiveness) * passes).astype(np.float64), passes)
    else:
        users = MNL(position_bias=bias, attractiveness=attractiveness)
        for _ in range(ROUNDS):
            ranking = rng.permutation(ITEMS)[:SLOTS]
            update(belief, ranking, draw(users, ranking, rng))
    truth = np.array([attractiveness[0], bias[1] * attractiveness[1], bias[1] / bias[0]])
    samples = np.zeros((DRAWS, 3))
    _sample(belief, sampled, samples, rng)
    return np.asarray((samples < truth).sum(axis=0))


@jit
def _sample(belief: Any, attractiveness: FloatArray, samples: FloatArray, rng: np.random.Generator) -> None:
    """Sweeps as the policies make them: λ, then α given λ."""
    for number in range(len(samples)):
        for _ in range(THINNING):
            imagine(belief, rng)
            for item in range(len(attractiveness)):
                attractiveness[item] = rng.standard_gamma(belief.shape[item]) / belief.rate[item]
        bias = belief.position_bias
        samples[number, 0] = attractiveness[0]
        samples[number, 1] = bias[1] * attractiveness[1]
        samples[number, 2] = bias[1] / bias[0]
