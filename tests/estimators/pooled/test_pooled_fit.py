"""The default of `slotwise fit`: finite for everything, right where the data say, and as sure as it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import polygamma, psi

from slotwise import EMPTY, NO_CLICK, Rankings
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators import maximum_likelihood
from slotwise.estimators.likelihoods.list_likelihood import expected
from slotwise.estimators.pooled import marginal_likelihood, pooled_fit
from slotwise.estimators.pooled.cell_prior import CellPrior, SymmetricPrior
from slotwise.estimators.pooled.exposure_prior import Shown
from slotwise.estimators.pooled.placement_cells import Cells
from slotwise.estimators.pooled.pooled_fit import BIAS_SHAPE, learn, pool
from tests.logs.synthetic_impressions import rankings

BIAS = np.array([1.0, 0.6, 0.4, 0.25])


def ordered(rng: np.random.Generator, impressions: int, bias: FloatArray = BIAS, items: int = 8) -> Rankings:
    """A page that shows what is best first, give or take: items seldom stand far from their usual slots."""
    slots = len(bias)
    alpha = np.exp(rng.normal(-1.5, 0.8, items))
    order = np.argsort(-alpha * np.exp(rng.normal(0.0, 0.3, items)))
    shown = order[np.argsort(np.arange(items) + rng.normal(0.0, 1.2, (impressions, items)), axis=1)][:, :slots]
    return chosen(rng, shown, bias, alpha)


def chosen(rng: np.random.Generator, shown: IntArray, bias: FloatArray, alpha: FloatArray) -> Rankings:
    """Lists, one a row, and what users choose from them."""
    weights = np.cumsum(bias * alpha[shown], axis=1)
    left = rng.random(len(shown)) * (1.0 + weights[:, -1]) - 1.0
    clicked = np.where(left < 0.0, NO_CLICK, np.minimum((weights <= left[:, None]).sum(axis=1), len(bias) - 1))
    return Rankings.of_rounds(shown, clicked, items=len(alpha))


def test_with_much_data_it_is_maximum_likelihood() -> None:
    seen = rankings(np.outer(BIAS, [0.3, 0.1, 0.5, 0.2, 0.4]), 20_000, np.random.default_rng(1))
    (found,), wanted = pool([seen]).estimates, maximum_likelihood(seen)
    assert found.converged
    assert found.identifiable
    assert found.attractiveness == pytest.approx(wanted.attractiveness, rel=0.03)
    assert found.position_bias == pytest.approx(wanted.position_bias, rel=0.03)
    for mine, theirs in zip(found.intervals(), wanted.intervals(), strict=True):
        assert mine.width == pytest.approx(theirs.width, rel=0.1)


ODD: dict[str, Any] = {
    "a fixed order": Rankings([[0, 1, 2]], [[30, 20, 5]], [50], items=3),
    "everything is clicked": Rankings([[0, 1], [1, 0]], [[100, 80], [90, 70]], [0, 0], items=2),
    "nothing is clicked": Rankings([[0, 1], [1, 0]], [[0, 0], [0, 0]], [9, 9], items=2),
    "an item that was never shown": Rankings([[0, 1], [1, 0]], [[3, 2], [1, 4]], [9, 9], items=3),
    "a group that never loses": Rankings([[0, 1], [2, 3]], [[1, 1], [5, 3]], [0, 9], items=4),
    "an empty slot": Rankings([[0, EMPTY, 1], [1, EMPTY, 0]], [[3, 0, 1], [2, 0, 2]], [9, 9], items=2),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("by_tally", [False, True])
def test_everything_has_a_finite_answer(name: str, by_tally: bool) -> None:
    seen = ODD[name].tally if by_tally else ODD[name]
    (found,) = pool([seen]).estimates
    for values, intervals in zip((found.attractiveness, found.position_bias), found.intervals(), strict=True):
        assert np.isfinite(values).all()
        assert (values > 0).all()
        assert (intervals.low <= values).all()
        assert (values <= intervals.high).all()
        assert np.isfinite(intervals.high).all()
    clicked = seen.tally.clicks.sum(axis=1) if not by_tally else seen.clicks.sum(axis=1)
    assert (found.position_bias[clicked > 50] > 0.1).all()


def test_little_is_known_of_a_fixed_order() -> None:
    (fixed,) = pool([Rankings([[0, 1, 2]], [[3000, 2000, 500]], [5000], items=3)]).estimates
    bias = fixed.intervals().position_bias
    assert (bias.high[1:] > 4 * bias.low[1:]).all()
    assert not fixed.identifiable


def test_position_bias_is_recovered_if_the_best_items_come_first() -> None:
    """Within five standard errors: false alarm below 1e-5 a slot."""
    rng = np.random.default_rng(2)
    seen = [ordered(rng, 12) for _ in range(400)]
    found = pool(seen)
    errors = found.estimates[0].position_bias_error
    assert (np.abs(found.position_bias - BIAS)[1:] < 5 * errors[1:]).all()
    assert (errors[1:] < 0.15 * BIAS[1:]).all()


def test_own_position_bias_is_shrunk_toward_the_shared_one() -> None:
    rng = np.random.default_rng(3)
    alpha = [0.3, 0.1, 0.5, 0.2, 0.4]
    flat, steep = (rankings(np.outer(bias, alpha), 2_000, rng) for bias in ([1.0, 0.9, 0.9], [1.0, 0.3, 0.2]))
    learned = learn([flat, steep])
    shared, own = (learned.pooled(own=own) for own in (False, True))
    assert shared.estimates[0].position_bias.tolist() == shared.estimates[1].position_bias.tolist()
    assert own.estimates[0].position_bias[2] > 0.75
    assert own.estimates[1].position_bias[2] < 0.35
    assert own.estimates[1].position_bias[2] < own.position_bias[2] < own.estimates[0].position_bias[2]
    nothing = Rankings([[0, 1, 2]], [[0, 0, 0]], [1], items=3)
    unknown = learn([flat, steep, nothing]).pooled(own=True)
    assert unknown.estimates[2].position_bias == pytest.approx(unknown.position_bias, rel=0.1)
    width = [found.intervals().position_bias.width[2] / found.position_bias[2] for found in unknown.estimates]
    assert width[2] > 2.0 * max(width[:2])


def test_an_item_of_several_placements_is_known_for_it() -> None:
    """Items that are worth the same everywhere: one that a placement has not shown is what it is elsewhere."""
    rng = np.random.default_rng(4)
    alpha = np.exp(rng.normal(-1.5, 1.0, 30))
    pages = [rankings(np.outer(BIAS, alpha), 1_500, rng) for _ in range(3)]
    new = Rankings(pages[0].shown, pages[0].clicks, pages[0].passes, items=31)
    numbers = [np.arange(30)] * 3 + [np.concatenate([rng.permutation(30), [30]])]
    found = pool([*pages, new], numbers).estimates[0]
    assert np.corrcoef(np.log(found.attractiveness), np.log(alpha))[0, 1] > 0.9
    silent = Rankings([[0, 1, 2, 3]], [[0, 0, 0, 0]], [1], items=30)
    guessed = pool([*pages, silent], [np.arange(30)] * 4).estimates[3]
    assert np.corrcoef(np.log(guessed.attractiveness), np.log(alpha))[0, 1] > 0.8


def test_features_predict_items_that_were_not_shown() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(60, 2))
    alpha = np.exp(-1.5 + features @ [0.8, 0.0] + rng.normal(0.0, 0.2, 60))
    seen = rankings(np.outer(BIAS, alpha[:50]), 4_000, rng)
    wider = Rankings(seen.shown, seen.clicks, seen.passes, items=60)
    (found,) = pool([wider], features=features).estimates
    assert np.corrcoef(np.log(found.attractiveness[50:]), np.log(alpha[50:]))[0, 1] > 0.9


def test_a_known_bias_is_kept() -> None:
    seen = rankings(np.outer(BIAS, [0.3, 0.1, 0.5, 0.2, 0.4]), 2_000, np.random.default_rng(6))
    (found,) = pool([seen], position_bias=BIAS).estimates
    assert found.position_bias.tolist() == BIAS.tolist()
    assert found.position_bias_error.tolist() == [0.0] * 4
    with pytest.raises(InvalidInput, match="position_bias must have one entry per slot, 4, got 2"):
        pool([seen], position_bias=BIAS[:2])


@pytest.mark.parametrize("placements", [1, 3])
def test_errors_are_those_of_the_inverse_curvature(placements: int) -> None:
    """Of the joint density in log α, log λ, the weights of the prior and the effects of placements, by differences."""
    rng = np.random.default_rng(7)
    seen = [rankings(np.outer(BIAS[:3], np.exp(rng.normal(-1.0, 0.5, 4))), 60, rng) for _ in range(placements)]
    learned = learn(seen)
    prior, together = learned.prior, learned.together
    effects = prior.placements
    cells, weights = 4 * placements, len(prior.weights)
    symmetric = SymmetricPrior.of(prior.shapes, np.ones(4 * placements))

    def density(point: FloatArray) -> float:
        alpha, bias, weight, effect = np.split(point, [cells, cells + 2, cells + 2 + weights])
        mean = prior.design @ weight
        if effects is not None:
            mean = mean + effect[effects.group]
        off = alpha - mean - np.log(symmetric.centre)
        total = (symmetric.shape * (off - 2.0 * np.log1p(np.exp(off)))).sum()
        total += BIAS_SHAPE * (bias - np.exp(bias)).sum() - ((weight - prior.centre) ** 2 / prior.variance).sum() / 2
        if effects is not None:
            total -= (effect**2).sum() / effects.variance / 2
        odds = np.outer(np.exp(np.append(0.0, bias)), np.exp(alpha))
        for number, one in enumerate(seen):
            total += expected(one, np.ascontiguousarray(odds[:, 4 * number : 4 * number + 4])).log_likelihood
        return float(total)

    at = np.concatenate(
        [
            np.log(together.attractiveness),
            np.log(together.position_bias[1:]),
            prior.weights,
            np.zeros(0) if effects is None else effects.values,
        ]
    )
    # α and λ are at their maximum given the weights, and with that the curvature is that of the exponential terms
    step, size = 1e-3, len(at)
    unit = step * np.eye(size)
    curved = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            parts = [density(at + a * unit[i] + b * unit[j]) * a * b for a in (1, -1) for b in (1, -1)]
            curved[i, j] = curved[j, i] = -sum(parts) / (4 * step * step)
    wanted = np.sqrt(np.diag(np.linalg.inv(curved)))
    found = [together.log_errors(number) for number in range(placements)]
    assert np.concatenate([items for items, _ in found]) == pytest.approx(wanted[:cells], rel=0.02)
    assert found[0][1][1:] == pytest.approx(wanted[cells : cells + 2], rel=0.02)


def test_usual_slots_separate_position_bias_from_attractiveness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without their effects, upper slots would get the credit for the good items in them."""
    rng = np.random.default_rng(2)
    seen = [ordered(rng, 12) for _ in range(400)]
    sound = pool(seen).position_bias[-1]
    nowhere = Cells.of(seen).shown._replace(slot_shares=np.zeros((8 * 400, 0)), of_one=np.zeros((0, 0)))
    monkeypatch.setattr(Cells, "shown", nowhere)
    assert pool(seen).position_bias[-1] < 0.8 * sound


