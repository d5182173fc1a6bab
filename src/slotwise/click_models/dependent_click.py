"""The dependent click model: a cascade that goes on after a click with a probability that depends on the slot."""

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
)
from slotwise.click_models.browsing import Browsing, check_items
from slotwise.click_models.local_search import searched_ranking
from slotwise.click_models.model_registry import register
from slotwise.core import validation
from slotwise.core.types import BoolArray, FloatArray, Ranking
from slotwise.jit import record


@register(
    "dcm",
    name="Dependent click",
    citation="Guo, Liu and Wang, Efficient Multiple-Click Models in Web Search (2009)",
    example={"continuation": [0.8, 0.6, 0.3], "attraction": [0.1, 0.5, 0.3, 0.2, 0.7]},
)
@record
class DependentClick:
    """Users who look from the first slot on, and after a click on slot k go on with probability λ_k.

    They click on item j with probability α_j when they look at it; without a click they always go on.

    Parameters
    ----------
    continuation
        λ, a probability per slot; that of the last slot has no effect.
    attraction
        α, a probability per item.

    Examples
    --------
    >>> users = DependentClick(continuation=[0.5, 0.5], attraction=[0.5, 0.2, 0.4])
    >>> click_rates(users, [2, 0]).tolist()                      # slot 1 is looked at with probability 0.6 + 0.4·0.5
    [0.4, 0.4]
    >>> click_probabilities(users, [2, 0]).round(2).tolist()     # slot 0 first, slot 1 first, nothing
    [0.4, 0.3, 0.3]
    """

    #: λ, per slot
    continuation: FloatArray
    #: α, per item
    attraction: FloatArray

    if TYPE_CHECKING:

        def __init__(self, *, continuation: ArrayLike, attraction: ArrayLike) -> None: ...

    @classmethod
    def prepare(cls, continuation: object, attraction: object) -> dict[str, FloatArray]:
        """Return checked copies of the parameters."""
        going_on = validation.probability_vector("continuation", continuation, each="slot")
        chances = validation.probability_vector("attraction", attraction, each="item")
        check_items("continuation", len(going_on), chances)
        return {"continuation": going_on, "attraction": chances}

    @property
    def slots(self) -> int:
        """K."""
        return len(self.continuation)

    @property
    def items(self) -> int:
        """J."""
        return len(self.attraction)

    def best_ranking(self) -> Ranking:
        """Return the most attractive items in order if λ decreases up to the last slot but one; else search.

        Let V be the expected clicks below slot k of a user who gets there. The expected clicks from slot k on are
        α + (1 - α(1-λ_k))V. If λ does not increase, V ≤ 1/(1-λ_k), and a more attractive item is better. Two neighbours
        a, b are worth V(b - a)(λ_{k+1} - λ_k) more than b, a, so the more attractive item belongs above.
        """
        in_order = np.argsort(-self.attraction, kind="stable")[: self.slots]
        return in_order if self._sorts() else searched_ranking(reward, self, [in_order])

    def browsing(self) -> Browsing:
        """Return the browsing parameters: users look at every slot until they stop."""
        return Browsing(np.tril(np.ones((self.slots, self.slots))), self.continuation, self._sorts())

    def _sorts(self) -> bool:
        return bool((np.diff(self.continuation[:-1]) <= 0.0).all())


@click_rates.register(DependentClick)
def _click_rates(users: DependentClick, ranking: Ranking) -> FloatArray:
    rates, looking = np.empty(len(ranking)), 1.0
    for slot in range(len(ranking)):
        rates[slot] = looking * users.attraction[ranking[slot]]
        looking -= rates[slot] * (1.0 - users.continuation[slot])
    return rates


@click_probabilities.register(DependentClick)
def _click_probabilities(users: DependentClick, ranking: Ranking) -> FloatArray:
    return law_of_first_click(users.attraction[ranking])


@probability_of.register(DependentClick)
def _probability_of(users: DependentClick, ranking: Ranking, clicks: BoolArray) -> float:
    # probability of the clicks so far, and that the user goes on, or has stopped at the last click
    looking, stopped = 1.0, 0.0
    for slot in range(len(ranking)):
        chance = users.attraction[ranking[slot]]
        if clicks[slot]:
            looking *= chance
            stopped = looking * (1.0 - users.continuation[slot])
            looking *= users.continuation[slot]
        else:
            looking *= 1.0 - chance
    return looking + stopped


@draw_clicks.register(DependentClick)
def _draw_clicks(users: DependentClick, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    looking = True
    for slot in range(len(ranking)):
        clicks[slot] = looking and rng.random() < users.attraction[ranking[slot]]
        if clicks[slot]:
            looking = rng.random() < users.continuation[slot]


@reward.register(DependentClick)
def _reward(users: DependentClick, ranking: Ranking) -> float:
    total, looking = 0.0, 1.0
    for slot in range(len(ranking)):
        rate = looking * users.attraction[ranking[slot]]
        looking -= rate * (1.0 - users.continuation[slot])
        total += rate
    return total
