from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import linprog

from research.graves_lai import Limit, limit
from research.graves_lai.alternatives import Confused, Page, confusing_problems, divergences, nearest, on_boundary
from research.graves_lai.exploration import all_lists, cheapest_exploration
from research.graves_lai.limit import as_limit
from research.graves_lai.overpaid import overpaid_lists
from slotwise.click_models import MNL, click_probabilities, regret
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray
from slotwise.environments import problem

SMALL = {
    "three items": ([1.0, 0.4], [0.5, 0.3, 0.2]),
    "four items": ([0.6, 1.0], [0.3, 0.9, 0.5, 0.4]),
    "as many slots as items": ([0.5, 1.0, 0.3], [0.4, 0.3, 0.7]),
    "two items tied for the last place": ([1.0, 0.4], [0.5, 0.3, 0.3, 0.1]),
    "two items tied for the first place": ([1.0, 0.4], [0.5, 0.5, 0.3, 0.2]),
    "two slots tied": ([0.7, 0.7], [0.5, 0.3, 0.2]),
    "two slots and two items tied": ([1.0, 0.6, 0.6], [0.5, 0.5, 0.3, 0.2]),
    "two items tied below the list": ([1.0, 0.4], [0.6, 0.4, 0.2, 0.2]),
}


def random_users(seed: int, items: int, slots: int) -> MNL:
    rng = np.random.default_rng(seed)
    return MNL(position_bias=rng.uniform(0.1, 1.0, slots), attractiveness=rng.uniform(0.05, 1.5, items))


def by_program(users: MNL, *, known_bias: bool, **options: Any) -> Limit:
    page = Page.of(users)
    return as_limit(page, cheapest_exploration(page, confusing_problems(page, known_bias=known_bias), **options))


@pytest.mark.parametrize(
    ("name", "known", "unknown"),
    [
        ("a", 24.1055, 45.2256),
        ("b", 2.43443, 6.97929),
        ("c", 7.13015, 7.43629),
        ("e", 21.8989, 33.2434),
        ("f", 77.1250, 77.1250),
        ("g", 0.0, 4.58963),
        ("h", 44.6047, 58.2334),
        ("i", 8.45000, 9.90391),
        ("j", 75.5442, 77.5812),
        ("k", 0.0, 1.18035),
    ],
)
def test_the_limit_of_problems(name: str, known: float, unknown: float) -> None:
    users = problem(name).users
    assert limit(users, known_bias=True).constant == pytest.approx(known, rel=2e-5)
    assert limit(users, known_bias=False).constant == pytest.approx(unknown, rel=2e-5)


@pytest.mark.parametrize("seed", range(8))
def test_with_known_bias_the_program_gives_the_closed_form(seed: int) -> None:
    users = random_users(seed, items=4 + seed % 4, slots=1 + seed % 4)
    wanted = limit(users, known_bias=True).constant
    assert by_program(users, known_bias=True).constant == pytest.approx(wanted, rel=3e-5)


def test_each_of_several_identical_items_has_to_be_ruled_out() -> None:
    one, three = (MNL(position_bias=[1.0, 0.4], attractiveness=[0.6, 0.4] + [0.2] * count) for count in (1, 3))
    wanted = limit(one, known_bias=True).at_least
    assert by_program(three, known_bias=True).constant == pytest.approx(3 * wanted, rel=3e-5)


