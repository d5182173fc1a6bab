"""Report of a load test, with simulations of the same policy and number of rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from benchmarks.loadtest.expected_counts import ANSWER_KINDS, DECISION_KINDS, ExpectedCounts
from benchmarks.loadtest.target_placement import CountCheck, TargetPlacement, features_of
from slotwise.click_models import MNL
from slotwise.core.types import FloatArray
from slotwise.environments import Delay, Segment, World
from slotwise.policies import PolicySpec
from slotwise.simulation import simulate

QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
#: share of the rounds that count as the end
END: Final = 0.1


@dataclass(frozen=True)
class Lag:
    """Delay of learning: outcomes are `rounds` rounds old, and are read after `every` rounds."""

    rounds: int
    every: int


@dataclass(frozen=True)
class Simulated:
    """Final regret over replications."""

    mean: float
    low: float
    high: float

    @classmethod
    def from_regrets(cls, regrets: FloatArray) -> Simulated:
        """Return the mean of the replications, and their quantiles at 5 and 95 %."""
        low, high = np.quantile(regrets, [0.05, 0.95])
        return cls(float(regrets.mean()), float(low), float(high))


@dataclass(frozen=True)
class Ending:
    """The lists at the end."""

    rounds: int
    #: the most frequent list, and its share
    list: tuple[str, ...]
    share: float
    is_best: bool
    #: expected clicks of that list, and of all lists, relative to the best list
    worth: float
    mean_worth: float


@dataclass(frozen=True)
class LoadTestReport:
    """Results of a load test."""

    target: TargetPlacement
    users: MNL
    visitors: int
    expected: ExpectedCounts
    #: by number of the list
    regrets: Sequence[float]
    best_reward: float
    seconds: float
    ended_by: str
    lag: Lag | None
    #: None if the counts were not compared
    verdict: CountCheck | None

    @property
    def policy(self) -> PolicySpec:
        """The placement's policy."""
        return self.target.policy

    @property
    def differences(self) -> Sequence[str] | None:
        """Differences between the visitors' counts and the service's; None if they were not compared."""
        return None if self.verdict is None else self.verdict.differences

    @property
    def rounds(self) -> int:
        """Decisions that visitors saw."""
        return len(self.expected.shown)

    @property
    def exactly_once(self) -> bool | None:
        """Whether the service counted each outcome once; None if unknown.

        It is unknown if responses are missing, if others used the placement, or if its window is too long to wait for.
        """
        if self.verdict is None or (self.differences and self.expected.unanswered):
            return None
        if not self.differences and self.verdict.notes:
            return None
        return not self.differences

    @cached_property
    def regret(self) -> float:
        """Sum of the expected regret of the shown lists."""
        return float(np.asarray(self.regrets)[np.asarray(self.expected.shown)].sum()) if self.rounds else 0.0

    def ending(self, share: float = END) -> Ending | None:
        """Return the lists of the last `share` of the rounds; None without rounds."""
        last = self.expected.shown[-max(1, int(self.rounds * share)) :]
        if not last:
            return None
        number, count = Counter(last).most_common(1)[0]
        regrets = np.asarray(self.regrets)
        return Ending(
            rounds=len(last),
            list=list(self.expected.lists)[number],
            share=count / len(last),
            # several lists are best if items or slots are equal
            is_best=bool(regrets[number] < 1e-9),
            worth=float(1.0 - regrets[number] / self.best_reward),
            mean_worth=float(1.0 - regrets[np.asarray(last)].mean() / self.best_reward),
        )

    def simulated(self, replications: int = 40, seed: int = 0) -> Simulated | None:
        """Return the regret of the same number of rounds in `simulate`, which learns each outcome immediately.

        It is None for an existing placement, which has learned before.
        """
        return self._simulated(None, replications, seed) if self.target.is_new else None

    def simulated_with_lag(self, replications: int = 40, seed: int = 0) -> Simulated | None:
        """Return the simulated regret with the service's delay of learning; None if the delay is unknown."""
        if self.lag is None or not self.rounds or not self.target.is_new:
            return None
        return self._simulated(Delay(rounds=self.lag.rounds, every=self.lag.every), replications, seed)

    def _simulated(self, delay: Delay | None, replications: int, seed: int) -> Simulated:
        results = simulate(
            self.users if delay is None and not self.target.audience.segments else self._world(delay or Delay()),
            self.policy,
            rounds=max(1, self.rounds),
            replications=replications,
            seed=seed,
            record_at=1,
        )
        return Simulated.from_regrets(results[str(self.policy)].final_regret)

    def _world(self, delay: Delay) -> World:
        """Return a world with the same tastes and segments."""
        attractiveness = self.users.attractiveness
        shares = self.target.audience.shares().values()
        rows = [list(features_of(number).values()) for number in range(self.users.items)]
        return World(
            position_bias=self.users.position_bias,
            segments=[Segment(share, attractiveness) for share in shares],
            features=rows if self.target.has_features else None,
            delay=delay,
        )

    def milliseconds(self) -> dict[str, dict[str, float]]:
        """Return quantiles of the response times."""
        expected = self.expected
        times = {"decide": expected.decide_seconds, "report": expected.report_seconds}
        return {
            kind: {name: 1e3 * float(np.quantile(np.asarray(seconds), q)) for name, q in QUANTILES.items()}
            for kind, seconds in times.items()
            if seconds
        }

    def summary(self) -> dict[str, Any]:
        """Return the results without simulations, as JSON data."""
        expected = self.expected
        requests = len(expected.decide_seconds) + len(expected.report_seconds)
        ending = self.ending()
        return {
            "placement": self.target.name,
            "policy": str(self.policy),
            "users": self.visitors,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "ended_by": self.ended_by,
            "decisions_per_second": expected.decisions["issued"] / self.seconds,
            "requests_per_second": requests / self.seconds,
            "milliseconds": self.milliseconds(),
            "decisions": {kind: expected.decisions[kind] for kind in DECISION_KINDS},
            "reports": {kind: expected.answers[kind] for kind in ANSWER_KINDS},
            "segments": {
                f"{key}:{value}": {kind: counts.decisions[kind] for kind in DECISION_KINDS}
                for (key, value), counts in sorted(expected.by_segment.items())
            },
            "repeated": expected.repeated,
            "renewed": expected.renewed,
            "missed": expected.missed,
            "unanswered": expected.unanswered,
            "unexpected": {str(status): count for status, count in expected.unexpected.items()},
            "regret": self.regret,
            "lag": None if self.lag is None else vars(self.lag),
            "ending": None if ending is None else vars(ending),
            "exactly_once": self.exactly_once,
            "differences": self.differences,
            "notes": [] if self.verdict is None else list(self.verdict.notes),
        }
