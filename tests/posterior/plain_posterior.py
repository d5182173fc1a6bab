"""Posteriors as plain Python objects: nothing is compiled, and their fields can be set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from slotwise import NO_CLICK, PolicyTask
from slotwise.core.types import EMPTY, FloatArray, Ranking
from slotwise.jit import interpreted
from slotwise.posterior import HierarchicalPosterior, hierarchical_posterior
from slotwise.posterior.state import BiasPosterior, ItemPrior, PosteriorCounts, SegmentEffects


def plain_hierarchical_posterior(task: PolicyTask, **options: Any) -> HierarchicalPosterior:
    """A hierarchical posterior that kernels run on uncompiled."""
    with interpreted():
        return hierarchical_posterior(task, **options)


def fixed_prior_posterior(task: PolicyTask, shape: float, rate: float) -> HierarchicalPosterior:
    """A posterior whose prior of attractiveness, Gamma(shape, rate), is held and not learned."""
    posterior = plain_hierarchical_posterior(task, passes="hard")
    posterior.items.shape, posterior.items.mean[:] = shape, shape / rate
    posterior.refit_at = math.inf
    return posterior


def parts(posterior: HierarchicalPosterior) -> tuple[PosteriorCounts, BiasPosterior, ItemPrior, SegmentEffects]:
    """The records that hyperparameters are fitted to and kept in."""
    return posterior.counts, posterior.bias, posterior.items, posterior.segments


def drawn_rounds(gamma: FloatArray, rounds: int, rng: np.random.Generator) -> list[tuple[Ranking, int]]:
    """Random lists and the slots clicked in them, for odds γ, slots × items."""
    slots, items = gamma.shape
    found = []
    for _ in range(rounds):
        ranking = rng.permutation(items)[:slots]
        weights = np.append(1.0, gamma[np.arange(slots), ranking])
        clicked = int(rng.choice(slots + 1, p=weights / weights.sum())) - 1
        found.append((ranking, NO_CLICK if clicked < 0 else clicked))
    return found


def list_sum(posterior: HierarchicalPosterior, segment: int, ranking: Any) -> float:
    """S_A at the means."""
    return float(
        sum(posterior.segments.mean_bias[segment, slot] * posterior.segments.mean[segment, item]
            for slot, item in enumerate(ranking) if item != EMPTY)
    )  # fmt: skip