class ByBruteForce:
    """All lists, and every way of being another problem on a grid; what confuses is found by ranking, nothing else."""

    def __init__(self, users: MNL, known_bias: bool) -> None:
        slots, items = users.slots, users.items
        self.lists = np.array(list(itertools.permutations(range(items), slots)))
        self.gamma = users.position_bias[:, None] * users.attractiveness
        weight = self.gamma[np.arange(slots), self.lists].sum(axis=1)
        self.best = weight > weight.max() - 1e-12
        self.gap = weight.max() / (1 + weight.max()) - weight / (1 + weight)
        unit = np.eye(slots + items)
        fixed = [*unit[: slots if known_bias else 1]]
        fixed += [unit[k] + unit[slots + j] for ranking in self.lists[self.best] for k, j in enumerate(ranking)]
        self.free = null_space(np.array(fixed))

    def evaluate(self, points: FloatArray) -> tuple[FloatArray, Any]:
        """KL of every list with regret at these points, and which points confuse."""
        slots = self.gamma.shape[0]
        off = points @ self.free.T
        log_ratio = off[:, :slots, None] + off[:, None, slots:]
        at = np.arange(slots)
        shift = log_ratio[:, at, self.lists]
        gamma = self.gamma[at, self.lists]
        there = (gamma * np.exp(shift)).sum(axis=2)
        here = 1 + gamma.sum(axis=1)
        divergence = np.log((1 + there) / here) - (gamma * shift).sum(axis=2) / here
        confuses = there[:, self.best].max(axis=1) < there.max(axis=1) - 1e-12
        return divergence[:, ~self.best], confuses

    def constant(self) -> float:
        size = self.free.shape[1]
        if size == 0:
            return 0.0
        coarse = np.stack(np.meshgrid(*[np.linspace(-4, 4, 41)] * size), -1).reshape(-1, size)
        zoom = np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * size), -1).reshape(-1, size)
        divergence, confuses = self.evaluate(coarse)
        coarse, divergence = coarse[confuses], divergence[confuses]
        gap = self.gap[~self.best]
        rates, rows = np.ones(len(gap)), []
        for _ in range(50):
            left = divergence @ rates
            near: list[FloatArray] = []
            # the nearest points of the grid that are far from each other, each looked at more and more closely
            while len(near) < 12 and np.isfinite(left).any():
                point, width = coarse[left.argmin()], 0.2
                left[np.linalg.norm(coarse - point, axis=1) < 0.5] = np.inf
                for _ in range(20):
                    around = point + width * zoom
                    fine, still = self.evaluate(around)
                    least = np.where(still, fine @ rates, np.inf).argmin()
                    point, width, row = around[least], 0.7 * width, fine[least]
                near.append(row)
            if min(float(row @ rates) for row in near) > 1 - 1e-4:
                break
            rows += near
            rates = np.asarray(linprog(gap, A_ub=-np.array(rows), b_ub=-np.ones(len(rows))).x, float)
        return float(gap @ rates)


