"""Epoch-UCB-W: Epoch-UCB with the wider bounds that earlier concentration inequalities give; Grant and Leslie, §6."""

from __future__ import annotations

from slotwise.core.policy_task import PolicyTask
from slotwise.policies.epochs import Epochs
from slotwise.policies.paper import epoch_ucb
from slotwise.policies.policy_registry import register

#: 48 log(√J·l/√2) = 24 log(Jl²/2)
WIDTH = 24.0


@register(
    "epoch-ucb-w",
    name="Epoch-UCB-W",
    position_bias="known",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, §6, after Agrawal et al. (2019)",
)
def epoch_ucb_w(task: PolicyTask) -> Epochs:
    """Rank by ᾱ + √(48 min(1, 2ᾱ) c'/Λ) + 48c'/Λ with c' = log(√J·l/√2)."""
    return epoch_ucb.start(task, WIDTH)