def test_rarely_shown_items_are_not_estimated_like_often_shown_ones() -> None:
    """Of items with attractiveness 0.05 that were shown four or five times: 0.03 to 0.07 with these and other seeds.

    If nothing were made of how often items are shown, 0.19 to 0.22.
    """
    rng = np.random.default_rng(9)
    often, seldom = 20, 60
    alpha = np.exp(rng.normal(np.repeat([-1.0, -3.0], [often, seldom]), 0.3))
    weights = np.repeat([1.0, 0.01], [often, seldom])
    shown = np.argsort(-(rng.random((3_000, often + seldom)) ** (1.0 / weights)), axis=1)[:, :4]
    (found,) = pool([chosen(rng, shown, BIAS, alpha)]).estimates
    assert np.exp(np.log(found.attractiveness[often:]).mean()) < 0.12


def test_the_shape_is_that_of_the_items() -> None:
    """κ of 3,000 cells that are Gamma-distributed around what they have in common; five standard errors are 25 %."""
    rng = np.random.default_rng(8)
    exposure = np.full((1, 3_000), 200.0)
    clicks = rng.poisson(200.0 * rng.gamma(2.0, 0.1 / 2.0, 3_000))[None, :].astype(float)
    zeros = np.zeros(3_000, np.int64)
    prior = CellPrior.of(0.5, Shown.of(exposure, np.full(3_000, 200.0)), zeros, np.arange(3_000))
    for _ in range(20):
        marginal_likelihood.learn_prior(prior, np.ones(1), BIAS_SHAPE, clicks, exposure, free=True)
    assert prior.shape == pytest.approx(2.0, rel=0.25)
    assert prior.mean[0] == pytest.approx(0.1, rel=0.1)


