"""Gamma regression of the levels of items on their features: weights, dispersion, and a Bayes factor for using it.

There are two fits, each with its own weights and shape: one by a constant alone and one by all features. The fit in use
is chosen by the marginal likelihood of the clicks, with the weights and the ridge integrated out.
"""

from __future__ import annotations

import math

import numpy as np

from slotwise.core.small_linalg import factorise, inverse_root, solve
from slotwise.core.types import FloatArray
from slotwise.jit import inlined, jit
from slotwise.posterior.gamma_prior import (
    ATTRACTIVENESS_RATE,
    ATTRACTIVENESS_SHAPE,
    EULER,
    EXTRA_ITEMS,
    MAX_STEP,
    MIN_SHAPE,
    NO_EXPOSURE,
    digamma,
    shape_of,
)
from slotwise.posterior.state import IN_USE, ItemFit, ItemPrior, PosteriorCounts, SegmentEffects

#: prior probability that features do not matter
PROBABILITY_USELESS = 0.8
#: candidates of the ridge, 1/variance of the weights of features with standard deviation 1, equally likely a priori;
#: and 1 over the prior mean of that variance
RIDGES = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
RIDGE = len(RIDGES) / sum(1.0 / ridge for ridge in RIDGES)
#: s is no larger: features then determine the levels of items for all practical purposes
MAX_SHAPE = 100.0
#: prior standard deviation of log s, whose prior mean is 0
LOG_SHAPE_SD = 2.0
#: the longest step of log s, and the step of the difference quotient for its second derivative
MAX_SHAPE_STEP = 0.5
DIFFERENCE = 0.1


def starting_fit(items: int, columns: int, ridge: float) -> ItemFit:
    """Return the fit before the first round; `columns` counts the constant and the features."""
    return ItemFit(
        shape=ATTRACTIVENESS_SHAPE,
        mean=np.full(items, ATTRACTIVENESS_SHAPE / ATTRACTIVENESS_RATE),
        weights=np.zeros(columns),
        root=np.diag(np.append(0.0, np.full(columns - 1, 1.0 / math.sqrt(ridge)))),
        ridge=ridge,
        score=np.zeros(columns),
        information=np.zeros((columns, columns)),
        pull=np.zeros(columns),
        noise=np.zeros(columns),
        factor=np.zeros((columns, columns)),
        room=np.zeros((3, items)),
    )


@jit
def learn_items(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects) -> None:
    """Fit s and β to the items with exposure: a step of Fisher scoring for β, and of EM for s.

    Clicks are negative binomial. If features explain much, s is large and EM is slow, so that with features s takes a
    step of Newton's method instead.
    """
    plain, featured = items.constant, items.featured
    weigh_evidence(counts, items, segments)
    if len(featured.weights) > 1:
        lead = fit_items(counts, items, segments, featured) - fit_items(counts, items, segments, plain)
        use_fit(items, lead > math.log(PROBABILITY_USELESS / (1.0 - PROBABILITY_USELESS)))
    else:
        _score(counts, items, segments, plain)
        shape = _shape_by_em(counts, segments, plain)
        _step(items, plain)
        plain.shape = shape
        use_fit(items, False)


@jit
def use_fit(items: ItemPrior, features: bool) -> None:
    """Set the prior of levels and deviations to the fit by features, or to the fit by the constant."""
    items.uses_features = features
    items.shape = items.featured.shape if features else items.constant.shape
    number_of_segments, number_of_items, columns = items.segment_features.shape
    for item in range(number_of_items):
        items.mean[item] = items.featured.mean[item] if features else items.constant.mean[item]
        if columns > 0:
            for segment in range(number_of_segments):
                items.segment_mean[segment, item] = _segment_mean(items, segment, item) if features else 1.0


@inlined
def _segment_mean(items: ItemPrior, segment: int, item: int) -> float:
    """Return ν of a segment and an item by the fit with features."""
    total = 0.0
    for column in range(items.segment_features.shape[2]):
        total += items.segment_features[segment, item, column] * items.featured.weights[column]
    return math.exp(total)


