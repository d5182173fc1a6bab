"""What is learned of items by their features: where each is expected, how far from there, and how far to trust that."""

from __future__ import annotations

import math
from typing import Any

from slotwise.belief.learned import LONGEST_STEP
from slotwise.belief.prior import EULER, EXTRA_ITEMS, LEAST_SHAPE, NO_EXPOSURE, digamma, shape_of
from slotwise.compiled import inlined, jit
from slotwise.linear import factorise, inverse_root, solve
from slotwise.typing import FloatArray

#: what 1/variance of the weights of features of standard deviation 1 may be, with which chances before anything is
#: known, and 1 over the variance that weights have on average then; with the last one features explain next to nothing
RIDGES = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 1000.0)
CHANCES = (1 / 30, 1 / 30, 1 / 30, 1 / 30, 1 / 30, 1 / 30, 0.8)
RIDGE = 1.0 / sum(chance / ridge for chance, ridge in zip(CHANCES, RIDGES, strict=True))
#: s is no larger where there are features: items are then what these say, for all that matters
MOST_SHAPE = 100.0
#: the standard deviation of log s before anything is known, around 0
SHAPE_SPREAD = 2.0
#: the longest step of log s, and the difference that its second derivative is taken by
LONGEST_SHAPE_STEP = 0.5
DIFFERENCE = 0.1


@jit
def learn_items(belief: Any) -> None:
    """s and β from the items with exposure: a step of scoring for β, whose clicks are negative binomial, EM for s.

    Where features explain much, s is large and EM slow: with features there is a step of Newton's method for s instead,
    and how much they are trusted is learned too.
    """
    features, weights, step, matrix = belief.features, belief.weights, belief.feature_step, belief.feature_matrix
    factor = belief.feature_factor
    items, columns = features.shape
    segments = belief.exposure.shape[0]
    shape = belief.item_shape
    for column in range(columns):
        step[column] = 0.0
        for other in range(columns):
            matrix[column, other] = 0.0
    # items more, each with one click in one unit of exposure, as in `relearn`
    middle = math.exp(weights[0])
    step[0] = EXTRA_ITEMS * shape * (1.0 - middle) / (shape + middle)
    matrix[0, 0] = EXTRA_ITEMS * shape * middle / (shape + middle)
    extra = (shape + 1.0) / (shape / middle + 1.0)
    count, gap = EXTRA_ITEMS, EXTRA_ITEMS * (extra / middle - math.log(extra) + EULER + weights[0])
    for item in range(items):
        if belief.counted[item] == 0.0:
            continue
        clicks, exposure = _evidence_of(belief, item)
        if exposure > NO_EXPOSURE:
            mean = belief.item_mean[item]
            expected = mean * exposure
            score = shape * (clicks - expected) / (shape + expected)
            information = shape * expected / (shape + expected)
            for column in range(columns):
                step[column] += score * features[item, column]
                for other in range(column + 1):
                    matrix[column, other] += information * features[item, column] * features[item, other]
            if columns == 1:
                a, b = shape + clicks, shape / mean + exposure
                count += 1.0
                gap += a / b / mean - digamma(a) + math.log(b) + math.log(mean)
    if belief.own_features.shape[2] > 0:
        _score_cells(belief, step, matrix)
    for column in range(columns):
        # the score that β = 0 would have if the information were the same everywhere
        belief.feature_pull[column] = step[column]
        for other in range(columns):
            belief.feature_pull[column] += matrix[max(column, other), min(column, other)] * weights[other]
        if column > 0:
            step[column] -= belief.ridge * weights[column]
    _factorise_with(belief, belief.ridge)
    solve(factor, step, 0)
    inverse_root(factor, 1.0, belief.weights_root)
    for column in range(columns):
        weights[column] += min(LONGEST_STEP, max(-LONGEST_STEP, step[column]))
    for item in range(items):
        total = 0.0
        for column in range(columns):
            total += features[item, column] * weights[column]
        belief.item_mean[item] = math.exp(total)
        for segment in range(segments):
            total = 0.0
            for column in range(belief.own_features.shape[2]):
                total += belief.own_features[segment, item, column] * weights[column]
            belief.own_mean[segment, item] = math.exp(total)
    if columns > 1:
        _learn_shape(belief)
        _learn_ridge(belief)
    else:
        belief.item_shape = max(LEAST_SHAPE, shape_of(max(1e-5, gap / count - 1.0)))


@inlined
def _evidence_of(belief: Any, item: int) -> tuple[float, float]:
    """Clicks on an item and its exposure, as far as they tell of m, what it is to everybody.

    With several crowds ε is learned from the same clicks: with it integrated out, those of a cell say as much as their
    part κ/(κ + mE) would if ε were known.
    """
    clicks, exposure = 0.0, 0.0
    segments, own = belief.exposure.shape[0], belief.own_taste
    for segment in range(segments):
        part, seen = 1.0, belief.exposure[segment, item]
        if segments > 1:
            seen *= belief.own_mean[segment, item]
            part = own / (own + belief.level[item] * seen)
        clicks += part * belief.clicks[0, segment, item]
        exposure += part * seen
    return clicks, exposure


