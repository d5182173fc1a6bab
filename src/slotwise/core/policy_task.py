"""The task that a policy is made for: the page, the horizon, and the lists that are allowed."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.core.errors import InvalidInput
from slotwise.core.goal import Goal
from slotwise.core.types import FloatArray

#: the longest horizon: counts are 64-bit integers
MAX_ROUNDS = 2**62
#: the number of segments that a policy keeps apart
MAX_SEGMENTS = 2_000


@dataclass(frozen=True)
class PolicyTask:
    """Everything that a policy knows before the first round.

    Parameters
    ----------
    slots
        Number of slots on the page.
    items
        Number of items to choose from, the retired ones included.
    rounds
        The horizon T, or None if it is unknown.
    position_bias
        λ per slot, or None if the policy has to learn it.
    goal
        The values and constraints of lists, or None: every list is allowed, and clicks count.
    rules_per_decision
        Whether pins, exclusions and values change from decision to decision; there is no goal then
        (`slotwise.optimize.dynamic_constraints`).
    segments
        Number of visitor segments; they are numbered from 0.
    features
        Features of items, items × features, or of segments and items, segments × items × features. Each feature should
        have a standard deviation of about 1; its weight has a prior around 0.
    retired
        Number of items that are no longer shown.

    >>> PolicyTask(slots=2, items=5).rounds is None
    True
    """

    slots: int
    items: int
    rounds: int | None = None
    position_bias: FloatArray | None = None
    goal: Goal | None = None
    rules_per_decision: bool = False
    segments: int = 1
    features: FloatArray | None = None
    retired: int = 0

    @property
    def horizon(self) -> int:
        """`rounds`, for a policy that needs it; an error if it is unknown."""
        if self.rounds is None:
            raise InvalidInput("rounds must be given to a policy that needs a horizon, got None")
        return self.rounds
