"""EI-TLR: TLR-UCB that finds the position bias first; Luo, Sun and Liu (2025)."""

from __future__ import annotations

import math

import numpy as np

from research.further_policies.tlr_ucb import CITATION, LIMITS, start
from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.policy_registry import register


@register("ei-tlr", name="EI-TLR", position_bias="unknown", citation=CITATION, limits=LIMITS, rival=True)
def ei_tlr(task: PolicyTask) -> Epochs:
    """Rotate the items through the slots for about √T epochs, T rounds in all; then TLR-UCB with the bias found.

    From where: of the paper only the abstract could be had, which says that position effects and preferences are first
    learned together, and that TLR-UCB then goes on with the position effects so found. The rotation, its length and the
    estimate of the bias (`research.further_policies.tlr_ucb`) are ours.
    """
    rotations = math.ceil(math.sqrt(task.horizon) / task.items)
    return start(task, np.ones(task.slots), exploring=float(rotations * task.items))