@jit
def fit_items(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, fit: ItemFit) -> float:
    """Take a step of β, s and the ridge; return the log marginal likelihood, with β and the ridge integrated out."""
    _score(counts, items, segments, fit)
    likely = _log_likelihood(counts, items, segments, fit)
    for column in range(len(fit.weights)):
        likely -= fit.pull[column] * fit.weights[column]
        for other in range(len(fit.weights)):
            information = fit.information[max(column, other), min(column, other)]
            likely += 0.5 * fit.weights[column] * information * fit.weights[other]
    _step(items, fit)
    _learn_shape(counts, items, segments, fit)
    return likely + _learn_ridge(fit)


@jit
def _score(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, fit: ItemFit) -> None:
    """Set score, information (its lower triangle) and pull at β."""
    features, score, information = items.features, fit.score, fit.information
    columns, shape = len(fit.weights), fit.shape
    for column in range(columns):
        score[column] = 0.0
        for other in range(columns):
            information[column, other] = 0.0
    # pseudo-items with one click in one unit of exposure each: with few items the fit would be overconfident
    middle = math.exp(fit.weights[0])
    score[0] = EXTRA_ITEMS * shape * (1.0 - middle) / (shape + middle)
    information[0, 0] = EXTRA_ITEMS * shape * middle / (shape + middle)
    for item in range(len(fit.mean)):
        if counts.item_rounds[item] == 0.0:
            continue
        clicks, exposure = segments.evidence_clicks[item], segments.evidence_exposure[item]
        if exposure > NO_EXPOSURE:
            expected = fit.mean[item] * exposure
            residual = shape * (clicks - expected) / (shape + expected)
            weight = shape * expected / (shape + expected)
            for column in range(columns):
                score[column] += residual * features[item, column]
                for other in range(column + 1):
                    information[column, other] += weight * features[item, column] * features[item, other]
    if columns > 1 and items.segment_features.shape[2] > 0:
        _score_cells(counts, items, segments, fit)
    for column in range(columns):
        fit.pull[column] = score[column]
        for other in range(columns):
            fit.pull[column] += information[max(column, other), min(column, other)] * fit.weights[other]


@jit
def _score_cells(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, fit: ItemFit) -> None:
    """Add the score and information of the features of segments and items; clicks of cells are negative binomial."""
    number_of_segments, number_of_items, columns = items.segment_features.shape
    own = segments.similarity
    for segment in range(number_of_segments):
        if not segments.is_used[segment]:
            continue
        for item in range(number_of_items):
            exposure = segments.exposure[segment, item]
            if exposure > NO_EXPOSURE:
                expected = segments.level[item] * _segment_mean(items, segment, item) * exposure
                score = own * (counts.clicks[IN_USE, segment, item] - expected) / (own + expected)
                weight = own * expected / (own + expected)
                for column in range(1, columns):
                    feature = items.segment_features[segment, item, column]
                    fit.score[column] += score * feature
                    for other in range(1, column + 1):
                        fit.information[column, other] += (
                            weight * feature * items.segment_features[segment, item, other]
                        )


@jit
def _log_likelihood(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, fit: ItemFit) -> float:
    """Return the log-likelihood of the clicks on items and pseudo-items, and of s, less terms that both fits share."""
    shape = fit.shape
    total = EXTRA_ITEMS * _negative_binomial(shape, math.exp(fit.weights[0]), 1.0, 1.0)
    total -= 0.5 * (math.log(shape) / LOG_SHAPE_SD) ** 2
    for item in range(len(fit.mean)):
        if counts.item_rounds[item] > 0.0:
            clicks, exposure = segments.evidence_clicks[item], segments.evidence_exposure[item]
            if exposure > NO_EXPOSURE:
                total += _negative_binomial(shape, fit.mean[item], clicks, exposure)
    if len(fit.weights) > 1 and items.segment_features.shape[2] > 0:
        number_of_segments, number_of_items, _ = items.segment_features.shape
        for segment in range(number_of_segments):
            for item in range(number_of_items):
                clicks, exposure = counts.clicks[IN_USE, segment, item], segments.exposure[segment, item]
                if exposure > NO_EXPOSURE:
                    # against the likelihood without features of segments and items
                    level, own = segments.level[item], segments.similarity
                    total += _negative_binomial(own, level * _segment_mean(items, segment, item), clicks, exposure)
                    total -= _negative_binomial(own, level, clicks, exposure)
    return total


