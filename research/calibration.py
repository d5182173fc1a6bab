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

from research.fixed_prior import fit_weights_with_prior, fit_with_prior, redraw, set_counts, use_pair_effects
from research.gibbs_sampler import gibbs_posterior
from research.joint_gibbs import joint_gibbs_posterior
from slotwise.click_models import MNL, draw
from slotwise.core.plotting import new_figure
from slotwise.core.policy_task import PolicyTask
from slotwise.core.random import stream
from slotwise.core.types import FloatArray, IntArray
from slotwise.jit import jit
from slotwise.posterior import (
    HierarchicalPosterior,
    draw_pair_odds,
    draw_parameters,
    hierarchical_posterior,
    update,
    update_by_tally,
)
from slotwise.simulation.plot import tidy

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

#: the prior's rate where most visits click: attractiveness is around 2
BUSY_RATE = 1.0
#: of the crowds: how many, and κ
SEGMENTS, OWN_TASTE = 3, 4.0
#: passes of a pair on average where pairs have effects, and ν
PAIR_PASSES, PAIR_SIMILARITY = 40, 5.0
#: items with features, of which the last is never shown, how many features, and the 1/variance of their weights
FEATURED, FEATURES, RIDGE = 12, 2, 2.0
#: times that the mode of the bias, levels and weights are found in turn, enough for them to stay
TIMES = 8

#: sampler and the data that it is given; where the Poisson likelihood or soft passes are given choices it is not the
#: posterior of its data, and there to be seen
CASES = {
    ("joint", "choices"): "Gibbs, joint likelihood, on choices",
    ("gibbs", "poisson"): "Gibbs, Poisson likelihood, on Poisson counts",
    ("integrated", "poisson"): "bias by its normal approximation, on Poisson counts",
    ("lived", "crowds"): "bias and levels of items, approximately, on Poisson counts of crowds",
    ("lived", "features"): "bias and weights of features, approximately, on Poisson counts",
    ("wide", "pairs"): "bias, items and effects of pairs, approximately, on Poisson counts",
    ("gibbs", "choices"): "Gibbs, Poisson likelihood, on choices",
    ("integrated", "choices"): "bias by its normal approximation, on choices",
    ("soft", "choices"): "the same with soft passes, on choices",
    ("joint", "busy"): "Gibbs, joint likelihood, where most visits click",
    ("integrated", "busy"): "bias by its normal approximation, where most visits click",
    ("soft", "busy"): "the same with soft passes, where most visits click",
}
#: whose ranks are found, by the data; the others' are those of choices. With features, what has no scale: that of λ is
#: drawn as if the constant among the weights were known, which is too sure of the scale of α and matters to no list
PARAMETERS = {
    "pairs": ("λ₁α₁", "λ₂α₂δ₂₂", "λ₂/λ₁"),
    "crowds": ("m₁", "ε₁₁", "α₁₁"),
    "features": ("β₁", "λ₁α₁", "α₁₂/α₁, item 12 new"),
}
OF_CHOICES = ("α₁", "λ₂α₂", "λ₂/λ₁")


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

    @property
    def spread(self) -> float:
        """Standard deviation of the normal scores of the ranks: 1 if all is right, more if a sampler is too sure."""
        return float(stats.norm.ppf((self.ranks + 0.5) / (DRAWS + 1)).std())


def run(datasets: int = 1_000, seed: int = 0, cases: Sequence[tuple[str, str]] = tuple(CASES)) -> list[Calibration]:
    """The ranks of three parameters for each case: of choices α_1, γ_22 = λ_2 α_2 and λ_2/λ_1."""
    found = []
    for sampler, data in cases:
        one = {"crowds": _crowds, "features": _features, "pairs": _pairs}.get(data, _choices)
        ranks = np.array([one(sampler, data, np.random.default_rng(stream(seed, index))) for index in range(datasets)])
        for place, parameter in enumerate(PARAMETERS.get(data, OF_CHOICES)):
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


