"""MNL-bandit with its original bounds, for the slots of a page; Agrawal, Avadhanula, Goyal and Zeevi (2019)."""

from __future__ import annotations

from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.paper.mnl_bandit import start
from slotwise.policies.policy_registry import register

#: tests that would take too many rounds
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

    The paper chooses a set among N products and has no slots. Here every pair of slot and item is a product, as in
    Algorithm 4 of Grant and Leslie, so N = JK, and the set is a list: one item per slot, no item twice. A pair that was
    never shown comes first. The paper starts from a bound of 1 instead, its assumed maximum weight.

    The full text of the paper was not available. This is the algorithm as it is commonly described, not checked line by
    line against the paper.
    """
    return start(task, agrawal=True)
