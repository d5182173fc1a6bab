"""Relevance of documents from clicks and from the place that the page gave them.

A document with n_k impressions in slot k has the expected clicks Σ_k c_k v_k n_k of its slots in this query. t u is
clicks over expected clicks, shrunk toward the level t of its query as far as the log says (`click_levels.py`).

Clicks by slot mix the position with the documents that the page puts there, and a page that hardly changes its order
does not tell the two apart. The model credits documents with their place as far as they keep it: the prominence
Σ_k c_k n_k / pages is shrunk toward the mean of its query by the share of its variance that is not chance (an analysis
of variance over pages). In a randomised log that share is 0, and only clicks count.

    relevance = c_1 v_1 · t u · prominence / (largest prominence of the query)

is the probability of a click in slot 1. Given the features of documents, u has the mean that they predict
(`feature_prior.py`). By value, relevance is multiplied by the value of a click on the document (`value_per_click.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import gammainc, gammaincinv

from slotwise.core import validation
from slotwise.core.types import FloatArray, IntArray
from slotwise.judgements.click_levels import expected_clicks, learn_shapes, query_levels, slot_curve, slot_effects
from slotwise.judgements.feature_prior import predicted_ratio
from slotwise.judgements.log_cells import CellCounts
from slotwise.judgements.value_per_click import ClickValues, click_values
from slotwise.logs.reading.feature_file import encoded

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
    slot_effects
        v: slots × queries, the slots of each query compared with the log.
    slot_shape
        σ: how similar the slots of queries are.
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
    slot_effects: FloatArray
    slot_shape: float
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
        by_slots = expected_clicks(self.counts, self.slot_curve, self.slot_effects)
        return np.asarray(by_slots * self.query_level[self.counts.query] * self.predicted)

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
        first = value * self.slot_curve[0] * self.slot_effects[0] * self.query_level
        return np.asarray(first[self.counts.query] * self.place * self.predicted)

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
    validation.one_of("by", by, MEASURES)
    curve, clicks = slot_curve(counts), counts.clicks.sum(axis=0)
    effects, slot_shape = slot_effects(counts, curve)
    expected = expected_clicks(counts, curve, effects)
    query_shape, shape = learn_shapes(counts.query, clicks, expected)
    predicted = np.ones(len(clicks))
    if features is not None:
        level = query_levels(counts.query, clicks, expected, query_shape, shape)[0]
        rows = encoded(features, counts.documents)
        predicted = predicted_ratio(rows, counts.query, clicks, expected * level[counts.query], shape)
        expected = expected * predicted
        query_shape, shape = learn_shapes(counts.query, clicks, expected)
    level, uncertainty = query_levels(counts.query, clicks, expected, query_shape, shape)
    prior_shape = 1.0 / (1.0 / shape + uncertainty[counts.query])
    place = _kept_place(counts, curve @ counts.shown / counts.pages[counts.query], curve**2 @ counts.shown)
    place = place / largest_of_query(counts, place)
    values = click_values(counts) if by == "value" else None
    return Judgements(
        counts, curve, effects, slot_shape, level, query_shape, shape, prior_shape, place, max_grade, predicted, values
    )


def largest_of_query(counts: CellCounts, values: FloatArray) -> FloatArray:
    """Return the largest value in the query of each cell."""
    starts = np.searchsorted(counts.query, np.arange(len(counts.queries)))
    return np.asarray(np.maximum.reduceat(values, starts)[counts.query])


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
