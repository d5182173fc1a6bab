"""Bounds on regret: Propositions 1 to 3 of Grant and Leslie, with the constants that their proofs give."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models import MNL
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray


def upper_bound_known_bias(items: int, rounds: int, position_bias: ArrayLike) -> float:
    """Proposition 1, for `epoch-ucb`, with the last line of its proof:

    (9(K+1) + 14JK/λ_min log(JT²/2)) (log T + 1) + √(192 λ_max² log(JT²) J T / λ_min).

    Parameters
    ----------
    items
        J, the number of items.
    rounds
        T, the number of rounds.
    position_bias
        λ, per slot.

    Returns
    -------
    float
        Regret over all rounds.
    """
    bias, items, rounds = _checked(items, rounds, position_bias)
    slots, least, most = len(bias), bias.min(), bias.max()
    logarithmic = (9 * (slots + 1) + 14 * items * slots / least * max(0.0, math.log(items * rounds**2 / 2))) * (
        math.log(rounds) + 1
    )
    root = math.sqrt(192 * most**2 * math.log(items * rounds**2) * items * rounds / least)
    return float(logarithmic + root)


def upper_bound_unknown_bias(items: int, rounds: int, position_bias: ArrayLike, constant: float = 1.0) -> float:
    """Proposition 3, for `epoch-ucb-upb`: 8(K+1) + √(144 C J K⁴ T log(JT²)).

    C is the square of the constant of Lemma 4. The paper proves that it exists without giving its value: with the
    default the bound has the right shape, but no proven height.

    Parameters
    ----------
    items
        J, the number of items.
    rounds
        T, the number of rounds.
    position_bias
        λ, per slot; the bound depends on their number only.
    constant
        C, positive.

    Returns
    -------
    float
        Regret over all rounds.
    """
    bias, items, rounds = _checked(items, rounds, position_bias)
    if not constant > 0:
        raise InvalidInput(f"constant must be positive, got {constant!r}")
    slots = len(bias)
    return 8 * (slots + 1) + math.sqrt(144 * constant * items * slots**4 * rounds * math.log(items * rounds**2))


def lower_bound(items: int, rounds: int, position_bias: ArrayLike) -> float:
    """Proposition 2, for every policy, with the last line of its proof and the best ε in (0, ½] for it:

    εT/7 - εC S T/(7(J-K+1)) - ε² √(17 C S T³ / (2 S_2 (J-K+1))), C = K/S_2, S = Σλ, S_2 = Σλ².

    It requires 1 ≥ λ_1 > λ_2 > … > 0, S_2 > 1 and J ≥ 4K. Returns 0 if the expression is negative.

    Parameters
    ----------
    items
        J, at least 4K.
    rounds
        T, the number of rounds.
    position_bias
        λ, per slot, decreasing from at most 1.

    Returns
    -------
    float
        Regret over all rounds, at least 0.

    Raises
    ------
    InvalidInput
        If a condition is not met.
    """
    linear, quadratic = _lower_bound_terms(items, rounds, position_bias)
    gap = hardest_gap(items, rounds, position_bias)
    return max(0.0, linear * gap - quadratic * gap**2)


def hardest_gap(items: int, rounds: int, position_bias: ArrayLike) -> float:
    """The ε in (0, ½] at which the lower bound is largest.

    Parameters
    ----------
    items
        J, at least 4K.
    rounds
        T, the number of rounds.
    position_bias
        λ, per slot, decreasing from at most 1.
    """
    linear, quadratic = _lower_bound_terms(items, rounds, position_bias)
    return min(0.5, max(1e-12, linear / (2.0 * quadratic)))


def _lower_bound_terms(items: int, rounds: int, position_bias: ArrayLike) -> tuple[float, float]:
    bias, items, rounds = _checked(items, rounds, position_bias)
    slots, total, squares = len(bias), float(bias.sum()), float((bias**2).sum())
    if squares <= 1.0:
        raise InvalidInput(f"the lower bound requires Σλ² > 1, got {squares:.3g}")
    if items < 4 * slots:
        raise InvalidInput(f"the lower bound requires at least {4 * slots} items, four per slot, got {items}")
    if bias.max() > 1.0 or (np.diff(bias) >= 0).any():
        raise InvalidInput(f"the lower bound requires 1 ≥ λ_1 > λ_2 > … , got {bias.tolist()}")
    ratio = slots / squares
    linear = rounds / 7.0 * (1.0 - ratio * total / (items - slots + 1))
    quadratic = math.sqrt(17.0 * ratio * total * rounds**3 / (2.0 * squares * (items - slots + 1)))
    return linear, quadratic


def lower_bound_shape(items: int, rounds: int, position_bias: ArrayLike) -> float:
    """√(J T S_2 / S): how regret must grow, up to a constant; defined for every problem.

    Parameters
    ----------
    items
        J, the number of items.
    rounds
        T, the number of rounds.
    position_bias
        λ, per slot.
    """
    bias, items, rounds = _checked(items, rounds, position_bias)
    return math.sqrt(items * rounds * float((bias**2).sum() / bias.sum()))


def hard_instance(items: int, position_bias: ArrayLike, gap: float, best: ArrayLike | None = None) -> MNL:
    """The problem τ_a of the lower bound's proof: every item at 1/S, those of one ranking a little above.

    α_j = 1/S + ελ_k/S_2 for the item j in slot k of `best`, 1/S for the others: `best` is the best ranking, and
    every other one is hard to distinguish from it. By default `best` holds the first items in order.

    Parameters
    ----------
    items
        J, at least the number of slots.
    position_bias
        λ, per slot.
    gap
        ε, in (0, ½].
    best
        The best ranking; by default the first items in order.

    Examples
    --------
    >>> hard_instance(6, [1.0, 0.5], gap=0.25).attractiveness.round(3).tolist()
    [0.867, 0.767, 0.667, 0.667, 0.667, 0.667]
    """
    bias = validation.positive_vector("position_bias", position_bias, each="slot")
    if not 0.0 < gap <= 0.5:
        raise InvalidInput(f"gap must be above 0 and at most 0.5, got {gap!r}")
    validation.whole_number("items", items, at_least=len(bias))
    ranking = validation.ranking_of(range(len(bias)) if best is None else best, slots=len(bias), items=items)
    attractiveness = np.full(items, 1.0 / bias.sum())
    attractiveness[ranking] += gap * bias / (bias**2).sum()
    return MNL(position_bias=bias, attractiveness=attractiveness)


class RegretBounds(NamedTuple):
    """The bounds of Propositions 1 to 3 for one problem; the fields of `slotwise bounds --json`.

    Parameters
    ----------
    rounds
        T, the number of rounds.
    lower_bound_shape
        √(J T S_2 / S), up to a constant.
    lower_bound
        Proposition 2; None if the problem does not meet its conditions.
    lower_bound_asks_for
        The condition of Proposition 2 that is not met, if any.
    upper_bound_known_bias
        Proposition 1.
    upper_bound_unknown_bias_with_constant_1
        Proposition 3, with C = 1.
    """

    rounds: int
    lower_bound_shape: float
    lower_bound: float | None
    lower_bound_asks_for: str | None
    upper_bound_known_bias: float
    upper_bound_unknown_bias_with_constant_1: float


def compute_regret_bounds(users: MNL, rounds: int) -> RegretBounds:
    """Return every bound on the regret of a problem.

    Parameters
    ----------
    users
        The problem.
    rounds
        T, the number of rounds.

    Examples
    --------
    >>> bounds = compute_regret_bounds(MNL(position_bias=[1.0, 0.5], attractiveness=[0.3] * 10), 1_000)
    >>> round(bounds.lower_bound, 1), round(bounds.lower_bound_shape, 1)
    (0.1, 91.3)
    """
    items, bias = users.items, users.position_bias
    lower: float | None = None
    unmet: str | None = None
    try:
        lower = lower_bound(items, rounds, bias)
    except InvalidInput as error:
        unmet = str(error)
    return RegretBounds(
        rounds=rounds,
        lower_bound_shape=lower_bound_shape(items, rounds, bias),
        lower_bound=lower,
        lower_bound_asks_for=unmet,
        upper_bound_known_bias=upper_bound_known_bias(items, rounds, bias),
        upper_bound_unknown_bias_with_constant_1=upper_bound_unknown_bias(items, rounds, bias),
    )


def hardest_problem(users: MNL, rounds: int) -> MNL:
    """Return the lower bound's hardest problem of the same size; with ε = ¼ if Proposition 2 does not apply.

    Parameters
    ----------
    users
        A problem of the same items and position bias.
    rounds
        T, the number of rounds.
    """
    items, bias = users.items, users.position_bias
    try:
        gap = hardest_gap(items, rounds, bias)
    except InvalidInput:
        gap = 0.25
    return hard_instance(items, bias, gap)


def _checked(items: int, rounds: int, position_bias: ArrayLike) -> tuple[FloatArray, int, int]:
    bias = validation.positive_vector("position_bias", position_bias, each="slot")
    validation.whole_number("items", items, at_least=len(bias))
    return bias, items, validation.whole_number("rounds", rounds, at_least=1)
