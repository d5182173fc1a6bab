"""The position-based model: users look at each slot independently, and may click on the slots that they look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import (
    click_probabilities,
    click_rates,
    draw_clicks,
    law_of_first_click,
    probability_of,
    reward,
    sorted_ranking,
)
from slotwise.click_models.browsing import Browsing, check_items
from slotwise.click_models.model_registry import register
from slotwise.core import validation
from slotwise.core.types import BoolArray, FloatArray, Ranking
from slotwise.jit import record


@register(
    "pbm",
    name="Position-based",
    citation="Richardson, Dominowska and Ragno, Predicting Clicks (2007); Lagrée, Vernade and Cappé (2016)",
    example={"position_bias": [1.0, 0.4, 0.7], "attraction": [0.3, 0.6, 0.1, 0.8, 0.45]},
)
@record
class PositionBased:
    """Users who look at slot k with probability θ_k, and click on item j there with probability α_j, slot by slot.

    Clicks on different slots are independent, and there may be several.

    Parameters
    ----------
    position_bias
        θ, a positive probability per slot, in any order.
    attraction
        α, a probability per item.

    Examples
    --------
    >>> from slotwise.click_models import best_ranking
    >>> users = PositionBased(position_bias=[1.0, 0.5], attraction=[0.2, 0.4, 0.1])
    >>> best_ranking(users).tolist()
    [1, 0]
    >>> click_rates(users, [1, 0]).tolist()
    [0.4, 0.1]
    >>> click_probabilities(users, [1, 0]).round(2).tolist()     # slot 0 first, slot 1 first, nothing
    [0.4, 0.06, 0.54]
    """

    #: θ, per slot, in any order
    position_bias: FloatArray
    #: α, per item
    attraction: FloatArray

    if TYPE_CHECKING:

        def __init__(self, *, position_bias: ArrayLike, attraction: ArrayLike) -> None: ...

    @classmethod
    def prepare(cls, position_bias: object, attraction: object) -> dict[str, FloatArray]:
        """Return checked copies of the parameters."""
        bias = validation.positive_vector("position_bias", position_bias, each="slot")
        validation.probability_vector("position_bias", bias, each="slot")
        chances = validation.probability_vector("attraction", attraction, each="item")
        check_items("position_bias", len(bias), chances)
        return {"position_bias": bias, "attraction": chances}

    @property
    def slots(self) -> int:
        """K."""
        return len(self.position_bias)

    @property
    def items(self) -> int:
        """J."""
        return len(self.attraction)

    def best_ranking(self) -> Ranking:
        """Return the k-th most attractive item in the slot of the k-th largest bias: no sum of products is larger."""
        return sorted_ranking(self.position_bias, self.attraction)

    def browsing(self) -> Browsing:
        """Return the browsing parameters: users look at each slot with its own probability."""
        return Browsing(np.tril(np.repeat(self.position_bias[:, None], self.slots, axis=1)), np.ones(self.slots), True)


@click_rates.register(PositionBased)
def _click_rates(users: PositionBased, ranking: Ranking) -> FloatArray:
    return users.position_bias * users.attraction[ranking]


@click_probabilities.register(PositionBased)
def _click_probabilities(users: PositionBased, ranking: Ranking) -> FloatArray:
    return law_of_first_click(users.position_bias * users.attraction[ranking])


@probability_of.register(PositionBased)
def _probability_of(users: PositionBased, ranking: Ranking, clicks: BoolArray) -> float:
    probability = 1.0
    for slot in range(len(ranking)):
        chance = users.position_bias[slot] * users.attraction[ranking[slot]]
        probability *= chance if clicks[slot] else 1.0 - chance
    return probability


@draw_clicks.register(PositionBased)
def _draw_clicks(users: PositionBased, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    for slot in range(len(ranking)):
        # a draw for every slot: they are independent
        clicks[slot] = rng.random() < users.position_bias[slot] * users.attraction[ranking[slot]]


@reward.register(PositionBased)
def _reward(users: PositionBased, ranking: Ranking) -> float:
    total = 0.0
    for slot in range(len(ranking)):
        total += users.position_bias[slot] * users.attraction[ranking[slot]]
    return total
