"""What is known before the first round."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.core.goal import Goal
from slotwise.core.types import FloatArray

#: the longest horizon: counts are 64-bit integers
MAX_ROUNDS = 2**62
#: the number of segments that a policy keeps apart
MAX_SEGMENTS = 2_000


@dataclass(frozen=True)
class Setting:
    """The page, the horizon and what lists are for: all that a policy is told."""

    slots: int
    items: int
    #: the horizon T
    rounds: int
    #: λ per slot, or None where the policy is not told
    position_bias: FloatArray | None = None
    #: what lists are for and which are allowed, or None: for clicks, and all
    goal: Goal | None = None
    #: whether pins, exclusions and values are imposed as it goes, and there is no goal:
    #: `slotwise.optimize.dynamic_constraints`
    rules_per_decision: bool = False
    #: how many kinds of visitors there are to tell apart; they are numbered from 0
    segments: int = 1
    #: what is known of items, items × features, or of segments and items together, segments × items × features,
    #: or None; numbers should have a standard deviation of about 1, as it is expected that none of them says very much
    features: FloatArray | None = None
    #: how many features every item has that are told anew in each round, by `see_features`; 0 if there are none
    context: int = 0
    #: how many of the items are retired, and shown no more
    retired: int = 0
