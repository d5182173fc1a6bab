"""`tlr-ucb-like` after an estimate of the position bias, after the abstract of EI-TLR, Luo, Sun and Liu (2025)."""

from __future__ import annotations

import math

import numpy as np

from research.further_policies.tlr_ucb import CITATION, LIMITS, start
from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.policy_registry import register


@register("ei-tlr-like", name="like EI-TLR", position_bias="unknown", citation=CITATION, limits=LIMITS, rival=True)
def ei_tlr(task: PolicyTask) -> Epochs:
    """Rotate the items through the slots for about √T of the T rounds, in epochs; then TLR-UCB with the estimated bias.

    Only the abstract of the paper was available. By it, position effects and preferences are first learned together,
    and TLR-UCB continues with these position effects. The rotation, its length and the estimate of the bias
    (`research.further_policies.tlr_ucb`) are our own.
    """
    rotations = math.ceil(math.sqrt(task.horizon) / task.items)
    return start(task, np.ones(task.slots), exploring=float(rotations * task.items))