def _choices(sampler: str, data: str, rng: np.random.Generator) -> IntArray:
    """One data set from the prior, and the ranks of its parameters."""
    rate = BUSY_RATE if data == "busy" else RATE
    attractiveness = rng.gamma(SHAPE, size=ITEMS) / rate
    bias = rng.gamma(BIAS_SHAPE, size=SLOTS) / BIAS_RATE
    if sampler in ("joint", "gibbs"):
        bias[0] = 1.0
    sampled = np.ones(ITEMS)
    task = PolicyTask(SLOTS, ITEMS, ROUNDS)
    posterior: Any
    if sampler in ("integrated", "soft"):
        posterior = hierarchical_posterior(task, passes="soft" if sampler == "soft" else "hard", bias_shape=BIAS_SHAPE)
    else:
        make = joint_gibbs_posterior if sampler == "joint" else gibbs_posterior
        posterior = make(task, sampled, shape=SHAPE, rate=rate, bias_shape=BIAS_SHAPE, bias_rate=BIAS_RATE)
    if data == "poisson":
        passes = rng.integers(0, 2 * ROUNDS // (SLOTS * ITEMS), (SLOTS, ITEMS)).astype(np.float64)
        update_by_tally(posterior, rng.poisson(np.outer(bias, attractiveness) * passes).astype(np.float64), passes)
    else:
        users = MNL(position_bias=bias, attractiveness=attractiveness)
        for _ in range(ROUNDS):
            ranking = rng.permutation(ITEMS)[:SLOTS]
            update(posterior, ranking, draw(users, ranking, rng))
    truth = np.array([attractiveness[0], bias[1] * attractiveness[1], bias[1] / bias[0]])
    samples = np.zeros((DRAWS, 3))
    if sampler in ("integrated", "soft"):
        fit_with_prior(posterior, SHAPE, np.full(ITEMS, SHAPE / rate), 1.0, TIMES)
        _sample_hierarchical(posterior, sampled, samples, 0, rng)
    else:
        _sample(posterior, sampled, samples, rng)
    return np.asarray((samples < truth).sum(axis=0))


@jit
def _sample(posterior: Any, attractiveness: FloatArray, samples: FloatArray, rng: np.random.Generator) -> None:
    """Sweeps as the policies make them: λ, then α given λ."""
    for number in range(len(samples)):
        for _ in range(THINNING):
            draw_parameters(posterior, rng)
            for item in range(len(attractiveness)):
                attractiveness[item] = rng.standard_gamma(posterior.shape[item]) / posterior.rate[item]
        bias = posterior.position_bias
        samples[number, 0] = attractiveness[0]
        samples[number, 1] = bias[1] * attractiveness[1]
        samples[number, 2] = bias[1] / bias[0]


def _crowds(sampler: str, data: str, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    """The same for α_sj = m_j ε_sj, slots seen alike by all; s, μ and κ are held at what the parameters came from."""
    level = rng.gamma(SHAPE, size=ITEMS) / RATE
    own = rng.gamma(OWN_TASTE, size=(SEGMENTS, ITEMS)) / OWN_TASTE
    bias = rng.gamma(BIAS_SHAPE, size=SLOTS) / BIAS_RATE
    task = PolicyTask(SLOTS, ITEMS, ROUNDS, segments=SEGMENTS)
    posterior = hierarchical_posterior(task, passes="hard", bias_shape=BIAS_SHAPE, own_slots=1e9)
    _count(posterior, level * own, bias, rng)
    fit_with_prior(posterior, SHAPE, np.full(ITEMS, SHAPE / RATE), OWN_TASTE, TIMES)
    samples = np.zeros((DRAWS, 3))
    _sample_hierarchical(posterior, np.ones(ITEMS), samples, 1, rng)
    return np.asarray((samples < [level[0], own[0, 0], level[0] * own[0, 0]]).sum(axis=0))


def _features(sampler: str, data: str, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    """The same for μ_j = exp(x_jᵀβ); s and the ridge are held."""
    features = rng.normal(size=(FEATURED, FEATURES))
    weights = np.append(_constant(rng), rng.normal(size=FEATURES) / np.sqrt(RIDGE))
    mean = np.exp(weights[0] + features @ weights[1:])
    attractiveness = rng.gamma(SHAPE, mean / SHAPE)
    bias = rng.gamma(BIAS_SHAPE, size=SLOTS) / BIAS_RATE
    task = PolicyTask(SLOTS, FEATURED, ROUNDS, features=features)
    posterior = hierarchical_posterior(task, passes="hard", bias_shape=BIAS_SHAPE, ridge=RIDGE)
    _count(posterior, attractiveness[None], bias, rng, new=1)
    fit_weights_with_prior(posterior, SHAPE, RIDGE, TIMES)
    truth = [weights[1], bias[0] * attractiveness[0], attractiveness[-1] / attractiveness[0]]
    samples = np.zeros((DRAWS, 3))
    _sample_hierarchical(posterior, np.ones(FEATURED), samples, 2, rng)
    return np.asarray((samples < truth).sum(axis=0))


def _pairs(sampler: str, data: str, rng: np.random.Generator) -> IntArray:  # noqa: ARG001
    """The same for γ_kj = λ_kα_jδ_kj; s, μ and ν are held."""
    attractiveness = rng.gamma(SHAPE, size=ITEMS) / RATE
    bias = rng.gamma(BIAS_SHAPE, size=SLOTS) / BIAS_RATE
    effects = rng.gamma(PAIR_SIMILARITY, size=(ITEMS, SLOTS)) / PAIR_SIMILARITY
    posterior = hierarchical_posterior(PolicyTask(SLOTS, ITEMS, ROUNDS), passes="hard", bias_shape=BIAS_SHAPE)
    passes = rng.integers(0, 2 * PAIR_PASSES, (1, ITEMS, SLOTS)).astype(np.float64)
    odds = attractiveness[:, None] * bias * effects
    set_counts(posterior, rng.poisson(odds * passes).astype(np.float64), passes)
    use_pair_effects(posterior, PAIR_SIMILARITY)
    fit_with_prior(posterior, SHAPE, np.full(ITEMS, SHAPE / RATE), 1.0, TIMES)
    truth = [bias[0] * attractiveness[0], odds[1, 1], bias[1] / bias[0]]
    samples = np.zeros((DRAWS, 3))
    _sample_pairs(posterior, np.ones(ITEMS), np.ones((SLOTS, ITEMS)), samples, rng)
    return np.asarray((samples < truth).sum(axis=0))


def _constant(rng: np.random.Generator) -> float:
    """The constant's prior, which is what two made-up items with a click in one unit of exposure say of it."""
    grid = np.linspace(-12.0, 12.0, 4_801)
    density = np.exp(2.0 * (grid - (SHAPE + 1.0) * np.log(SHAPE + np.exp(grid))))
    return float(np.interp(rng.random(), np.cumsum(density) / density.sum(), grid))


def _count(
    posterior: HierarchicalPosterior,
    attractiveness: FloatArray,
    bias: FloatArray,
    rng: np.random.Generator,
    new: int = 0,
) -> None:
    """Put Poisson counts of all items but the last `new` ones into a posterior, without a fit."""
    passes = rng.integers(0, 2 * ROUNDS // (SLOTS * ITEMS), (*attractiveness.shape, SLOTS)).astype(np.float64)
    passes[:, passes.shape[1] - new :] = 0.0
    clicks = rng.poisson(attractiveness[:, :, None] * bias * passes).astype(np.float64)
    set_counts(posterior, clicks, passes)


@jit
def _sample_hierarchical(
    posterior: HierarchicalPosterior,
    attractiveness: FloatArray,
    samples: FloatArray,
    kind: int,
    rng: np.random.Generator,
) -> None:
    """Fill `samples` with independent draws, of the parameters of choices, of a segment or of features."""
    for number in range(len(samples)):
        redraw(posterior, rng)
        for item in range(len(attractiveness)):
            attractiveness[item] = rng.standard_gamma(posterior.shape[item]) / posterior.rate[item]
        bias = posterior.position_bias
        if kind == 0:
            samples[number, 0] = attractiveness[0]
            samples[number, 1] = bias[1] * attractiveness[1]
            samples[number, 2] = bias[1] / bias[0]
        elif kind == 1:
            samples[number, 0] = posterior.draw.level[0]
            samples[number, 1] = attractiveness[0] / posterior.draw.level[0]
            samples[number, 2] = attractiveness[0]
        else:
            samples[number, 0] = posterior.draw.weights[1]
            samples[number, 1] = bias[0] * attractiveness[0]
            samples[number, 2] = attractiveness[len(attractiveness) - 1] / attractiveness[0]


@jit
def _sample_pairs(
    posterior: HierarchicalPosterior,
    attractiveness: FloatArray,
    odds: FloatArray,
    samples: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Fill `samples` with independent draws of the parameters of pairs."""
    for number in range(len(samples)):
        redraw(posterior, rng)
        for item in range(len(attractiveness)):
            attractiveness[item] = rng.standard_gamma(posterior.shape[item]) / posterior.rate[item]
        draw_pair_odds(posterior, attractiveness, odds, rng)
        samples[number, 0] = posterior.position_bias[0] * attractiveness[0]
        samples[number, 1] = odds[1, 1]
        samples[number, 2] = posterior.position_bias[1] / posterior.position_bias[0]