def test_counts_that_the_prior_is_learned_from_have_the_score_of_the_choices() -> None:
    """Where most impressions have a click, a cell tells less of itself than its clicks; what it tells is no other."""
    lists, clicks, passes = np.array([[0, 1], [1, 0], [2, 0]]), np.array([[60, 21], [32, 28], [9, 40]]), [19, 40, 51]
    found = learn([Rankings(lists, clicks, passes, items=3)]).together
    bias, alpha = found.position_bias, found.attractiveness
    gamma = bias * alpha[lists]
    foreseen = (clicks.sum(axis=1) + passes)[:, None] * gamma / (1.0 + gamma.sum(axis=1, keepdims=True))
    score = np.zeros((2, 3))
    np.add.at(score, (np.broadcast_to([0, 1], lists.shape), lists), clicks - foreseen)
    told, exposed = pooled_fit._effective_counts(found.cells, found.likelihood, bias, alpha)
    assert told - exposed * np.outer(bias, alpha) == pytest.approx(score, abs=1e-9)
    assert told.sum() < 0.8 * clicks.sum()


def test_intervals_of_own_slots_are_symmetric_on_the_log_scale() -> None:
    """As the prior of their logarithms is normal; those of shared slots have the Gamma shape of their prior."""
    rng = np.random.default_rng(3)
    seen = [rankings(np.outer(BIAS, np.exp(rng.normal(-1.0, 0.5, 6))), 100, rng) for _ in range(3)]
    for own in (True, False):
        estimate = pool(seen, own=own).estimates[0]
        limits = estimate.intervals(0.95).position_bias
        middle = np.sqrt(limits.low * limits.high)[1:]
        assert np.allclose(middle, estimate.position_bias[1:]) == own


