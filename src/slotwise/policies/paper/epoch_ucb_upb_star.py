"""Epoch-UCB* UPB: Algorithm 3 with narrower bounds; Grant and Leslie, §6."""

from __future__ import annotations

from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.paper import epoch_ucb_upb
from slotwise.policies.paper.epoch_ucb_upb import LOCKED_IN, Sensitivity
from slotwise.policies.policy_registry import register

#: 0.5² log(√J·l) = 0.125 log(Jl²)
WIDTH = 0.125


@register(
    "epoch-ucb-upb-star",
    name="Epoch-UCB* UPB",
    position_bias="unknown",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, §6",
    limits={"values": LOCKED_IN},
)
def epoch_ucb_upb_star(task: PolicyTask, *, sensitivity: Sensitivity = "finite-difference") -> Epochs:
    """Rank by α + 0.5 √(β² log(√J·l)) in epoch l."""
    return epoch_ucb_upb.start(task, WIDTH, sensitivity)
