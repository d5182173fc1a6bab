"""What a drive found, next to what the simulator gives for the same policy and number of rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from slotwise.click_models import MNL
from slotwise.core.types import FloatArray
from slotwise.environments import Delay, Segment, World
from slotwise.loadtest.expected_counts import ANSWER_KINDS, DECISION_KINDS, Ledger
from slotwise.loadtest.target_placement import Driven, Verdict, features_of
from slotwise.policies import PolicySpec
from slotwise.simulation import simulate

QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
#: which share of a drive counts as its end
END: Final = 0.1


@dataclass(frozen=True)
class Lag:
    """How far the service was behind: outcomes were `rounds` rounds old, and it looked for new ones `every` so many."""

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
        """The mean of the replications, and their quantiles at 5 and 95 %."""
        low, high = np.quantile(regrets, [0.05, 0.95])
        return cls(float(regrets.mean()), float(low), float(high))


@dataclass(frozen=True)
class Ending:
    """What was shown towards the end."""

    rounds: int
    #: the list that was shown most often, and how often
    list: tuple[str, ...]
    share: float
    is_best: bool
    #: the expected clicks of that list, and of all that were shown, as shares of the best list's
    worth: float
    mean_worth: float


@dataclass(frozen=True)
class Drive:
    """A drive, once it is over."""

    driven: Driven
    users: MNL
    visitors: int
    ledger: Ledger
    #: of each list, by its number
    regrets: Sequence[float]
    best_reward: float
    seconds: float
    ended_by: str
    lag: Lag | None
    #: None if the visitors' counts and the service's were never compared
    verdict: Verdict | None

    @property
    def policy(self) -> PolicySpec:
        """Of the placement."""
        return self.driven.policy

    @property
    def differences(self) -> Sequence[str] | None:
        """Between the visitors' counts and the service's; None if they were never compared."""
        return None if self.verdict is None else self.verdict.differences

    @property
    def rounds(self) -> int:
        """Decisions that somebody saw."""
        return len(self.ledger.shown)

    @property
    def exactly_once(self) -> bool | None:
        """Whether the service counted each outcome once; None where nobody can tell.

        That is so if answers are missing, if others used the placement, or if its window is too long to wait for.
        """
        if self.verdict is None or (self.differences and self.ledger.unanswered):
            return None
        if not self.differences and self.verdict.notes:
            return None
        return not self.differences

    @cached_property
    def regret(self) -> float:
        """The expected regret of the lists that were shown, added up."""
        return float(np.asarray(self.regrets)[np.asarray(self.ledger.shown)].sum()) if self.rounds else 0.0

    def ending(self, share: float = END) -> Ending | None:
        """What was shown in the last `share` of it; None if nobody saw anything."""
        last = self.ledger.shown[-max(1, int(self.rounds * share)) :]
        if not last:
            return None
        number, count = Counter(last).most_common(1)[0]
        regrets = np.asarray(self.regrets)
        return Ending(
            rounds=len(last),
            list=list(self.ledger.lists)[number],
            share=count / len(last),
            # more than one list is best where items or slots are equal
            is_best=bool(regrets[number] < 1e-9),
            worth=float(1.0 - regrets[number] / self.best_reward),
            mean_worth=float(1.0 - regrets[np.asarray(last)].mean() / self.best_reward),
        )

    def simulated(self, replications: int = 40, seed: int = 0) -> Simulated | None:
        """The regret of as many rounds in `simulate`, which learns each outcome at once.

        None for a placement that was there before, which had learned from others.
        """
        return self._simulated(None, replications, seed) if self.driven.is_new else None

    def simulated_with_lag(self, replications: int = 40, seed: int = 0) -> Simulated | None:
        """The same, learning as late as the service did; None where that is not known."""
        if self.lag is None or not self.rounds or not self.driven.is_new:
            return None
        return self._simulated(Delay(rounds=self.lag.rounds, every=self.lag.every), replications, seed)

    def _simulated(self, delay: Delay | None, replications: int, seed: int) -> Simulated:
        results = simulate(
            self.users if delay is None and not self.driven.audience.segments else self._world(delay or Delay()),
            self.policy,
            rounds=max(1, self.rounds),
            replications=replications,
            seed=seed,
            record_at=1,
        )
        return Simulated.from_regrets(results[str(self.policy)].final_regret)

    def _world(self, delay: Delay) -> World:
        """Users of the same tastes, whom a policy has to tell apart as it had to at the service."""
        attractiveness = self.users.attractiveness
        shares = self.driven.audience.shares().values()
        rows = [list(features_of(number).values()) for number in range(self.users.items)]
        return World(
            position_bias=self.users.position_bias,
            segments=[Segment(share, attractiveness) for share in shares],
            features=rows if self.driven.has_features else None,
            delay=delay,
        )

    def milliseconds(self) -> dict[str, dict[str, float]]:
        """Quantiles of the time to an answer."""
        ledger = self.ledger
        times = {"decide": ledger.decide_seconds, "report": ledger.report_seconds}
        return {
            kind: {name: 1e3 * float(np.quantile(np.asarray(found), q)) for name, q in QUANTILES.items()}
            for kind, found in times.items()
            if found
        }

    def summary(self) -> dict[str, Any]:
        """Everything that needs no simulation, in a form that JSON can hold."""
        ledger = self.ledger
        requests = len(ledger.decide_seconds) + len(ledger.report_seconds)
        ending = self.ending()
        return {
            "placement": self.driven.name,
            "policy": str(self.policy),
            "users": self.visitors,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "ended_by": self.ended_by,
            "decisions_per_second": ledger.decisions["issued"] / self.seconds,
            "requests_per_second": requests / self.seconds,
            "milliseconds": self.milliseconds(),
            "decisions": {kind: ledger.decisions[kind] for kind in DECISION_KINDS},
            "reports": {kind: ledger.answers[kind] for kind in ANSWER_KINDS},
            "segments": {
                f"{key}:{value}": {kind: counts.decisions[kind] for kind in DECISION_KINDS}
                for (key, value), counts in sorted(ledger.by_segment.items())
            },
            "repeated": ledger.repeated,
            "renewed": ledger.renewed,
            "missed": ledger.missed,
            "unanswered": ledger.unanswered,
            "unexpected": {str(status): count for status, count in ledger.unexpected.items()},
            "regret": self.regret,
            "lag": None if self.lag is None else vars(self.lag),
            "ending": None if ending is None else vars(ending),
            "exactly_once": self.exactly_once,
            "differences": self.differences,
            "notes": [] if self.verdict is None else list(self.verdict.notes),
        }