@inlined
def _negative_binomial(shape: float, mean: float, clicks: float, exposure: float) -> float:
    """Return the log-probability of clicks given α ~ Gamma(s, s/mean), less terms without s and the mean."""
    rate = shape / mean
    of_shape = math.lgamma(shape + clicks) - math.lgamma(shape)
    return of_shape + shape * math.log(rate) - (shape + clicks) * math.log(rate + exposure)


@jit
def _step(items: ItemPrior, fit: ItemFit) -> None:
    """Take a step of β, and set the root of its covariance and μ."""
    step, weights, columns = fit.score, fit.weights, len(fit.weights)
    for column in range(1, columns):
        step[column] -= fit.ridge * weights[column]
    _factorise_with(fit, fit.ridge)
    solve(fit.factor, step, 0)
    inverse_root(fit.factor, 1.0, fit.root)
    for column in range(columns):
        weights[column] += min(MAX_STEP, max(-MAX_STEP, step[column]))
    for item in range(len(fit.mean)):
        total = 0.0
        for column in range(columns):
            total += items.features[item, column] * weights[column]
        fit.mean[item] = math.exp(total)


@jit
def _factorise_with(fit: ItemFit, ridge: float) -> None:
    """Set the Cholesky factor of the information on β, with a ridge for all but the constant."""
    information, factor = fit.information, fit.factor
    for column in range(len(information)):
        for other in range(column + 1):
            factor[column, other] = information[column, other]
        if column > 0:
            factor[column, column] += ridge
        fit.noise[column] = 0.0
    factorise(factor, fit.noise, 0)


@jit
def weigh_evidence(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects) -> None:
    """Sum up the clicks on each item, and its clicks and exposure that count as evidence of its level m.

    With several segments ε is estimated from the same clicks. With ε integrated out, the clicks of a cell count
    κ/(κ + mE) of what they would if ε were known.
    """
    number_of_segments, number_of_items = segments.exposure.shape
    for item in range(number_of_items):
        segments.level_clicks[item] = segments.evidence_clicks[item] = segments.evidence_exposure[item] = 0.0
    for segment in range(number_of_segments):
        if segments.is_used[segment]:
            for item in range(number_of_items):
                clicks, seen = counts.clicks[IN_USE, segment, item], _seen(items, segments, segment, item)
                part = evidence_part(items, segments, segment, item)
                segments.level_clicks[item] += clicks
                segments.evidence_clicks[item] += part * clicks
                segments.evidence_exposure[item] += part * seen


@inlined
def evidence_part(items: ItemPrior, segments: SegmentEffects, segment: int, item: int) -> float:
    """Return κ/(κ + mνE) of a cell; 1 with one segment."""
    own = segments.similarity
    if segments.exposure.shape[0] == 1:
        return 1.0
    return own / (own + float(segments.level[item]) * _seen(items, segments, segment, item))


@inlined
def _seen(items: ItemPrior, segments: SegmentEffects, segment: int, item: int) -> float:
    """Return νE of a cell."""
    return float(items.segment_mean[segment, item] * segments.exposure[segment, item])


@jit
def _shape_by_em(counts: PosteriorCounts, segments: SegmentEffects, fit: ItemFit) -> float:
    """Return s by EM: log s - ψ(s) = mean(E m/μ - E log(m/μ)) - 1 over items with exposure and pseudo-items."""
    shape, middle = fit.shape, math.exp(fit.weights[0])
    extra = (shape + 1.0) / (shape / middle + 1.0)
    count, gap = EXTRA_ITEMS, EXTRA_ITEMS * (extra / middle - math.log(extra) + EULER + fit.weights[0])
    for item in range(len(fit.mean)):
        if counts.item_rounds[item] == 0.0:
            continue
        clicks, exposure = segments.evidence_clicks[item], segments.evidence_exposure[item]
        if exposure > NO_EXPOSURE:
            mean = fit.mean[item]
            a, b = shape + clicks, shape / mean + exposure
            count += 1.0
            gap += a / b / mean - digamma(a) + math.log(b) + math.log(mean)
    return max(MIN_SHAPE, shape_of(max(1e-5, gap / count - 1.0)))


