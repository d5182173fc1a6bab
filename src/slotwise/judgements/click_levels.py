"""How often a document is clicked by slot, query and document, and how similar these are, learned from a log.

A document with n_k impressions in slot k has N clicks:

    N ~ Poisson(t u Σ_k c_k v_k n_k),   t ~ Gamma(κ', κ'),   u ~ Gamma(κ, κ),   v_k ~ Gamma(σ, σ)

c is the click rate of each slot in the whole log, t the level of the query, v the slots of this query compared with
the log, u the document. Each shape maximises the marginal likelihood of the clicks given the others (Robbins, An
empirical Bayes approach to statistics, 1956): if queries differ no more than by chance, σ is at its bound and v is 1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import isotonic_regression, minimize, minimize_scalar
from scipy.special import gammaln, logsumexp

from slotwise.core.types import FloatArray, IntArray
from slotwise.judgements.log_cells import CellCounts

#: the range of all shapes, where the search for κ and κ' begins, and the most documents that they are learned from
MIN_SHAPE, MAX_SHAPE, FIRST_SHAPE = 0.05, 1e4, 2.0
MAX_LEARNED = 30_000
#: the values of log t over which the likelihood of a query is summed
LOG_LEVELS = np.linspace(-4.0, 4.0, 33)
#: slots and documents are estimated in turn until σ moves by less than a part of it, at most so often
TOLERANCE, MAX_SWEEPS = 0.02, 30


def slot_curve(counts: CellCounts) -> FloatArray:
    """Return the click rate of each slot in the whole log, which does not rise."""
    by_slot = counts.shown.sum(axis=1)
    used = by_slot > 0.0
    curve = np.zeros(len(by_slot))
    # half a click, so that no slot is worth nothing
    rates = (counts.clicks.sum(axis=1)[used] + 0.5) / (by_slot[used] + 1.0)
    curve[used] = isotonic_regression(rates, weights=by_slot[used], increasing=False).x
    return curve


def slot_effects(counts: CellCounts, curve: FloatArray) -> tuple[FloatArray, float]:
    """Return v, slots × queries, and σ.

    Parameters
    ----------
    counts
        The counts of the log.
    curve
        c, the click rate of each slot.
    """
    starts = np.searchsorted(counts.query, np.arange(len(counts.queries)))
    clicked, clicks = np.add.reduceat(counts.clicks, starts, axis=1), counts.clicks.sum(axis=0)
    used = np.add.reduceat(counts.shown, starts, axis=1) > 0.0
    effects, slot_shape = np.ones(clicked.shape), MAX_SHAPE
    query_shape, shape = learn_shapes(counts.query, clicks, curve @ counts.shown)
    for _ in range(MAX_SWEEPS):
        expected, before = expected_clicks(counts, curve, effects), slot_shape
        level = query_levels(counts.query, clicks, expected, query_shape, shape)[0][counts.query]
        worth = level * (shape + clicks) / (shape + level * expected)
        by_query = curve[:, None] * np.add.reduceat(counts.shown * worth, starts, axis=1)
        slot_shape = _slot_shape(clicked[used], by_query[used])
        effects = (slot_shape + clicked) / (slot_shape + by_query)
        if abs(slot_shape - before) < TOLERANCE * before:
            break
    return effects, slot_shape


def expected_clicks(counts: CellCounts, curve: FloatArray, effects: FloatArray) -> FloatArray:
    """Return Σ_k c_k v_k n_k of each cell."""
    return np.asarray((curve[:, None] * effects[:, counts.query] * counts.shown).sum(axis=0))


def _slot_shape(clicks: FloatArray, expected: FloatArray) -> float:
    """Return σ with the largest marginal likelihood."""

    def loss(log_shape: float) -> float:
        shape = math.exp(log_shape)
        terms = gammaln(shape + clicks) - (shape + clicks) * np.log1p(expected / shape) - clicks * log_shape
        return float(len(clicks) * gammaln(shape) - terms.sum())

    bounds = (math.log(MIN_SHAPE), math.log(MAX_SHAPE))
    return math.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)


def learn_shapes(query: IntArray, clicks: FloatArray, expected: FloatArray) -> tuple[float, float]:
    """Return κ' and κ with the largest marginal likelihood, of a part of the queries if there are many documents."""
    every = max(1, math.ceil(len(query) / MAX_LEARNED))
    used = np.flatnonzero(query % every == 0)
    group = query[used] // every
    bounds = [(math.log(MIN_SHAPE), math.log(MAX_SHAPE))] * 2

    def loss(log_shapes: FloatArray) -> float:
        return -float(logsumexp(_by_level(group, clicks[used], expected[used], *np.exp(log_shapes)), axis=0).sum())

    start = np.full(2, math.log(FIRST_SHAPE))
    query_shape, shape = np.exp(minimize(loss, start, method="Nelder-Mead", bounds=bounds, tol=1e-3).x).tolist()
    return query_shape, shape


def query_levels(
    query: IntArray, clicks: FloatArray, expected: FloatArray, query_shape: float, shape: float
) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean of the level t of each query, and its variance relative to the mean's square."""
    log_density = _by_level(query, clicks, expected, query_shape, shape)
    density = np.exp(log_density - logsumexp(log_density, axis=0))
    level = np.exp(LOG_LEVELS) @ density
    return level, np.exp(2.0 * LOG_LEVELS) @ density / level**2 - 1.0


def _by_level(
    query: IntArray, clicks: FloatArray, expected: FloatArray, query_shape: float, shape: float
) -> FloatArray:
    """Return the logarithm of the likelihood of each query at each level times its prior, levels × queries."""
    count = int(query[-1]) + 1
    prior = query_shape * (LOG_LEVELS - np.exp(LOG_LEVELS)) + query_shape * math.log(query_shape) - gammaln(query_shape)
    fixed = np.bincount(query, gammaln(shape + clicks) - gammaln(shape) + shape * math.log(shape), count)
    values = np.empty((len(LOG_LEVELS), count))
    for place, level in enumerate(LOG_LEVELS):
        terms = clicks * level - (shape + clicks) * np.log(shape + math.exp(level) * expected)
        values[place] = prior[place] + fixed + np.bincount(query, terms, count)
    return values
