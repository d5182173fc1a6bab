"""Regret over time, of the service and of two baselines: a fixed list, and sorting by clicks."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from slotwise.demo.ground_truth import Truth
from slotwise.demo.shop import Device

MAX_POINTS: Final = 400
#: seconds between two points at first
FIRST_SPACING: Final = 0.5
#: period of the latest losses
LATEST_SECONDS: Final = 10.0


class Losses(NamedTuple):
    """Number of visitors, expected clicks of the best lists, and regret of each way to choose lists."""

    visitors: int = 0
    best: float = 0.0
    learned: float = 0.0
    fixed: float = 0.0
    by_clicks: float = 0.0

    def plus(self, truth: Truth, device: Device, shown: Sequence[str], by_clicks: float) -> Losses:
        """Return the losses with one more visitor, and with the regret of sorting by clicks."""
        return Losses(
            self.visitors + 1,
            self.best + truth.best_rate(device),
            self.learned + truth.lost(device, shown),
            self.fixed + truth.lost_by_fixed(device),
            self.by_clicks + by_clicks,
        )

    def since(self, before: Losses) -> Losses:
        """Return the losses since an earlier state."""
        return Losses(*(now - then for now, then in zip(self, before, strict=True)))  # type: ignore[arg-type]


class PopularitySort:
    """Items sorted by their clicks so far, in whichever slots: most shops' own rule. Ties keep the control order."""

    def __init__(self) -> None:
        self.clicks = Counter[str]()

    def lose(self, truth: Truth, device: Device) -> float:
        """Show a list to one more visitor, count the click, and return the expected regret."""
        shown = sorted(truth.items, key=lambda item: -self.clicks[item])[: truth.slots]
        odds = [seen * truth.attractiveness[item][device] for seen, item in zip(truth.visibility, shown, strict=True)]
        clicked = random.choices([*shown, None], [*odds, 1.0])[0]
        if clicked is not None:
            self.clicks[clicked] += 1
        return truth.lost(device, shown)


@dataclass
class Curve:
    """Losses over time, at equal distances, which double when there are too many points.

    >>> curve = Curve()
    >>> for second in range(10_000):
    ...     curve.add(float(second), Losses(visitors=second))
    >>> len(curve.points) <= MAX_POINTS, curve.spacing, curve.points[0].visitors, curve.points[-1].visitors
    (True, 32.0, 32, 9999)
    """

    #: seconds between two points, and before the first
    spacing: float = FIRST_SPACING
    points: list[Losses] = field(default_factory=list)
    _latest: deque[tuple[float, Losses]] = field(default_factory=deque)

    def add(self, seconds: float, losses: Losses) -> None:
        """Add the losses up to a time; a gap leaves out points."""
        while int(seconds / self.spacing) >= MAX_POINTS:
            self.points, self.spacing = self.points[1::2], 2.0 * self.spacing
        number = int(seconds / self.spacing)
        self.points[number:] = []
        self.points += [losses] * (number + 1 - len(self.points))
        self._latest.append((seconds, losses))
        while self._latest[0][0] < seconds - LATEST_SECONDS:
            self._latest.popleft()

    def latest(self) -> Losses:
        """Return the losses of the last seconds."""
        if not self._latest:
            return Losses()
        return self._latest[-1][1].since(self._latest[0][1])

    def seconds(self) -> list[float]:
        """Return the times of the points."""
        return [self.spacing * (number + 1) for number in range(len(self.points))]
