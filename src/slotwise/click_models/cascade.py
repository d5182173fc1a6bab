"""The cascade model: a user looks from the first slot on, and clicks the first item that attracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import click_probabilities, draw, law_of_first_click, reward
from slotwise.click_models.browsing import Browsing
from slotwise.click_models.model_registry import register
from slotwise.core import validation
from slotwise.core.types import NO_CLICK, FloatArray, Ranking
from slotwise.jit import record


@register(
    "cascade",
    name="Cascade",
    citation="Craswell, Zoeter, Taylor and Ramsey, An Experimental Comparison of Click Position-Bias Models (2008)",
    example={"slots": 3, "attraction": [0.1, 0.5, 0.3, 0.2, 0.7]},
)
@record
class Cascade:
    """Users who click with probability α_j on the item j that they look at, and stop after a click.

    Parameters
    ----------
    slots
        K.
    attraction
        α, a probability per item.

    Examples
    --------
    >>> users = Cascade(slots=2, attraction=[0.5, 0.2, 0.4])
    >>> click_probabilities(users, [2, 0]).round(2).tolist()     # slot 0, slot 1, nothing
    [0.4, 0.3, 0.3]
    """

    slots: int
    #: α, per item
    attraction: FloatArray

    if TYPE_CHECKING:

        def __init__(self, *, slots: int, attraction: ArrayLike) -> None: ...

    @classmethod
    def prepare(cls, slots: object, attraction: object) -> dict[str, int | FloatArray]:
        """Return checked copies of the parameters."""
        chances = validation.probability_vector("attraction", attraction, each="item")
        return {
            "slots": validation.whole_number("slots", slots, at_least=1, at_most=len(chances)),
            "attraction": chances,
        }

    @property
    def items(self) -> int:
        """J."""
        return len(self.attraction)

    def best_ranking(self) -> Ranking:
        """Return the most attractive items; their order does not change the probability of a click."""
        return np.argsort(-self.attraction, kind="stable")[: self.slots]

    def browsing(self) -> Browsing:
        """Return the browsing parameters: users look at every slot until they click."""
        return Browsing(np.tril(np.ones((self.slots, self.slots))), np.zeros(self.slots), True)


@click_probabilities.register(Cascade)
def _click_probabilities(users: Cascade, ranking: Ranking) -> FloatArray:
    return law_of_first_click(users.attraction[ranking])


@draw.register(Cascade)
def _draw(users: Cascade, ranking: Ranking, rng: np.random.Generator) -> int:
    for slot in range(len(ranking)):
        if rng.random() < users.attraction[ranking[slot]]:
            return slot
    return NO_CLICK


@reward.register(Cascade)
def _reward(users: Cascade, ranking: Ranking) -> float:
    none = 1.0
    for item in ranking:
        none *= 1.0 - users.attraction[item]
    return 1.0 - none
