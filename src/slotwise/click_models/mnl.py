"""Multinomial logit choice with position bias: the model of Grant and Leslie, §1.1.

Slot k has the weight γ_k = position_bias[k] · attractiveness[ranking[k]], and no click has the weight 1. Their
probabilities are in proportion: γ_k/(1+S) and 1/(1+S), where S is the sum of all γ_k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import click_probabilities, draw, reward, sorted_ranking
from slotwise.click_models.model_registry import register
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY, NO_CLICK, FloatArray, IntArray, Ranking
from slotwise.jit import inlined, record


@register(
    "mnl",
    name="Multinomial logit with position bias",
    citation="Grant and Leslie, Learning to Rank under Multinomial Logit Choice, §1.1",
    example={"position_bias": [1.0, 0.2, 0.9], "attractiveness": [0.3, 0.5, 0.1, 0.8, 0.4]},
)
@record
class MNL:
    """Users who choose by multinomial logit.

    Parameters
    ----------
    position_bias
        λ, positive, one entry per slot, in any order.
    attractiveness
        α, positive, one entry per item.

    Examples
    --------
    >>> from slotwise.click_models import best_ranking
    >>> users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
    >>> best_ranking(users).tolist()
    [1, 0]
    >>> click_probabilities(users, [1, 0]).round(3).tolist()     # slot 0, slot 1, nothing
    [0.267, 0.067, 0.667]
    """

    #: λ, per slot, in any order
    position_bias: FloatArray
    #: α, per item
    attractiveness: FloatArray

    if TYPE_CHECKING:

        def __init__(self, *, position_bias: ArrayLike, attractiveness: ArrayLike) -> None: ...

    @classmethod
    def prepare(cls, position_bias: object, attractiveness: object) -> dict[str, FloatArray]:
        """Return checked copies of the parameters."""
        bias = validation.positive_vector("position_bias", position_bias, each="slot")
        attraction = validation.positive_vector("attractiveness", attractiveness, each="item")
        if len(bias) > len(attraction):
            raise InvalidInput(
                f"position_bias has {len(bias)} slots but attractiveness only {len(attraction)} items to fill them"
            )
        with np.errstate(over="ignore"):
            largest = float(bias.sum() * attraction.max())
        if not np.isfinite(largest):
            raise InvalidInput(
                f"attractiveness must leave the weight of a list finite, got {float(attraction.max())!r}"
            )
        return {"position_bias": bias, "attractiveness": attraction}

    @property
    def slots(self) -> int:
        """K."""
        return len(self.position_bias)

    @property
    def items(self) -> int:
        """J."""
        return len(self.attractiveness)

    def best_ranking(self) -> Ranking:
        """Return the k-th most attractive item in the slot of the k-th largest bias."""
        return sorted_ranking(self.position_bias, self.attractiveness)


@click_probabilities.register(MNL)
def _click_probabilities(users: MNL, ranking: Ranking) -> FloatArray:
    weights = np.append(users.position_bias * users.attractiveness[ranking], 1.0)
    return weights / weights.sum()  # type: ignore[no-any-return]


@draw.register(MNL)
def _draw(users: MNL, ranking: Ranking, rng: np.random.Generator) -> int:
    return draw_slot(users.position_bias, users.attractiveness, ranking, False, rng)


@reward.register(MNL)
def _reward(users: MNL, ranking: Ranking) -> float:
    position_bias, attractiveness = users.position_bias, users.attractiveness
    weight = 0.0
    for slot in range(len(ranking)):
        weight += position_bias[slot] * attractiveness[ranking[slot]]
    return weight / (1.0 + weight)


@inlined
def draw_slot(
    position_bias: FloatArray,
    attractiveness: FloatArray,
    ranking: Ranking,
    may_be_empty: bool,
    rng: np.random.Generator,
) -> int:
    """Draw the slot that is clicked, or NO_CLICK, from one uniform draw; no click comes first.

    With a constant `may_be_empty` the compiler drops the test for empty slots.
    """
    total, last = 1.0, NO_CLICK
    for slot in range(len(ranking)):
        if not (may_be_empty and ranking[slot] == EMPTY):
            total += position_bias[slot] * attractiveness[ranking[slot]]
            last = slot
    left = rng.random() * total - 1.0
    if left < 0.0:
        return NO_CLICK
    for slot in range(last):
        if not (may_be_empty and ranking[slot] == EMPTY):
            left -= position_bias[slot] * attractiveness[ranking[slot]]
            if left < 0.0:
                return slot
    return last


def draw_many(users: MNL, rankings: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one round for each ranking.

    Parameters
    ----------
    users
        Users who choose by multinomial logit.
    rankings
        Rounds × slots, item numbers.
    rng
        The source of randomness.

    Returns
    -------
    array of int
        Per round the clicked slot, from 0, or NO_CLICK.

    Examples
    --------
    >>> users = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
    >>> draw_many(users, np.array([[1, 0]] * 6), np.random.default_rng(1)).tolist()
    [-1, 1, -1, 1, -1, -1]
    """
    weights = np.cumsum(users.position_bias * users.attractiveness[rankings], axis=1)
    left = rng.random(len(rankings)) * (1.0 + weights[:, -1]) - 1.0
    # rounding may leave a little beyond the last slot
    slots = np.minimum((weights <= left[:, None]).sum(axis=1), users.slots - 1)
    return np.where(left < 0.0, NO_CLICK, slots)
