"""Bounds on the odds of an item against no click, for optimistic policies that decide in every round.

Keep only the rounds in which the item in a slot was clicked or nothing was: the pairwise trials. However the rankings
were chosen, each such trial is a click with probability p = γ/(1+γ), so that a bound on p is one on the odds γ, and no
epoch has to be completed. Breaking a choice into pairs is the idea of Saha and Gaillard, Stop Relying on No-Choice and
Do not Repeat the Moves (2024); Chen, Dai, Lyu and Zhou, Learning in Position-Aware Multinomial Logit Bandits (2026),
use it across slots. The bounds and the level of exploration here are our own.

With n = N + Ñ trials, N of them clicks, and a level c:

    kl         the largest γ with n log((1+γ)/(1+γ̂)) - N log(γ/γ̂) ≤ c, γ̂ = N/Ñ; the left side is n kl(p̂, p)
    bernstein  the largest γ with γÑ - N ≤ √(2γnc) + γc/3: Bernstein's inequality for the martingale γÑ - N, whose
               increments have variance γ a trial and are at most γ

Either one is below γ with probability at most e^-c when n is fixed in advance.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from slotwise.core.errors import InvalidInput
from slotwise.jit import inlined

Bound = Literal["kl", "bernstein"]


def is_kl(bound: Bound) -> bool:
    """Return whether the option names the kl bound; raise InvalidInput if it names neither."""
    if bound not in get_args(Bound):
        raise InvalidInput(f"bound must be {' or '.join(get_args(Bound))}, got {bound!r}")
    return bound == "kl"


@inlined
def exploration(scarcity: float) -> float:
    """c = log(x (1 + log² x)) for x = max(1, scarcity): the trials per candidate over the candidate's own.

    With one slot x is t/(Jn), and c the level of kl-UCB++ (Ménard and Garivier, 2017), asymptotically and minimax
    optimal there, with the rounds so far in place of the horizon. For more slots nothing is proven.
    """
    if scarcity <= 1.0:
        return 0.0
    log = math.log(scarcity)
    return log + math.log(1.0 + log * log)


@inlined
def bernstein(clicks: float, exposure: float, variation: float, largest_bias: float, level: float) -> float:
    """Return the largest α with αΛ - N ≤ √(2αΛ'c) + αλc/3; the bound of one pair has Λ = Ñ, Λ' = n, λ = 1.

    It is a quadratic inequality in √α. The bound is infinite if Λ ≤ λc/3.
    """
    slope = exposure - largest_bias * level / 3.0
    if slope <= 0.0:
        return math.inf
    spread = 2.0 * variation * level
    root = (math.sqrt(spread) + math.sqrt(spread + 4.0 * clicks * slope)) / (2.0 * slope)
    return root * root