@jit
def _factorise_with(belief: Any, ridge: float) -> None:
    """The Cholesky factor of the information on β, with a ridge for all but the constant."""
    matrix, factor = belief.feature_matrix, belief.feature_factor
    for column in range(len(matrix)):
        for other in range(column + 1):
            factor[column, other] = matrix[column, other]
        if column > 0:
            factor[column, column] += ridge
        belief.feature_noise[column] = 0.0
    factorise(factor, belief.feature_noise, 0)


@jit
def _learn_shape(belief: Any) -> None:
    """A step of Newton's method for log s, to where the clicks are likeliest with attractiveness and β integrated out.

    Before anything is known log s is normal around 0: few items, or items that are all alike, say little of it.
    """
    items, columns = belief.features.shape
    room, root = belief.item_room, belief.weights_root
    for item in range(items):
        clicks, exposure, unsure = 0.0, 0.0, 0.0
        if belief.counted[item] > 0.0:
            clicks, exposure = _evidence_of(belief, item)
        if exposure > NO_EXPOSURE:
            # the variance of x_jᵀβ
            for column in range(columns):
                along = 0.0
                for other in range(column + 1):
                    along += belief.features[item, other] * root[other, column]
                unsure += along * along
        else:
            exposure = 0.0
        room[0, item], room[1, item], room[2, item] = clicks, exposure * belief.item_mean[item], unsure
    now = math.log(belief.item_shape)
    slope = _slope_of_shape(room, now)
    bend = (_slope_of_shape(room, now + DIFFERENCE) - slope) / DIFFERENCE
    step = math.copysign(LONGEST_SHAPE_STEP, slope)
    if bend < 0.0:
        step = min(LONGEST_SHAPE_STEP, max(-LONGEST_SHAPE_STEP, -slope / bend))
    belief.item_shape = min(MOST_SHAPE, max(LEAST_SHAPE, math.exp(now + step)))


@jit
def _slope_of_shape(room: FloatArray, log_shape: float) -> float:
    """By log s, of the logarithm of how likely the clicks are; β is integrated out by Laplace's method."""
    shape, total = math.exp(log_shape), 0.0
    of_shape = log_shape + 1.0 - digamma(shape)
    for item in range(room.shape[1]):
        clicks, expected = room[0, item], room[1, item]
        if expected > 0.0:
            both = shape + expected
            total += of_shape + digamma(shape + clicks) - math.log(both) - (shape + clicks) / both
            total -= 0.5 * (expected / both) ** 2 * room[2, item]
    return total * shape - log_shape / SHAPE_SPREAD**2


@jit
def _learn_ridge(belief: Any) -> None:
    """The ridge whose variance is what the variance of weights is on average, given the clicks.

    With information H and pull h, how likely the clicks are with ridge r is, but for a constant, the exponential of
    ½ hᵀ(H + rI)⁻¹h - ½ log det(H + rI) + ½ d log r, d the number of features and I without the constant.
    """
    pull, found, factor = belief.feature_pull, belief.feature_step, belief.feature_factor
    columns = len(pull)
    most, total, variance = -math.inf, 0.0, 0.0
    for number in range(len(RIDGES)):
        ridge = RIDGES[number]
        _factorise_with(belief, ridge)
        for column in range(columns):
            found[column] = pull[column]
        solve(factor, found, 0)
        likely = math.log(CHANCES[number]) + 0.5 * (columns - 1.0) * math.log(ridge)
        for column in range(columns):
            likely += 0.5 * pull[column] * found[column] - math.log(factor[column, column])
        # of a matrix that is not regular
        if likely == -math.inf:
            continue
        if likely > most:
            total *= math.exp(most - likely)
            variance *= math.exp(most - likely)
            most = likely
        total += math.exp(likely - most)
        variance += math.exp(likely - most) / ridge
    if total > 0.0:
        belief.ridge = total / variance


@jit
def _score_cells(belief: Any, step: FloatArray, matrix: FloatArray) -> None:
    """Add what cells say of β by the features that are of segment and item: their clicks are negative binomial too."""
    segments, items, columns = belief.own_features.shape
    own = belief.own_taste
    for segment in range(segments):
        for item in range(items):
            expected = belief.level[item] * belief.own_mean[segment, item] * belief.exposure[segment, item]
            if expected > NO_EXPOSURE:
                score = own * (belief.clicks[0, segment, item] - expected) / (own + expected)
                information = own * expected / (own + expected)
                for column in range(1, columns):
                    feature = belief.own_features[segment, item, column]
                    step[column] += score * feature
                    for other in range(1, column + 1):
                        matrix[column, other] += information * feature * belief.own_features[segment, item, other]