@pytest.mark.parametrize("known_bias", [True, False])
@pytest.mark.parametrize("name", SMALL)
def test_the_limit_is_that_of_brute_force(name: str, known_bias: bool) -> None:
    bias, attractiveness = SMALL[name]
    users = MNL(position_bias=bias, attractiveness=attractiveness)
    by_brute_force = ByBruteForce(users, known_bias).constant()
    assert limit(users, known_bias=known_bias).constant == pytest.approx(by_brute_force, rel=2e-3, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_list_of_an_exhaustive_search(seed: int) -> None:
    users = random_users(seed, items=6, slots=2 + seed % 3)
    if seed % 2:
        users = MNL(position_bias=users.position_bias, attractiveness=np.round(users.attractiveness, 0) + 0.2)
    searched = by_program(users, known_bias=False, few_lists=0)
    assert searched.constant == pytest.approx(by_program(users, known_bias=False).constant, rel=3e-5, abs=1e-12)


def test_searching_lists_misses_no_list_that_is_overpaid() -> None:
    page = Page.of(random_users(2, items=6, slots=3))
    problems = confusing_problems(page)
    confused = [Confused.at(on_boundary(space), space, problems) for space in problems.half_spaces]
    lists = all_lists(page, 1_000)
    assert lists is not None
    prices = np.random.default_rng(1).uniform(0.5, 1.0, len(confused))
    worth = prices @ np.array([divergences(page, other, lists) for other in confused]) / page.gap(lists)
    # the last bit more or less decides whether the best of all lists is overpaid
    for factor, count in ((1 - 1e-9, 0), (1 + 1e-9, 1)):
        found = overpaid_lists(page, confused, prices * factor / worth.max(), deadline=math.inf)
        assert found is not None
        assert found.tolist() == lists[[worth.argmax()] * count].tolist()


def test_the_exploration_rules_out_every_confusing_problem_at_the_limit() -> None:
    users = problem("a").users
    found = limit(users, known_bias=False)
    assert sum(one.rate * one.gap for one in found.explored) == pytest.approx(found.at_most)
    for one in found.explored:
        assert one.gap == pytest.approx(regret(users, one.ranking))
    page = Page.of(users)
    problems = confusing_problems(page)
    # items of (a) are in order, and so are slots: kinds are items
    lists, rates = np.array([one.ranking for one in found.explored]), np.array([one.rate for one in found.explored])
    assert min(nearest(page, problems, space, lists, rates)[0] for space in problems.half_spaces) >= 1 - 1e-9


def test_divergences_are_those_of_click_probabilities() -> None:
    users = random_users(5, items=5, slots=3)
    page = Page.of(users)
    sorted_users = MNL(position_bias=page.bias, attractiveness=page.kinds)
    problems = confusing_problems(page)
    lists = all_lists(page, 100)
    assert lists is not None
    for space in problems.half_spaces:
        other = Confused.at(on_boundary(space), space, problems)
        for ranking, divergence in zip(lists, divergences(page, other, lists), strict=True):
            p = click_probabilities(sorted_users, ranking)
            # the item that enters has a column of its own, the last
            column = np.where(ranking == space.entering, len(page.kinds), ranking)
            there = p * np.exp(np.append(other.log_ratio[np.arange(3), column], 0.0))
            assert divergence == pytest.approx(float(p @ np.log(p / (there / there.sum()))), abs=1e-12)


def test_the_limit_depends_on_neither_numbering_nor_scale() -> None:
    users = random_users(3, items=5, slots=3)
    rng = np.random.default_rng(0)
    same = MNL(
        position_bias=7.0 * rng.permutation(users.position_bias),
        attractiveness=rng.permutation(users.attractiveness) / 7.0,
    )
    for known_bias in (True, False):
        wanted = limit(users, known_bias=known_bias).constant
        assert limit(same, known_bias=known_bias).constant == pytest.approx(wanted, rel=3e-5)


@pytest.mark.parametrize("seed", range(5))
def test_not_knowing_the_bias_never_helps_and_costs_nothing_with_one_slot(seed: int) -> None:
    users = random_users(seed, items=5, slots=1 + seed)
    known, unknown = limit(users, known_bias=True).constant, limit(users, known_bias=False).constant
    assert known is not None
    assert unknown is not None
    if users.slots == 1:
        assert unknown == pytest.approx(known, rel=3e-5)
    else:
        assert unknown > known * 1.0001
    if users.slots == users.items:
        assert known == 0.0


def test_ties_up_to_rounding_are_ties() -> None:
    exact = MNL(position_bias=[1.0, 0.5], attractiveness=[0.6, 0.3, 0.3, 0.1])
    rounded = MNL(position_bias=[1.0, 0.5], attractiveness=[0.6, 0.1 + 0.2, 0.3, 0.1])
    assert limit(rounded, known_bias=False).constant == pytest.approx(limit(exact, known_bias=False).constant)


def test_out_of_time_there_are_bounds() -> None:
    users = problem("e").users
    found = limit(users, known_bias=False, seconds=1e-9)
    assert (found.constant, found.at_most) == (None, math.inf)
    assert found.at_least == limit(users, known_bias=True).constant
    with pytest.raises(InvalidInput, match=r"seconds must be positive and finite, got -1\.0"):
        limit(users, known_bias=False, seconds=-1.0)
