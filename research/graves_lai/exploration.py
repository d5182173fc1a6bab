"""The cheapest exploration that rules out every confusing problem: a linear program grown from both sides.

Rows are confusing problems, columns are lists. Each round adds the nearest problem of every half-space that the rates
do not rule out yet, and the lists that would rule out more for their regret. Both give bounds on C: rates scaled up
until they rule out everything are enough, and prices y of problems with Σ_z y_z KL_a(z) ≤ Δ_a for every list a add up
to no more than C.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass

import numpy as np

from research.graves_lai.alternatives import Confused, Confusing, Page, divergences, nearest, on_boundary
from research.graves_lai.overpaid import overpaid_lists
from slotwise.core.types import FloatArray, IntArray

#: how far the two bounds on C may be apart, as a part of it
TOLERANCE = 1e-5
#: up to so many lists, all are looked through for new ones
FEW_LISTS = 10_000
#: new lists a round
MAX_NEW = 50
#: by how much prices are lowered until no list is overpaid: first much, which is soon shown, so that time is not lost
SLACKS = (0.1, 0.01, TOLERANCE)


@dataclass(frozen=True)
class Exploration:
    """Lists, the rates η to show them at, and bounds on the least cost, of which these have the upper."""

    lists: IntArray
    rates: FloatArray
    at_least: float
    at_most: float


def cheapest_exploration(
    page: Page, problems: Confusing, seconds: float = math.inf, few_lists: int = FEW_LISTS
) -> Exploration:
    """Rates of least regret that rule out every confusing problem, as far as found in time."""
    lists = _some_lists(page)
    if not problems.half_spaces:
        return Exploration(lists[:0], np.empty(0), 0.0, 0.0)
    deadline = time.monotonic() + seconds
    every = all_lists(page, few_lists)
    rows = [Confused.at(on_boundary(space), space, problems) for space in problems.half_spaces]
    table = _worth(page, rows, lists)
    result = Exploration(lists[:0], np.empty(0), 0.0, math.inf)
    while time.monotonic() < deadline:
        solved = _solve(table)
        if solved is None:
            break
        cost, price = solved
        active = cost > 0
        rates = cost[active] / page.gap(lists[active])
        tightest = [nearest(page, problems, space, lists[active], rates) for space in problems.half_spaces]
        least = min(value for value, _ in tightest)
        if least > 0 and cost.sum() / least < result.at_most:
            result = Exploration(lists[active], rates / least, result.at_least, float(cost.sum() / least))

        paid = np.flatnonzero(price > 0)
        prices, confused = price[paid], [rows[row] for row in paid]
        near = neighbours(page, np.vstack([lists[active], page.best])) if every is None else every
        worth = prices @ _worth(page, confused, near)
        if every is not None:
            result = _raised(result, float(price.sum() / max(1.0, worth.max())))
        new = near[np.argsort(-worth)[: min(MAX_NEW, np.count_nonzero(worth > 1.0 + TOLERANCE / 4))]]
        if every is None and not len(new) and least > 1.0 - TOLERANCE / 4:
            for slack in SLACKS:
                overpaid = overpaid_lists(page, confused, prices / (1.0 + slack), deadline)
                if overpaid is None:
                    return result
                new = overpaid
                if len(new):
                    break
                result = _raised(result, float(price.sum() / (1.0 + slack)))
        if result.at_most <= result.at_least * (1.0 + 2.0 * TOLERANCE):
            break

        fresh = [
            Confused.at(z, space, problems)
            for space, (value, z) in zip(problems.half_spaces, tightest, strict=True)
            if value < 1.0 - TOLERANCE / 4
        ]
        new = new[~(new[:, None] == lists).all(axis=2).any(axis=1)]
        if not fresh and not len(new):
            break  # rounding is all that is left
        table = np.hstack([table, _worth(page, rows, new)])
        lists = np.vstack([lists, new])
        if fresh:
            table = np.vstack([table, _worth(page, fresh, lists)])
            rows += fresh
    return result


def _solve(table: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Costs c ≥ 0 of least sum with table · c ≥ 1, and the prices of the rows; None if numbers are too far apart."""
    # here: policies take bounds from this package, and should not wait for it
    from scipy.optimize import linprog

    solved = linprog(np.ones(table.shape[1]), A_ub=-table, b_ub=-np.ones(len(table)), method="highs")
    if solved.status != 0:
        return None
    return np.asarray(solved.x, float), np.maximum(0.0, -np.asarray(solved.ineqlin.marginals, float))


def _worth(page: Page, rows: list[Confused], lists: IntArray) -> FloatArray:
    """KL_a(z)/Δ_a: what a list says for its regret, per problem and list."""
    return np.array([divergences(page, row, lists) for row in rows]) / page.gap(lists)


def _raised(result: Exploration, at_least: float) -> Exploration:
    return Exploration(result.lists, result.rates, max(result.at_least, at_least), result.at_most)


def _some_lists(page: Page) -> IntArray:
    """Enough lists to rule out every problem: all with one item let in, and all with two that change places."""
    slots = range(len(page.bias))
    lists = [np.insert(page.best[:-1], slot, kind) for kind in range(page.in_list, len(page.kinds)) for slot in slots]
    for one, two in itertools.combinations(slots, 2):
        swapped = page.best.copy()
        swapped[[one, two]] = swapped[[two, one]]
        lists.append(swapped)
    return _with_regret(page, np.array(lists, np.int64).reshape(-1, len(page.bias)))


def all_lists(page: Page, most: int) -> IntArray | None:
    """Every list with regret, or None if there are more than `most`."""
    lists = np.empty((1, 0), np.int64)
    for _ in page.bias:
        new = np.tile(np.arange(len(page.kinds)), len(lists))
        lists = np.repeat(lists, len(page.kinds), axis=0)
        fits = (lists == new[:, None]).sum(axis=1) < page.count[new]
        lists = np.column_stack([lists, new])[fits]
        if len(lists) > most:
            return None
    return _with_regret(page, lists)


def neighbours(page: Page, lists: IntArray) -> IntArray:
    """These lists, and those that differ in one slot, by two items that change places, or by one that moves."""
    slots, kinds = range(len(page.bias)), range(len(page.kinds))
    found = [lists]
    for slot, kind in itertools.product(slots, kinds):
        changed = lists.copy()
        changed[:, slot] = kind
        found.append(changed)
    for one, two in itertools.permutations(slots, 2):
        order = np.insert(np.delete(np.array(slots), one), two, one)
        found.append(lists[:, order])
        if one < two:
            order = np.array(slots)
            order[[one, two]] = two, one
            found.append(lists[:, order])
    together = np.vstack(found)
    fits = np.all([(together == kind).sum(axis=1) <= page.count[kind] for kind in kinds], axis=0)
    return _with_regret(page, together[fits])


def _with_regret(page: Page, lists: IntArray) -> IntArray:
    lists = np.unique(lists, axis=0)
    # a best list's is 0 up to rounding
    return lists[page.gap(lists) > 1e-14]
