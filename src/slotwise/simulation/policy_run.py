"""The replications of one policy: regret by round and replication, and tallies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The replications of one policy."""

    policy: str
    #: the rounds at which regret was recorded
    rounds: IntArray
    #: cumulative regret, replications × recorded rounds
    regret: FloatArray
    #: clicks and passes, per replication
    tallies: list[Tally]
    #: the time that the replications took, added up over workers, without compiling
    seconds: float

    @classmethod
    def of(cls, policy: str, rounds: IntArray, replications: Sequence[Any]) -> Run:
        """Return the run of these replications, given in any order."""
        ordered = sorted(replications, key=lambda replication: replication.index)
        return cls(
            policy=policy,
            rounds=rounds,
            regret=np.array([replication.regret for replication in ordered]),
            tallies=[Tally(replication.clicks, replication.passes) for replication in ordered],
            seconds=sum(replication.seconds for replication in ordered),
        )

    @property
    def final_regret(self) -> FloatArray:
        """Cumulative regret after the last round, per replication."""
        return self.regret[:, -1]

    @property
    def mean(self) -> float:
        """Mean final regret."""
        return float(self.final_regret.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of `mean`; NaN from a single replication."""
        count = len(self.final_regret)
        return float(self.final_regret.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")

    def __repr__(self) -> str:
        return f"Run({self.policy!r}, {counted(len(self.regret))}, mean final regret {self.mean:,.1f})"

    def quantile(self, q: float) -> float:
        """A quantile of final regret over replications."""
        return float(np.quantile(self.final_regret, q))

    @property
    def trajectory(self) -> FloatArray:
        """Mean cumulative regret at each recorded round."""
        mean: FloatArray = self.regret.mean(axis=0)
        return mean


def counted(replications: int) -> str:
    """Return a number of replications in words.

    >>> counted(1), counted(2)
    ('1 replication', '2 replications')
    """
    return f"{replications} replication{'s' if replications != 1 else ''}"
