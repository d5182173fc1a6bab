"""Relevance of documents from clicks and from the place that the page gave them.

The slot curve c_k is the click rate of slot k in the whole log. A document with n_k impressions in slot k has the
expected clicks e = Σ_k c_k n_k, and N clicks:

    N ~ Poisson(t u e),   u ~ Gamma(κ, κ) of each document,   t ~ Gamma(κ', κ') of each query.

κ and κ' maximise the marginal likelihood (Robbins, An empirical Bayes approach to statistics, 1956), so that t u is
clicks over expected clicks, shrunk toward the level of its query as far as the log says.

Clicks by slot mix the position with the documents that the page puts there, and a page that hardly changes its order
does not tell the two apart. The model credits documents with their place as far as they keep it: the prominence
Σ_k c_k n_k / pages is shrunk toward the mean of its query by the share of its variance that is not chance (an analysis
of variance over pages). In a randomised log that share is 0, and only clicks count.

    relevance = c_1 · t u · prominence / (largest prominence of the query)

is the probability of a click in slot 1. Given the features of documents, u has the mean that they predict
(`feature_prior.py`). By value, relevance is multiplied by the value of a click on the document (`value_per_click.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import gammainc, gammaincinv, gammaln, logsumexp

from slotwise.core import validation
from slotwise.core.types import FloatArray, IntArray
from slotwise.judgements.feature_prior import predicted_ratio
from slotwise.judgements.log_cells import CellCounts
from slotwise.judgements.value_per_click import ClickValues, click_values
from slotwise.logs.reading.feature_file import encoded

#: the range of κ and κ', where their search begins, and the most documents that they are learned from
MIN_SHAPE, MAX_SHAPE, FIRST_SHAPE = 0.05, 1e4, 2.0
MAX_LEARNED = 100_000
#: the values of log t over which the likelihood of a query is summed
LOG_LEVELS = np.linspace(-4.0, 4.0, 33)
LEVEL = 0.95
#: what documents are judged by
MEASURES = ("clicks", "value")
#: grades go from 0 to this
DEFAULT_MAX_GRADE = 3
#: the depth of NDCG, and the posterior draws of its interval
DEPTH, DRAWS = 10, 50


@dataclass(frozen=True, eq=False)
class Judgements:
    """The relevance of each cell of a log, with intervals, and grades.

    Parameters
    ----------
    counts
        The counts of the log.
    slot_curve
        c: the click rate of each slot.
    query_level
        t: the clicks of each query over those expected from its slots, shrunk toward 1.
    query_shape, shape
        κ' and κ: how similar queries and documents are.
    prior_shape
        Of each cell, κ less the uncertainty of its query's level.
    place
        The prominence of each cell relative to the largest of its query.
    max_grade
        The highest grade.
    predicted
        The ratio of clicks to expected clicks that the features of each cell predict; 1 without features.
    values
        The value of a click by cell; None if clicks alone count.
    """

    counts: CellCounts
    slot_curve: FloatArray
    query_level: FloatArray
    query_shape: float
    shape: float
    prior_shape: FloatArray
    place: FloatArray
    max_grade: int = DEFAULT_MAX_GRADE
    predicted: FloatArray = field(default_factory=lambda: np.ones(1))
    values: ClickValues | None = None

    @cached_property
    def clicks(self) -> FloatArray:
        """The clicks of each cell."""
        return np.asarray(self.counts.clicks.sum(axis=0))

    @cached_property
    def pages(self) -> FloatArray:
        """The impressions that showed each cell."""
        return np.asarray(self.counts.shown.sum(axis=0))

    @cached_property
    def expected(self) -> FloatArray:
        """The clicks that each cell is expected to have: by its slots, the level of its query and its features."""
        return np.asarray(self.slot_curve @ self.counts.shown * self.query_level[self.counts.query] * self.predicted)

    @property
    def ratio(self) -> FloatArray:
        """The posterior mean of u: clicks, or their value, over those expected, shrunk toward 1."""
        return np.asarray(self._posterior[0] / self._posterior[1])

    @cached_property
    def relevance(self) -> FloatArray:
        """The probability of a click in slot 1; by value, the expected value of that slot."""
        return np.asarray(np.minimum(self._ceiling, self._scale * self.ratio))

    def interval(self, level: float = LEVEL) -> tuple[FloatArray, FloatArray]:
        """Return the limits of a credible interval of relevance, given the slot curve and the place."""
        tails = (0.5 - level / 2.0, 0.5 + level / 2.0)
        low, high = (np.minimum(self._ceiling, self._scale * self._quantile(tail)) for tail in tails)
        return low, high

    def ratio_above(self, level: float = LEVEL) -> FloatArray:
        """Return the lower limit of u: above 1, a document gets more clicks than its slots explain."""
        return np.asarray(self._quantile((1.0 - level) / 2.0) * self.predicted)

    @cached_property
    def best(self) -> FloatArray:
        """The largest relevance in the query of each cell."""
        return largest_of_query(self.counts, self.relevance)

    @property
    def grades(self) -> IntArray:
        """The highest grade if relevance is above a half of the best of its query; one less for each further half."""
        return np.clip(self.max_grade - self._halvings, 0, self.max_grade).astype(np.int64)

    @cached_property
    def confidence(self) -> FloatArray:
        """The posterior probability of the grade, given the best of the query."""
        grade, unit = self.grades, self.best / self._scale
        upper = np.where(grade == self.max_grade, np.inf, unit * 0.5 ** (self.max_grade - grade))
        lower = np.where(grade == 0, 0.0, unit * 0.5 ** (self.max_grade - grade + 1.0))
        shape, rate = self._posterior
        return np.asarray(gammainc(shape, rate * upper) - gammainc(shape, rate * lower))

    def ndcg_draws(self, seed: int = 0) -> FloatArray:
        """Return posterior draws of the NDCG of the shown pages, draws × queries.

        Gains are relevance, and at most `DEPTH` slots count.
        """
        return np.array([self._ndcg(gains) for gains in self.relevance_draws(seed)])

    def relevance_draws(self, seed: int = 0) -> FloatArray:
        """Return posterior draws of relevance, draws × cells; they are not limited to 1."""
        rng, (shape, rate) = np.random.default_rng(seed), self._posterior
        return np.asarray(rng.gamma(shape, size=(DRAWS, len(shape))) * (self._scale / rate))

    @cached_property
    def _posterior(self) -> tuple[FloatArray, FloatArray]:
        """The shape and the rate of the posterior of u, a Gamma distribution; by value, of u v with its moments."""
        shape, rate = self.prior_shape + self.clicks, self.prior_shape + self.expected
        if self.values is None:
            return shape, rate
        mean, spread = shape / rate * self.values.relative, self.values.uncertainty
        shape = 1.0 / ((1.0 + 1.0 / shape) * (1.0 + spread) - 1.0)
        return shape, shape / mean

    @property
    def _scale(self) -> FloatArray:
        value = 1.0 if self.values is None else self.values.mean
        return np.asarray(
            value * self.slot_curve[0] * self.query_level[self.counts.query] * self.place * self.predicted
        )

    @property
    def _ceiling(self) -> float:
        return 1.0 if self.values is None else math.inf

    @property
    def _halvings(self) -> FloatArray:
        return np.asarray(np.floor(-np.log2(self.relevance / self.best)))

    def _quantile(self, chance: float) -> FloatArray:
        shape, rate = self._posterior
        return np.asarray(gammaincinv(shape, chance) / rate)

    def _ndcg(self, gains: FloatArray) -> FloatArray:
        counts = self.counts
        count, depth = len(counts.queries), min(DEPTH, len(counts.shown))
        discounts = 1.0 / np.log2(np.arange(2, DEPTH + 2))
        # the mean over the pages of a query, as the sum over cells
        shown = np.bincount(counts.query, gains * (discounts[:depth] @ counts.shown[:depth]), count) / counts.pages
        # by query, and within a query from the largest gain on
        order = np.argsort(counts.query - gains / (1.01 * gains.max()))
        rank = np.arange(len(order)) - np.searchsorted(counts.query, counts.query)
        weights = np.where(rank < depth, np.append(discounts, 0.0)[np.minimum(rank, DEPTH)], 0.0)
        return np.asarray(shown / np.bincount(counts.query, gains[order] * weights, count))


def judge_counts(
    counts: CellCounts,
    max_grade: int = DEFAULT_MAX_GRADE,
    by: str = "clicks",
    features: Mapping[str, Sequence[float | str | None]] | None = None,
) -> Judgements:
    """Learn the slot curve, κ and the place of documents, and return their relevance.

    Parameters
    ----------
    counts
        The counts of a log, with a click at least.
    max_grade
        The highest grade: 3 or 4.
    by
        "clicks", or "value" for the expected value of a document in slot 1.
    features
        By document, its features: numbers and text.

    Returns
    -------
    Judgements
        The relevance of every query and document of the log.

    Examples
    --------
    >>> counts = CellCounts(
    ...     ("tea",), np.array([100.0]), np.zeros(3, np.int64), ("assam", "mint", "cup"),
    ...     np.array([[90.0, 10.0, 0.0], [10.0, 90.0, 0.0], [0.0, 0.0, 100.0]]),
    ...     np.array([[20.0, 4.0, 0.0], [2.0, 20.0, 0.0], [0.0, 0.0, 3.0]]), {},
    ... )
    >>> judged = judge_counts(counts)
    >>> judged.relevance.round(2).tolist(), judged.grades.tolist()
    ([0.24, 0.23, 0.03], [3, 3, 1])
    """
    by_slot = counts.shown.sum(axis=1)
    used = by_slot > 0.0
    curve = np.zeros(len(by_slot))
    # half a click, so that no slot is worth nothing
    rates = (counts.clicks.sum(axis=1)[used] + 0.5) / (by_slot[used] + 1.0)
    curve[used] = isotonic_regression(rates, weights=by_slot[used], increasing=False).x
    prominence, clicks = curve @ counts.shown, counts.clicks.sum(axis=0)
    validation.one_of("by", by, MEASURES)
    query_shape, shape = _shapes(counts.query, clicks, prominence)
    predicted = np.ones(len(clicks))
    if features is not None:
        level = _levels(counts.query, clicks, prominence, query_shape, shape)[0]
        rows = encoded(features, counts.documents)
        predicted = predicted_ratio(rows, counts.query, clicks, prominence * level[counts.query], shape)
        prominence = prominence * predicted
        query_shape, shape = _shapes(counts.query, clicks, prominence)
    level, uncertainty = _levels(counts.query, clicks, prominence, query_shape, shape)
    prior_shape = 1.0 / (1.0 / shape + uncertainty[counts.query])
    place = _kept_place(counts, curve @ counts.shown / counts.pages[counts.query], curve**2 @ counts.shown)
    place = place / largest_of_query(counts, place)
    values = click_values(counts) if by == "value" else None
    return Judgements(counts, curve, level, query_shape, shape, prior_shape, place, max_grade, predicted, values)


def largest_of_query(counts: CellCounts, values: FloatArray) -> FloatArray:
    """Return the largest value in the query of each cell."""
    starts = np.searchsorted(counts.query, np.arange(len(counts.queries)))
    return np.asarray(np.maximum.reduceat(values, starts)[counts.query])


def _shapes(query: IntArray, clicks: FloatArray, expected: FloatArray) -> tuple[float, float]:
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


def _levels(
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


def _kept_place(counts: CellCounts, prominence: FloatArray, squares: FloatArray) -> FloatArray:
    """Shrink prominence toward the mean of its query by the share of its variance between pages."""
    query, pages = counts.query, counts.pages
    cells = np.bincount(query)
    mean = np.bincount(query, prominence) / cells
    within = float((squares - pages[query] * prominence**2).sum()) / max(1.0, float((pages - 1.0) @ cells))
    off = prominence - mean[query]
    between = float(off @ off - (cells - 1.0) @ (within / pages)) / max(1.0, float((cells - 1).sum()))
    kept = max(0.0, between) / np.maximum(max(0.0, between) + within / pages, 1e-300)
    return np.asarray(mean[query] + kept[query] * off)
