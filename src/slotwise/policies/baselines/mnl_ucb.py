"""MNL-bandit with the bounds of its own paper: Agrawal, Avadhanula, Goyal and Zeevi (2019), for slots of a page."""

from __future__ import annotations

from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.paper.mnl_bandit import start
from slotwise.policies.policy_registry import register

#: what takes longer than anyone waits
WIDE = ("values", "empty slots", "chance")


@register(
    "mnl-ucb",
    name="MNL-UCB",
    position_bias="unknown",
    citation="Agrawal, Avadhanula, Goyal and Zeevi, MNL-Bandit: A Dynamic Learning Approach to Assortment Selection "
    "(2019)",
    limits=dict.fromkeys(WIDE, "its bounds are so wide that it tries everything for hundreds of thousands of rounds"),
    rival=True,
)
def mnl_ucb(task: PolicyTask) -> Epochs:
    """Algorithm 1 on pairs: assign by v̄ + √(48 v̄ c/T) + 48c/T with c = log(√N l + 1) in epoch l.

    The paper chooses a set among N products and has no slots. Here every pair of slot and item is a product of its own,
    as in Algorithm 4 of Grant and Leslie, so that N = JK, and the set is a list: one item a slot, none twice. A pair
    that was never shown comes first, where the paper starts from a bound of 1, the most that it takes one to weigh.

    The text of the paper could not be had in full: this is its algorithm as it is known, not checked line by line.
    """
    return start(task, agrawal=True)
