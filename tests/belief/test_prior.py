from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from slotwise import Setting
from slotwise.belief import imagine, told_bias, update_by_tally
from slotwise.belief.prior import EULER, EXTRA_ITEMS, LEAST_SHAPE, digamma, learned_prior, relearn, shape_of, trigamma

pytestmark = pytest.mark.usefixtures("interpreting")


@pytest.mark.parametrize("x", [1e-3, 0.3, 1.0, 4.7, 30.0, 1e6])
def test_special_functions(x: float) -> None:
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)
    assert shape_of(np.log(x) - special.digamma(x)) == pytest.approx(x, rel=1e-6)


def _belief(shape: float, rate: float, clicks: list[float], exposure: list[float]):  # type: ignore[no-untyped-def]
    belief = told_bias(Setting(1, len(clicks), 10, np.ones(1)), shape=shape, rate=rate)
    update_by_tally(belief, np.array([clicks]), np.array([exposure]))
    imagine(belief, np.random.default_rng(1))
    return belief


def test_em_climbs_to_the_best_prior() -> None:
    """The fixed point is stationary for Σ_j log ∫ Poisson·Gamma plus the extra item's term, checked by differences."""
    rng = np.random.default_rng(3)
    exposure = rng.uniform(20.0, 60.0, 40)
    clicks = rng.poisson(rng.gamma(2.0, 1 / 5.0, 40) * exposure).astype(float)
    prior, belief = learned_prior(0.1, 0.1), _belief(0.1, 0.1, clicks.tolist(), exposure.tolist())
    for _ in range(300):
        relearn(prior, belief)
    assert belief.shape == pytest.approx(prior.shape + clicks)
    assert belief.prior_rate == pytest.approx(np.full(40, prior.rate))

    # the extra item enters as its expected log-likelihood in the last E-step
    extra = (prior.shape + 1.0) / (prior.rate + 1.0)

    def negative(parameters: np.ndarray) -> float:
        s, r = np.exp(parameters)
        items = special.gammaln(s + clicks) - special.gammaln(s) + s * np.log(r) - (s + clicks) * np.log(r + exposure)
        more = s * np.log(r) - special.gammaln(s) + s * (np.log(extra) - EULER) - r * extra
        return -float(items.sum() + EXTRA_ITEMS * more)

    best = optimize.minimize(negative, np.zeros(2), method="BFGS")
    assert np.log([prior.shape, prior.rate]) == pytest.approx(best.x, abs=1e-3)


def test_without_passes_or_clicks_it_stays_within_reason() -> None:
    for clicks, exposure in (([3.0, 2.0, 1.0], [0.0] * 3), ([0.0] * 3, [9.0] * 3), ([1.0] * 3, [1e6] * 3)):
        prior, belief = learned_prior(0.1, 0.1), _belief(0.1, 0.1, clicks, exposure)
        for _ in range(500):
            relearn(prior, belief)
        assert LEAST_SHAPE <= prior.shape < 100.0
        assert 0.0 < prior.rate < np.inf
        assert (belief.rate > 0.0).all()


def test_items_without_exposure_do_not_count() -> None:
    prior, other = learned_prior(0.1, 0.1), learned_prior(0.1, 0.1)
    relearn(prior, _belief(0.1, 0.1, [5.0, 2.0], [10.0, 10.0]))
    relearn(other, _belief(0.1, 0.1, [5.0, 2.0, 9.0], [10.0, 10.0, 0.0]))
    assert (prior.shape, prior.rate) == (other.shape, other.rate)
