"""Moments of the geometric distribution on 0, 1, 2, …: the mathematics under Theorem 1 of Grant and Leslie, Appendix A.

Everything is exact: polynomials in 1/p with integer coefficients. P(X = x) = (1-p)ˣp.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TypeVar

#: exact if p is a fraction
Number = TypeVar("Number", Fraction, float)


@cache
def derangements(n: int) -> int:
    """!n, the permutations of n things that leave none in its place: !n = (n-1)(!(n-1) + !(n-2)).

    >>> [derangements(n) for n in range(7)]
    [1, 0, 1, 2, 9, 44, 265]
    """
    if n < 2:
        return 1 - n
    return (n - 1) * (derangements(n - 1) + derangements(n - 2))


@cache
def cumulant_coefficients(n: int) -> tuple[int, ...]:
    """h_n1 … h_nn of κ_n = Σ_i (-1)^(n-i) h_ni / pⁱ: h_ni = i·h_(n-1)i + (i-1)·h_(n-1)(i-1).

    The first cumulant, 1/p - 1, also has a constant; it is the mean and does not enter central moments.

    >>> cumulant_coefficients(3), cumulant_coefficients(4)
    ((1, 3, 2), (1, 7, 12, 6))
    """
    if n == 1:
        return (1,)
    before = (0, *cumulant_coefficients(n - 1), 0)
    return tuple(i * before[i] + (i - 1) * before[i - 1] for i in range(1, n + 1))


def cumulant(n: int, p: Number) -> Number:
    """κ_n of the geometric distribution, n ≥ 1.

    >>> cumulant(2, Fraction(1, 2))
    Fraction(2, 1)
    """
    value = _polynomial(cumulant_coefficients(n), p)
    return value - 1 if n == 1 else value


@cache
def central_moment_coefficients(n: int) -> tuple[int, ...]:
    """f_n1 … f_nn of the n-th central moment Σ_i (-1)^(n-i) f_ni / pⁱ.

    From the cumulants by μ_n = Σ_m C(n-1, m) κ_(m+1) μ_(n-1-m), the recursion behind the Bell polynomials.

    >>> central_moment_coefficients(4)
    (1, 10, 18, 9)
    """
    signed = [0] * (n + 1)
    for m in range(1, n):
        left = [(-1) ** (m + 1 - i) * h for i, h in enumerate(cumulant_coefficients(m + 1), start=1)]
        order = n - 1 - m
        if order == 0:
            right = [1]
        else:
            right = [0] + [(-1) ** (order - i) * f for i, f in enumerate(central_moment_coefficients(order), start=1)]
        for i, a in enumerate(left, start=1):
            for j, b in enumerate(right):
                signed[i + j] += math.comb(n - 1, m) * a * b
    return tuple((-1) ** (n - i) * signed[i] for i in range(1, n + 1))


def central_moment(n: int, p: Number) -> Number:
    """E[(X - E X)ⁿ], n ≥ 1.

    >>> central_moment(3, Fraction(1, 2))
    Fraction(6, 1)
    """
    return _polynomial(central_moment_coefficients(n), p)


def central_moment_bound(n: int, p: Number) -> Number:
    """!n (1-p)/pⁿ, which no central moment exceeds (Lemma 11 of the paper), and with n ≥ 2 at most n!/2 (1-p)/pⁿ."""
    return derangements(n) * (1 - p) / p**n


def _polynomial(coefficients: tuple[int, ...], p: Number) -> Number:
    """Σ_i (-1)^(n-i) c_i / pⁱ."""
    total = p - p
    for i, c in enumerate(coefficients, start=1):
        total += (-1) ** (len(coefficients) - i) * c / p**i
    return total


def is_alternating(coefficients: tuple[int, ...]) -> bool:
    """Whether partial sums of (-1)^(n-i) h_i have the sign of (-1)^(n-k): the APS property of Appendix A.

    >>> is_alternating(cumulant_coefficients(9)), is_alternating((3, 1))
    (True, False)
    """
    n, total = len(coefficients), 0
    for k, h in enumerate(coefficients, start=1):
        total += (-1) ** (n - k) * h
        if total * (-1) ** (n - k) < 0:
            return False
    return True


def absolute_central_moment(n: int, p: float, tail: float = 1e-18) -> float:
    """E|X - E X|ⁿ, summed until the remaining terms are negligible."""
    mean = (1 - p) / p
    total, x, weight = 0.0, 0, p
    while x < mean + 10 * n / p or weight * max(1.0, abs(x - mean)) ** n > tail * max(total, 1.0):
        total += weight * abs(x - mean) ** n
        weight *= 1 - p
        x += 1
    return total
