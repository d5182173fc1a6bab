"""Simulated visitors with known tastes. Some stay silent, report twice or late, or report conflicts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from slotwise.click_models import MNL, best_ranking, reward


@dataclass(frozen=True)
class Habits:
    """Shares of the visitors by behaviour. It does not change their clicks within the window."""

    #: of all: do not see the list
    unseen: float = 0.02
    #: of those without a click: report nothing
    silent: float = 0.5
    #: of the silent: report a click after the deadline
    late: float = 0.02
    #: of those who report: report the same again
    twice: float = 0.05
    #: of those who report a click: report a different outcome later, which must not count
    conflicting: float = 0.02
    #: of those who click: report no click first, which the click replaces
    hesitant: float = 0.05
    #: of all: report with the decision's token instead of the API key
    browser: float = 0.5


#: an outcome in a request: {"clicked": item}, {"clicked": None} or {"shown": False}
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Visit:
    """The reports of one visitor."""

    #: within the window, in order
    reports: Sequence[Outcome]
    #: after the window
    too_late: Outcome | None
    seen: bool
    browser: bool


@dataclass
class SimulatedVisitors:
    """Draws visits; `items` are the names of the users' items."""

    users: MNL
    items: Sequence[str]
    rng: random.Random
    habits: Habits = field(default_factory=Habits)
    _bounds: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._attractiveness = dict(zip(self.items, self.users.attractiveness.tolist(), strict=True))
        self._position_bias = self.users.position_bias.tolist()
        self.best_reward = float(reward(self.users, best_ranking(self.users)))

    def regret(self, shown: tuple[str, ...]) -> float:
        """Return the expected regret of a list."""
        weight = self._weights(shown)[-1]
        return self.best_reward - weight / (1.0 + weight)

    def visit(self, shown: tuple[str, ...]) -> Visit:
        """Draw the visit of a visitor who gets this list."""
        rng, habits = self.rng, self.habits
        browser = rng.random() < habits.browser
        if rng.random() < habits.unseen:
            return Visit(self._perhaps_twice([{"shown": False}]), None, seen=False, browser=browser)
        clicked = self._click(shown)
        if clicked is None and rng.random() < habits.silent:
            too_late = {"clicked": rng.choice(shown)} if rng.random() < habits.late else None
            return Visit([], too_late, seen=True, browser=browser)
        reports: list[Outcome] = [{"clicked": clicked}]
        if clicked is not None:
            if rng.random() < habits.hesitant:
                reports.insert(0, {"clicked": None})
            if rng.random() < habits.conflicting:
                others: list[Outcome] = [{"clicked": item} for item in shown if item != clicked]
                reports.append(rng.choice([{"clicked": None}, {"shown": False}, *others]))
                return Visit(reports, None, seen=True, browser=browser)
        return Visit(self._perhaps_twice(reports), None, seen=True, browser=browser)

    def _click(self, shown: tuple[str, ...]) -> str | None:
        bounds = self._weights(shown)
        drawn = self.rng.random() * (1.0 + bounds[-1])
        return next((item for item, bound in zip(shown, bounds, strict=False) if drawn < bound), None)

    def _weights(self, shown: tuple[str, ...]) -> list[float]:
        """Return the sums of γ up to each slot."""
        sums = self._bounds.get(shown)
        if sums is None:
            pairs = zip(self._position_bias, shown, strict=False)
            # items that were added later have no attractiveness
            gammas = (bias * self._attractiveness.get(item, 0.0) for bias, item in pairs)
            sums = self._bounds[shown] = list(accumulate(gammas)) or [0.0]
        return sums

    def _perhaps_twice(self, reports: list[Outcome]) -> list[Outcome]:
        return [*reports, reports[-1]] if self.rng.random() < self.habits.twice else reports
