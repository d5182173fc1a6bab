"""Draws of attractiveness among many items: only those that can be among the largest are drawn, the others are 0."""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.types import FloatArray, IntArray
from slotwise.jit import inlined, jit, record
from slotwise.optimize.top_k import keep_if_top
from slotwise.posterior.state import HierarchicalPosterior

#: with fewer items, to draw all of them takes as long
MANY_ITEMS = 2_000
NEW, SEEN = 0, 1


@record
class LargestItems:
    """Scratch of `draw_largest`; each with a row or an entry for new items and one for the others."""

    #: the items with the largest draws so far, and how many
    top: IntArray
    size: IntArray
    #: the items to skip, the least rate of those without clicks, and the bound that the next draw exceeds
    skipped: IntArray
    least: FloatArray
    bound: FloatArray


def no_largest(slots: int) -> LargestItems:
    """Return the scratch for lists with this number of slots."""
    return LargestItems(
        top=np.zeros((2, slots), np.int64),
        size=np.zeros(2, np.int64),
        skipped=np.zeros(2, np.int64),
        least=np.zeros(2),
        bound=np.zeros(2),
    )


@jit
def draw_largest(
    posterior: HierarchicalPosterior,
    boldness: float,
    index: FloatArray,
    largest: LargestItems,
    rng: np.random.Generator,
) -> None:
    """Draw α for the largest items, as many new ones and as many others as there are slots; set the others to 0.

    The result has the distribution of the largest of independent draws of all items. An item without clicks has
    α = BE/rate with E ~ Exponential(1) and B ~ Beta(shape, 1 - shape), for a shape of at most 1. As B is below 1, the
    item is not among the largest so far, above t, unless E > t·(the least rate). Items until the next one with such
    an E are skipped: their number is geometric. E beyond a bound is exponential again.
    """
    prior = posterior.items.shape if posterior.counts.passes.shape[0] == 1 else posterior.segments.similarity
    can_skip = boldness * prior <= 1.0
    # no arrays of its own: a loop that allocates is compiled with reference counts, at half the speed
    top, size, skipped, least, bound = largest.top, largest.size, largest.skipped, largest.least, largest.bound
    size[:], skipped[:], least[:], bound[:] = 0, 0, np.inf, 0.0
    for item in range(len(index)):
        kind = NEW if posterior.counts.item_rounds[item] == 0.0 else SEEN
        if posterior.shape[item] == prior and posterior.rate[item] < least[kind]:
            least[kind] = posterior.rate[item]
    for item in range(len(index)):
        kind = NEW if posterior.counts.item_rounds[item] == 0.0 else SEEN
        shape, rate, index[item] = boldness * posterior.shape[item], boldness * posterior.rate[item], 0.0
        if can_skip and posterior.shape[item] == prior:
            if skipped[kind] > 0:
                skipped[kind] -= 1
                continue
            index[item] = _below_one(shape, rng) * (bound[kind] + rng.standard_exponential()) / rate
        else:
            index[item] = rng.standard_gamma(shape) / rate
        size[kind] = keep_if_top(index, item, top[kind], size[kind], top.shape[1])
        if can_skip and size[kind] == top.shape[1] and posterior.shape[item] == prior:
            bound[kind] = boldness * least[kind] * index[top[kind, top.shape[1] - 1]]
            skipped[kind] = _items_until_beyond(bound[kind], len(index), rng)


@inlined
def _below_one(shape: float, rng: np.random.Generator) -> float:
    """Draw from Beta(shape, 1 - shape)."""
    if shape == 1.0:
        return 1.0
    drawn = rng.standard_gamma(shape)
    return drawn / (drawn + rng.standard_gamma(1.0 - shape))


@inlined
def _items_until_beyond(bound: float, at_most: int, rng: np.random.Generator) -> int:
    """Draw how many exponential draws stay below the bound before one that does not."""
    log_stays = math.log1p(-math.exp(-bound)) if bound > 0.0 else -math.inf
    drawn = rng.standard_exponential()
    return int(-drawn / log_stays) if -log_stays * at_most > drawn else at_most
