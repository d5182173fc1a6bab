"""The task of a policy: the page, the horizon and the goal, given before the first round."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.core.goal import Goal
from slotwise.core.types import FloatArray

#: the longest horizon: counts are 64-bit integers
MAX_ROUNDS = 2**62
#: the maximum number of segments of a policy
MAX_SEGMENTS = 2_000


@dataclass(frozen=True)
class Setting:
    """Everything that a policy receives before the first round."""

    slots: int
    items: int
    #: the horizon T
    rounds: int
    #: λ per slot, or None if it is unknown
    position_bias: FloatArray | None = None
    #: values and constraints of lists, or None to maximise clicks without constraints
    goal: Goal | None = None
    #: whether pins, exclusions and values come with each decision, in place of a goal
    #: (`slotwise.optimize.dynamic_constraints`)
    rules_per_decision: bool = False
    #: the number of visitor segments, numbered from 0
    segments: int = 1
    #: features of items, items × features, or of items by segment, segments × items × features, or None; the prior of
    #: their weights expects a standard deviation of about 1
    features: FloatArray | None = None
    #: the number of features of an item that change in each round (`see_features`)
    context: int = 0
    #: the number of retired items, which are not shown
    retired: int = 0