def test_a_symmetric_prior_has_the_mean_and_the_variance_of_the_gamma_prior() -> None:
    """By quadrature, for as little and as much as κ can be."""
    shapes, mean = np.array([0.06, 0.5, 2.0, 300.0]), np.array([1.0, 0.2, 3.0, 1.0])
    symmetric = SymmetricPrior.of(shapes, mean)
    for c, centre, kappa, m in zip(*symmetric, shapes, mean, strict=True):
        x = np.linspace(-300.0, 300.0, 600_001) / np.sqrt(kappa)
        weights = np.exp(c * (x - 2.0 * np.logaddexp(0.0, x) + np.log(4.0)))
        assert np.log(centre) == pytest.approx(psi(kappa) - np.log(kappa / m))
        assert weights @ x**2 / weights.sum() == pytest.approx(polygamma(1, kappa), rel=1e-3)


def test_its_gamma_prior_touches_it() -> None:
    alpha, step = np.array([0.1, 1.0, 8.0]), 1e-4
    symmetric = SymmetricPrior.of(np.full(3, 2.0), np.ones(3))

    def density(log_alpha: FloatArray) -> FloatArray:
        off = log_alpha - np.log(symmetric.centre)
        return np.asarray(symmetric.shape * (off - 2.0 * np.log1p(np.exp(off))))

    shape, rate = symmetric.gamma_at(alpha)
    low, middle, high = (density(np.log(alpha) + off) for off in (-step, 0.0, step))
    assert shape - rate * alpha == pytest.approx((high - low) / (2 * step), rel=1e-5)
    assert rate * alpha == pytest.approx((2 * middle - low - high) / step**2, rel=1e-4)


def test_an_item_that_is_far_better_than_all_others_is_shrunk_less() -> None:
    """One item in a hundred is thirty times as attractive; `roughly` leaves it with the Gamma prior."""
    alpha = np.full(100, 0.2)
    alpha[7] = 6.0
    rng = np.random.default_rng(4)
    seen = chosen(rng, np.argsort(rng.random((400, 100)), axis=1)[:, :3], BIAS[:3], alpha)
    found, gamma = (learn([seen], roughly=roughly).together.attractiveness[7] for roughly in (False, True))
    assert 1.2 * gamma < found < alpha[7]
