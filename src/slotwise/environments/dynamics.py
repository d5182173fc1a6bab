"""Dynamics of a world: delays, churn, segments, and drift of attractiveness.

Each class has the fields of its object in a problem file, and checks them by name. Rounds count from 0: an event of
round r happens before the list of round r is chosen. docs/reference/environments.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.environments.availability import NEVER

#: a page of more would be a mistake in a file
MAX_ITEMS = 100_000
#: rounds are 64-bit integers, and one in 10¹⁶ waits 37 times as long as the mean
MAX_MEAN = 1e15
#: in size of logarithms: beyond it, draws need not be finite
WIDEST = 20.0
#: of a list, and of an item's attractiveness
HEAVIEST = 1e100


@dataclass(frozen=True, eq=False)
class Segment:
    """A segment of the visitors.

    Parameters
    ----------
    share
        Its share of the visits, from 0 to 1.
    attractiveness
        Its attractiveness per item; None for that of the world.
    position_bias
        Its own position bias per slot; None for that of the world.
    """

    share: float
    attractiveness: Any = None
    position_bias: Any = None


@dataclass(frozen=True)
class Delay:
    """The delay of outcomes.

    An outcome is pending for `rounds` rounds and a geometric number of further rounds.

    Parameters
    ----------
    rounds
        The fixed part of the delay, in rounds.
    mean_rounds
        The mean of the geometric part, in rounds; it starts at 0.
    every
        Outcomes are delivered together, before the rounds whose number is a multiple of this.
    """

    rounds: int = 0
    mean_rounds: float = 0.0
    every: int = 1

    def __post_init__(self) -> None:
        validation.whole_number("delay.rounds", self.rounds, at_least=0, at_most=NEVER // 4)
        _not_negative("delay.mean_rounds", self.mean_rounds, at_most=MAX_MEAN)
        validation.whole_number("delay.every", self.every, at_least=1, at_most=NEVER // 4)


@dataclass(frozen=True)
class Churn:
    """Items that come and go at random, drawn independently in each replication.

    Arrivals are a Poisson process, lifetimes are geometric and attractiveness is log-normal. The logarithm of
    attractiveness is linear in the features, independent standard normal numbers, plus a residual.

    Parameters
    ----------
    middle
        The median of attractiveness.
    spread
        The standard deviation of its logarithm.
    arrivals
        The expected number of new items in `every` rounds.
    every
        The rounds in which `arrivals` items are expected.
    lifetime
        The mean lifetime of an item in rounds; None if items stay.
    start
        The number of items at round 0.
    agreement
        The correlation of the logarithms between two segments.
    features
        The number of features per item.
    explained
        The share of the logarithm's variance that features explain, from 0 to 1.
    """

    middle: float
    spread: float
    arrivals: float = 0.0
    every: int = 1_000
    lifetime: float | None = None
    start: int = 0
    agreement: float = 1.0
    features: int = 0
    explained: float = 0.0

    def __post_init__(self) -> None:
        _positive("churn.middle", self.middle, at_most=HEAVIEST)
        _not_negative("churn.spread", self.spread, at_most=WIDEST)
        _not_negative("churn.arrivals", self.arrivals, at_most=MAX_MEAN)
        validation.whole_number("churn.every", self.every, at_least=1, at_most=NEVER)
        if self.lifetime is not None and _positive("churn.lifetime", self.lifetime, at_most=MAX_MEAN) < 1.0:
            raise InvalidInput(f"churn.lifetime must be at least 1 round, got {self.lifetime!r}")
        validation.whole_number("churn.start", self.start, at_least=0, at_most=MAX_ITEMS)
        _not_negative("churn.agreement", self.agreement, at_most=1.0)
        validation.whole_number("churn.features", self.features, at_least=0, at_most=1_000)
        _not_negative("churn.explained", self.explained, at_most=1.0)
        if self.explained and not self.features:
            raise InvalidInput(f"churn.explained must be 0 without features, got {self.explained!r}")

    def most_arrivals(self, rounds: int) -> int:
        """Return a bound on arrivals, exceeded about once in 10⁸ simulations; arrivals beyond it are dropped."""
        if not self.arrivals:
            return 0
        expected = self.arrivals * rounds / self.every
        return math.ceil(expected + 6.0 * math.sqrt(expected) + 12.0)


@dataclass(frozen=True, eq=False)
class Jump:
    """A change of the attractiveness of the given items at one round.

    Parameters
    ----------
    round
        The first round with the new attractiveness.
    attractiveness
        The new attractiveness per item, or a list of it per segment.
    """

    round: int
    attractiveness: Any


@dataclass(frozen=True)
class Walk:
    """A slow walk of every item, the same for all segments.

    A stationary normal process of mean 0 is added to the logarithm of attractiveness. Its values h rounds apart have
    the correlation exp(-h/`rounds`).

    Parameters
    ----------
    sd
        The standard deviation of the process.
    rounds
        The correlation time, in rounds.
    """

    sd: float
    rounds: float

    def __post_init__(self) -> None:
        _positive("walk.sd", self.sd, at_most=WIDEST)
        validation.positive_number("walk.rounds", self.rounds)


@dataclass(frozen=True)
class Cycle:
    """A daily cycle: `amplitude`·sin(2π(t/`period` + phase)) is added to the logarithm of attractiveness at round t.

    Parameters
    ----------
    amplitude
        The largest change of the logarithm.
    period
        The length of a cycle, in rounds.
    phases
        A phase per given item, in parts of a period; None to draw them uniformly from (0, 1).
    """

    amplitude: float
    period: float
    phases: Any = None

    def __post_init__(self) -> None:
        _positive("cycle.amplitude", self.amplitude, at_most=WIDEST)
        validation.positive_number("cycle.period", self.period)


def _positive(name: str, value: float, *, at_most: float) -> float:
    if validation.positive_number(name, value) > at_most:
        raise InvalidInput(f"{name} must be at most {at_most:g}, got {value!r}")
    return float(value)


def _not_negative(name: str, value: float, *, at_most: float) -> None:
    if isinstance(value, bool) or value != 0:
        _positive(name, value, at_most=at_most)
