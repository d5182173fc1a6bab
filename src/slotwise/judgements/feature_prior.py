"""The clicks that the features of a document predict.

Clicks N of a document with e expected clicks have, given its features x, the mean e exp(xβ), with the Gamma prior of
shape κ around it (negative binomial regression; Cameron and Trivedi, Regression Analysis of Count Data, 1998). β has a
normal prior. Its strength is the one under which the clicks of queries that were left out are most likely; if none
does better than no features, β is 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from slotwise.core.types import FloatArray, IntArray

#: the precisions of β that are tried, and the steps of Newton's method
PRECISIONS = (1.0, 10.0, 100.0, 1e3, 1e4)
STEPS = 25
#: bounds of xβ: features change the expected clicks by at most a factor of 20
MAX_LOG = 3.0


def predicted_ratio(
    features: FloatArray, query: IntArray, clicks: FloatArray, expected: FloatArray, shape: float
) -> FloatArray:
    """Return exp(xβ) of each cell, the ratio of clicks to expected clicks that its features predict.

    Parameters
    ----------
    features
        Cells × features.
    query
        The number of the query of each cell.
    clicks, expected
        The clicks of each cell, and those expected from its slots and query.
    shape
        κ: how similar documents are.
    """
    fold = query % 2 == 0
    scores: dict[float | None, float] = {
        None: _held_out(np.zeros((2, features.shape[1])), features, fold, clicks, expected, shape)
    }
    for precision in PRECISIONS:
        halves = [_regress(features[part], clicks[part], expected[part], shape, precision) for part in (~fold, fold)]
        scores[precision] = _held_out(np.array(halves), features, fold, clicks, expected, shape)
    best = max(scores, key=lambda precision: scores[precision])
    if best is None:
        return np.ones(len(clicks))
    return _ratio(features, _regress(features, clicks, expected, shape, best))


def _held_out(
    weights: FloatArray, features: FloatArray, fold: FloatArray, clicks: FloatArray, expected: FloatArray, shape: float
) -> float:
    """Return the log-likelihood of each half of the queries given the weights learned from the other."""
    mean = expected * np.where(fold, _ratio(features, weights[0]), _ratio(features, weights[1]))
    terms = gammaln(shape + clicks) + clicks * np.log(mean) - (shape + clicks) * np.log(shape + mean)
    return float(terms.sum())


def _regress(
    features: FloatArray, clicks: FloatArray, expected: FloatArray, shape: float, precision: float
) -> FloatArray:
    """Return β, with the largest posterior density."""
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        mean = expected * _ratio(features, weights)
        slope = features.T @ ((clicks - mean) * shape / (shape + mean)) - precision * weights
        curvature = (features.T * (mean * shape / (shape + mean))) @ features + precision * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _ratio(features: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.clip(features @ weights, -MAX_LOG, MAX_LOG)))
