from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from research import geometric_moments

ORDERS = range(2, 21)
PARAMETERS = [Fraction(1, 50), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def test_derangements_are_the_nearest_integers_to_factorials_over_e() -> None:
    for n in range(1, 15):
        assert geometric_moments.derangements(n) == round(math.factorial(n) / math.e)


@pytest.mark.parametrize("n", ORDERS)
def test_the_cumulant_recursion_is_the_differential_one(n: int) -> None:
    """κ_n = (p-1) dκ_(n-1)/dp, term by term: 1/pⁱ becomes i/p^(i+1) - i/pⁱ."""
    before = geometric_moments.cumulant_coefficients(n - 1)
    signed = {i: (-1) ** (n - 1 - i) * h for i, h in enumerate(before, start=1)}
    derived = [0] * (n + 2)
    for i, h in signed.items():
        derived[i] -= i * h
        derived[i + 1] += i * h
    # (p-1)·(-i) h/p^(i+1) = -i h/pⁱ + i h/p^(i+1)
    assert tuple((-1) ** (n - i) * derived[i] for i in range(1, n + 1)) == geometric_moments.cumulant_coefficients(n)


def test_cumulants_and_moments_are_those_of_the_distribution() -> None:
    for p in (0.2, 0.5, 0.9):
        geom = stats.geom(p, loc=-1)
        mean, variance, skewness, kurtosis = (float(value) for value in geom.stats(moments="mvsk"))
        assert geometric_moments.cumulant(1, p) == pytest.approx(mean)
        assert geometric_moments.cumulant(2, p) == geometric_moments.central_moment(2, p) == pytest.approx(variance)
        assert geometric_moments.central_moment(3, p) == pytest.approx(skewness * variance**1.5)
        assert geometric_moments.cumulant(4, p) == pytest.approx(kurtosis * variance**2)
        x = np.arange(4_000)
        law = p * (1 - p) ** x
        assert geometric_moments.central_moment(7, p) == pytest.approx(
            float((law * (x - (1 - p) / p) ** 7).sum()), rel=1e-9
        )


@pytest.mark.parametrize("p", PARAMETERS)
def test_no_central_moment_exceeds_the_derangement_bound(p: Fraction) -> None:
    """Exactly, in rational arithmetic; and the bound is at most n!/2 (1-p)/pⁿ, Bernstein's condition."""
    for n in ORDERS:
        bound = geometric_moments.central_moment_bound(n, p)
        assert geometric_moments.central_moment(n, p) <= bound
        assert bound <= Fraction(math.factorial(n), 2) * (1 - p) / p**n


@pytest.mark.parametrize("n", range(3, 21))
def test_coefficients_alternate(n: int) -> None:
    assert geometric_moments.is_alternating(geometric_moments.cumulant_coefficients(n))
    assert geometric_moments.is_alternating(geometric_moments.central_moment_coefficients(n))


def test_absolute_moments_meet_bernsteins_condition_too() -> None:
    """The paper bounds E dᵏ where its inequality asks for E|d|ᵏ; on p ≥ ½, where it is used, that holds as well."""
    for p in (0.5, 0.6, 0.8, 0.95):
        for n in range(3, 15):
            bernstein = math.factorial(n) / 2 * (1 - p) / p**n
            assert geometric_moments.absolute_central_moment(n, p) <= bernstein
    assert geometric_moments.absolute_central_moment(2, 0.3) == pytest.approx(
        float(geometric_moments.central_moment(2, 0.3))
    )
