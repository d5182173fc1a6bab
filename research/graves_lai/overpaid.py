"""Whether prices of confusing problems overpay a list, among all lists there are: branch and bound.

With w_kj = 1 where item j stands in slot k, the weights D = 1 + Σγw and D'_z = 1 + Σγ'w are linear in w, and

    D (Δ_a - Σ_z y_z KL_a(z)) = 1 - D/D* - Σ_z y_z [D log(D'_z/D) - Σ_kj w_kj γ_kj log(γ'_kj/γ_kj)]

is convex in w, since D log(D'/D) is concave. D log(D'/D) ≤ D (log t - 1) + D'/t makes it linear from below for any t,
and the least of that over all lists is an assignment problem: a bound, the tighter the nearer t is to D'/D.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from research.graves_lai.alternatives import Confused, Page
from slotwise.core.types import BoolArray, FloatArray, IntArray

#: enough to go on with
MANY = 20
MAX_STEPS = 60
HALVINGS = 20
#: more than any assignment costs
FORBIDDEN = 1e100


def overpaid_lists(page: Page, confused: list[Confused], prices: FloatArray, deadline: float) -> IntArray | None:
    """Some lists with Σ_z y_z KL_a(z) > Δ_a; empty if there are none; None if that took too long to tell."""
    paid = _Paid.of(page, confused, prices)
    slots, items = paid.gamma.shape
    # a best list is at 0 and would stop every bound: leave it out first
    open_nodes = _without(np.ones((slots, items), bool), np.arange(slots), np.arange(slots))
    overpaid: list[IntArray] = []
    while open_nodes and len(overpaid) < MANY:
        if time.monotonic() > deadline:
            return None
        allowed = open_nodes.pop()
        ranking, usage, cleared = _search(paid, allowed)
        if ranking is None or cleared:
            continue
        if paid.value(paid.sums(_as_matrix(ranking, items))) < 0:
            overpaid.append(page.kind_of[ranking])
        free = np.flatnonzero(allowed.sum(axis=1) > 1)
        # part first what is least decided
        order = free[np.argsort(usage[free, ranking[free]], kind="stable")]
        open_nodes += _without(allowed, ranking, order)
    return np.unique(np.array(overpaid, np.int64).reshape(-1, slots), axis=0)


def _without(allowed: BoolArray, ranking: IntArray, order: IntArray) -> list[BoolArray]:
    """Every list that is allowed but this one, in parts: by the first slot in `order` where it differs."""
    parts = []
    same = allowed.copy()
    for slot in order:
        part = same.copy()
        part[slot, ranking[slot]] = False
        if part[slot].any():
            parts.append(part)
        same[slot] = False
        same[slot, ranking[slot]] = True
    return parts


def _search(paid: _Paid, allowed: BoolArray) -> tuple[IntArray | None, FloatArray, bool]:
    """Go down by Frank and Wolfe's steps until a bound clears all that is allowed, or a mixture of lists is overpaid.

    The last list seen, the mixture, and whether all is cleared.
    """
    usage = np.zeros(allowed.shape)
    sums = None
    for _ in range(MAX_STEPS):
        bound, ranking = paid.bound(1.0 if sums is None else sums.there / sums.here, allowed)
        if ranking is None or bound >= 0:
            return ranking, usage, True
        corner = _as_matrix(ranking, allowed.shape[1])
        at = paid.sums(corner)
        if sums is None:
            usage, sums = corner, at
        elif paid.value(at) < 0:
            break
        else:
            part = _best_part(paid, sums, at)
            usage = usage + part * (corner - usage)
            sums = sums.towards(at, part)
        if paid.value(sums) < 0:
            break
    return ranking, usage, False


def _best_part(paid: _Paid, start: _Sums, end: _Sums) -> float:
    """How far to go from start to end: where the slope changes sign, by halving."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if paid.slope(start.towards(end, middle), start, end) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@dataclass(frozen=True)
class _Sums:
    """D, D'_z per problem, and the linear part, of a list or a mixture of lists."""

    here: float
    there: FloatArray
    pull: float

    def towards(self, end: _Sums, part: float) -> _Sums:
        return _Sums(
            self.here + part * (end.here - self.here),
            self.there + part * (end.there - self.there),
            self.pull + part * (end.pull - self.pull),
        )


@dataclass(frozen=True)
class _Paid:
    """γ per slot and item, γ' per problem, the prices, Σ_z y_z γ log(γ'/γ), and D* of the best list."""

    gamma: FloatArray
    there: FloatArray
    prices: FloatArray
    pull: FloatArray
    best: float

    @classmethod
    def of(cls, page: Page, confused: list[Confused], prices: FloatArray) -> _Paid:
        ratios, each = [], []
        for other, price in zip(confused, prices, strict=True):
            plain = other.log_ratio[:, page.kind_of]
            entering = np.flatnonzero(page.kind_of == other.entering)
            if not len(entering):
                ratios.append(plain)
                each.append(price)
            for item in entering:
                ratio = plain.copy()
                ratio[:, item] = other.log_ratio[:, -1]
                ratios.append(ratio)
                each.append(price / len(entering))
        gamma = page.bias[:, None] * page.kinds[page.kind_of]
        log_ratio, shares = np.array(ratios), np.array(each)
        return cls(
            gamma=gamma,
            there=(gamma * np.exp(log_ratio)).reshape(len(shares), -1),
            prices=shares,
            pull=np.tensordot(shares, gamma * log_ratio, 1),
            best=float(page.weight(page.best[None])[0]),
        )

    def sums(self, usage: FloatArray) -> _Sums:
        return _Sums(
            1.0 + float((self.gamma * usage).sum()),
            1.0 + self.there @ usage.ravel(),
            float((self.pull * usage).sum()),
        )

    def value(self, at: _Sums) -> float:
        """D (Δ - Σ y KL)."""
        return float(1.0 - at.here / self.best - at.here * (self.prices @ np.log(at.there / at.here)) + at.pull)

    def slope(self, at: _Sums, start: _Sums, end: _Sums) -> float:
        """The derivative of `value` on the way from start to end."""
        here = end.here - start.here
        entropy = here * (self.prices @ (np.log(at.there / at.here) - 1.0))
        entropy += at.here * (self.prices @ ((end.there - start.there) / at.there))
        return float(-here / self.best - entropy + end.pull - start.pull)

    def bound(self, t: float | FloatArray, allowed: BoolArray) -> tuple[float, IntArray | None]:
        """What `value` is at least on all lists that are allowed, and the list where this bound is; None if none is."""
        t = np.broadcast_to(np.asarray(t, float), self.prices.shape)
        slope = np.log(t) - 1.0
        constant = 1.0 - 1.0 / self.best - self.prices @ (slope + 1.0 / t)
        cost = self.pull - self.gamma * (1.0 / self.best + self.prices @ slope)
        cost = cost - ((self.prices / t) @ self.there).reshape(cost.shape)
        # here: policies take bounds from this package, and should not wait for it
        from scipy.optimize import linear_sum_assignment

        slots, ranking = linear_sum_assignment(np.where(allowed, cost, FORBIDDEN))
        if not allowed[slots, ranking].all():
            return 0.0, None
        return float(constant + cost[slots, ranking].sum()), ranking.astype(np.int64)


def _as_matrix(ranking: IntArray, items: int) -> FloatArray:
    return np.eye(items)[ranking]
