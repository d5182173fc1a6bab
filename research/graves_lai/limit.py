"""The limit C log T that no policy's regret beats in the long run: Graves and Lai's constant for this model.

research/notes/graves_lai.md derives it. C is the least Σ_a η_a Δ_a over rates η ≥ 0 of showing lists with
Σ_a η_a KL_a(z) ≥ 1 for every confusing z: another problem in which the best lists draw the same clicks, and are no
longer best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from research.graves_lai.alternatives import Page, confusing_problems
from research.graves_lai.exploration import TOLERANCE, Exploration, cheapest_exploration
from slotwise.click_models import MNL
from slotwise.core import validation
from slotwise.core.types import Ranking


@dataclass(frozen=True)
class Explored:
    """A list that is shown about η log T times in T rounds; identical items take turns in it."""

    ranking: Ranking
    #: η
    rate: float
    #: Δ, the regret of showing it once
    gap: float


@dataclass(frozen=True)
class Limit:
    """C, between a bound from below and one from above, which are equal up to rounding if the search ended in time."""

    at_least: float
    at_most: float
    #: what is enough to tell the problem from every confusing one, at the cost of `at_most`; the costliest list first
    explored: tuple[Explored, ...] = field(repr=False)

    @property
    def constant(self) -> float | None:
        """C, or None where the bounds are apart."""
        return self.at_most if self.at_most <= self.at_least * (1.0 + 2.0 * TOLERANCE) else None


def limit(users: MNL, *, known_bias: bool, seconds: float = 60.0) -> Limit:
    """Return C of a problem, for known or for unknown position bias.

    After `seconds` it answers with the bounds that it has by then.

    >>> users = MNL(position_bias=[1.0, 0.2, 0.9], attractiveness=[0.05, 0.1, 0.15, 0.2])
    >>> round(limit(users, known_bias=True).constant, 4), round(limit(users, known_bias=False).constant, 4)
    (2.4344, 6.9793)
    """
    validation.positive_number("seconds", seconds)
    page = Page.of(users)
    known = closed_form(page)
    if known_bias:
        return known
    # with unknown bias there are all confusing problems of the known bias, and more
    return as_limit(page, cheapest_exploration(page, confusing_problems(page), seconds), at_least=known.at_least)


def closed_form(page: Page) -> Limit:
    """With known bias: Σ_j Δ(v)/KL_v over the items j below the list, v the best list with j in its last slot."""
    bias, least = float(page.bias[-1]), float(page.kinds[page.best[-1]])
    total, explored = 0.0, []
    for kind in range(page.in_list, len(page.kinds)):
        ranking = np.append(page.best[:-1], kind)
        weight, gap = float(page.weight(ranking[None])[0]), float(page.gap(ranking[None])[0])
        alpha = float(page.kinds[kind])
        divergence = math.log1p(bias * (least - alpha) / weight) - bias * alpha / weight * math.log(least / alpha)
        rate = float(page.count[kind]) / divergence
        total += rate * gap
        explored.append(Explored(page.ranking(ranking), rate, gap))
    return Limit(total, total, _costliest_first(explored))


def as_limit(page: Page, found: Exploration, *, at_least: float = 0.0) -> Limit:
    """What the convex program found, by the numbers that slots and items have."""
    explored = [
        Explored(page.ranking(kinds), float(rate), float(gap))
        for kinds, rate, gap in zip(found.lists, found.rates, page.gap(found.lists), strict=True)
    ]
    return Limit(max(at_least, found.at_least), found.at_most, _costliest_first(explored))


def _costliest_first(explored: list[Explored]) -> tuple[Explored, ...]:
    return tuple(sorted(explored, key=lambda one: -one.rate * one.gap))
