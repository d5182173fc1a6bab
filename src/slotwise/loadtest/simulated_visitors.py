"""Visitors with known tastes. Some of them stay silent, report twice or late, or contradict themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from slotwise.click_models import MNL, best_ranking, reward
from slotwise.loadtest.visitor_segments import Audience, Segment


@dataclass(frozen=True)
class Habits:
    """Which share of the visitors does what. None of it changes what they click within the window."""

    #: of all: the list was never in view
    unseen: float = 0.02
    #: of those who click nothing: they do not report it, so the deadline decides
    silent: float = 0.5
    #: of the silent: they come back after the deadline, with a click
    late: float = 0.02
    #: of those who report: they report the same once more
    twice: float = 0.05
    #: of those who report a click: they report another outcome afterwards, which must not count
    conflicting: float = 0.02
    #: of those who click: they report no click first, which the click replaces
    hesitant: float = 0.05
    #: of all: the outcome is sent with the decision's token instead of the key
    browser: float = 0.5
    #: of all: the decision is asked for with an Idempotency-Key
    keyed: float = 0.3
    #: of those with a key: they ask again, half of them at once and half after their reports
    again: float = 0.2


#: an outcome as it is sent: {"clicked": item}, {"clicked": None} or {"shown": False}
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """How one visitor asks for a decision."""

    context: dict[str, str]
    #: where the service must count them
    segment: Segment
    #: for the Idempotency-Key
    key: str | None
    again: Literal["never", "at once", "after reports"]


@dataclass(frozen=True)
class Visit:
    """What one visitor is going to do."""

    #: within the window, one after the other
    reports: Sequence[Outcome]
    #: once the window is over
    too_late: Outcome | None
    seen: bool
    browser: bool


@dataclass
class Visitors:
    """Draws visits; `items` are the names of what the users know by number."""

    users: MNL
    items: Sequence[str]
    rng: random.Random
    habits: Habits = field(default_factory=Habits)
    audience: Audience = field(default_factory=Audience)
    #: what the keys begin with, new for each drive
    keys: str = ""
    _requests: int = 0
    _bounds: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._attractiveness = dict(zip(self.items, self.users.attractiveness.tolist(), strict=True))
        self._position_bias = self.users.position_bias.tolist()
        self.best_reward = float(reward(self.users, best_ranking(self.users)))

    def regret(self, shown: tuple[str, ...]) -> float:
        """What a list gives away against the best one, in expectation."""
        weight = self._weights(shown)[-1]
        return self.best_reward - weight / (1.0 + weight)

    def request(self) -> Request:
        """How the next visitor asks."""
        rng, habits = self.rng, self.habits
        context, segment = self.audience.draw(rng)
        self._requests += 1
        if rng.random() >= habits.keyed:
            return Request(context, segment, None, "never")
        key = f"{self.keys}-{self._requests}"
        if rng.random() >= habits.again:
            return Request(context, segment, key, "never")
        return Request(context, segment, key, "at once" if rng.random() < 0.5 else "after reports")

    def visit(self, shown: tuple[str, ...]) -> Visit:
        """What a visitor who is shown this list does."""
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
        """The sums of γ up to each slot."""
        found = self._bounds.get(shown)
        if found is None:
            pairs = zip(self._position_bias, shown, strict=False)
            # somebody may have added items since they were read: nobody is known to like them
            gammas = (bias * self._attractiveness.get(item, 0.0) for bias, item in pairs)
            found = self._bounds[shown] = list(accumulate(gammas)) or [0.0]
        return found

    def _perhaps_twice(self, reports: list[Outcome]) -> list[Outcome]:
        return [*reports, reports[-1]] if self.rng.random() < self.habits.twice else reports