@jit
def _learn_shape(counts: PosteriorCounts, items: ItemPrior, segments: SegmentEffects, fit: ItemFit) -> None:
    """Take a step of Newton's method for log s, toward the maximum marginal likelihood of the clicks.

    The prior of log s is normal around 0: few items, or items that are all alike, hardly determine it.
    """
    room, columns = fit.room, len(fit.weights)
    for item in range(len(fit.mean)):
        clicks, exposure, variance_of_log_mean = 0.0, 0.0, 0.0
        if counts.item_rounds[item] > 0.0:
            clicks, exposure = segments.evidence_clicks[item], segments.evidence_exposure[item]
        if exposure > NO_EXPOSURE:
            # the variance of x_jᵀβ
            for column in range(columns):
                along = 0.0
                for other in range(column + 1):
                    along += items.features[item, other] * fit.root[other, column]
                variance_of_log_mean += along * along
        else:
            exposure = 0.0
        room[0, item], room[1, item], room[2, item] = clicks, exposure * fit.mean[item], variance_of_log_mean
    now = math.log(fit.shape)
    slope = _slope_of_shape(room, now)
    bend = (_slope_of_shape(room, now + DIFFERENCE) - slope) / DIFFERENCE
    step = math.copysign(MAX_SHAPE_STEP, slope)
    if bend < 0.0:
        step = min(MAX_SHAPE_STEP, max(-MAX_SHAPE_STEP, -slope / bend))
    fit.shape = min(MAX_SHAPE, max(MIN_SHAPE, math.exp(now + step)))


@jit
def _slope_of_shape(room: FloatArray, log_shape: float) -> float:
    """Return the derivative by log s of the log marginal likelihood, with β integrated out by Laplace's method."""
    shape, total = math.exp(log_shape), 0.0
    of_shape = log_shape + 1.0 - digamma(shape)
    for item in range(room.shape[1]):
        clicks, expected = room[0, item], room[1, item]
        if expected > 0.0:
            both = shape + expected
            total += of_shape + digamma(shape + clicks) - math.log(both) - (shape + clicks) / both
            total -= 0.5 * (expected / both) ** 2 * room[2, item]
    return total * shape - log_shape / LOG_SHAPE_SD**2


@jit
def _learn_ridge(fit: ItemFit) -> float:
    """Set the ridge to 1 over the posterior mean of the variance of weights; return the log marginal likelihood.

    With information H and pull h, the log-likelihood of ridge r is, up to a constant,
    ½ hᵀ(H + rI)⁻¹h - ½ log det(H + rI) + ½ d log r, d the number of features and I without the constant. The result is
    the logarithm of the average likelihood of the candidates.
    """
    pull, solution, factor = fit.pull, fit.score, fit.factor
    columns = len(pull)
    most, total, variance = -math.inf, 0.0, 0.0
    for ridge in RIDGES:
        _factorise_with(fit, ridge)
        for column in range(columns):
            solution[column] = pull[column]
        solve(factor, solution, 0)
        likely = 0.5 * (columns - 1.0) * math.log(ridge)
        for column in range(columns):
            likely += 0.5 * pull[column] * solution[column] - math.log(factor[column, column])
        # the matrix is singular
        if likely == -math.inf:
            continue
        if likely > most:
            total *= math.exp(most - likely)
            variance *= math.exp(most - likely)
            most = likely
        total += math.exp(likely - most)
        variance += math.exp(likely - most) / ridge
    if total == 0.0:
        return most
    fit.ridge = total / variance
    return most + math.log(total / len(RIDGES))
