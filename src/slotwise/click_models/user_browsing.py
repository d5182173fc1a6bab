"""The user browsing model: the probability of looking depends on the slot and on the distance to the last click."""

from __future__ import annotations

from collections.abc import Sequence
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
from slotwise.core.errors import InvalidInput
from slotwise.core.types import NO_CLICK, BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import record


@register(
    "ubm",
    name="User browsing",
    citation="Dupret and Piwowarski, A User Browsing Model to Predict Search Engine Click Data from Past Observations "
    "(2008)",
    example={"examination": [[1.0], [0.9, 0.6], [0.8, 0.5, 0.3]], "attraction": [0.3, 0.6, 0.1, 0.8, 0.45]},
)
@record
class UserBrowsing:
    """Users who look at slot k, the last click being d slots above it, with probability γ_kd.

    They click on item j with probability α_j when they look at it.

    Parameters
    ----------
    examination
        γ, a row per slot. Row k, counted from 0, has a probability for each distance from 1 to k+1; the last is for
        users who have not clicked yet, as if they had clicked above the page.
    attraction
        α, a probability per item.

    Examples
    --------
    >>> users = UserBrowsing(examination=[[1.0], [0.9, 0.5]], attraction=[0.5, 0.2, 0.4])
    >>> click_rates(users, [2, 0]).round(2).tolist()             # slot 1: (0.4·0.9 + 0.6·0.5)·0.5
    [0.4, 0.33]
    >>> click_probabilities(users, [2, 0]).round(2).tolist()     # slot 0 first, slot 1 first, nothing
    [0.4, 0.15, 0.45]
    """

    #: γ, slots × distances: column d-1 is for a last click d slots above; 0 right of the diagonal
    examination: FloatArray
    #: α, per item
    attraction: FloatArray

    if TYPE_CHECKING:

        def __init__(self, *, examination: Sequence[ArrayLike] | FloatArray, attraction: ArrayLike) -> None: ...

    @classmethod
    def prepare(cls, examination: object, attraction: object) -> dict[str, FloatArray]:
        """Return checked copies of the parameters."""
        chances = validation.probability_vector("attraction", attraction, each="item")
        if not isinstance(examination, Sequence | np.ndarray) or isinstance(examination, str) or not len(examination):
            raise InvalidInput(f"examination must be a list of a list per slot, got {validation.short(examination)}")
        slots = len(examination)
        check_items("examination", slots, chances)
        square = np.zeros((slots, slots))
        for slot, row in enumerate(examination):
            numbers = validation.probability_vector(f"examination[{slot}]", row, each="distance")
            # a square matrix has zeros for distances that a slot does not have
            if len(numbers) != slot + 1 and not (len(numbers) == slots and not numbers[slot + 1 :].any()):
                raise InvalidInput(f"examination[{slot}] must have {slot + 1} numbers, got {len(numbers)}")
            square[slot, : slot + 1] = numbers[: slot + 1]
        return {"examination": square, "attraction": chances}

    @property
    def slots(self) -> int:
        """K."""
        return len(self.examination)

    @property
    def items(self) -> int:
        """J."""
        return len(self.attraction)

    def best_ranking(self) -> Ranking:
        """Search from the most attractive items, in order and by the visibility of slots before a click."""
        best_items = np.argsort(-self.attraction, kind="stable")[: self.slots]
        by_slot = np.empty(self.slots, np.int64)
        by_slot[np.argsort(-np.diag(self.examination), kind="stable")] = best_items
        return searched_ranking(reward, self, [by_slot, best_items], rewards)

    def browsing(self) -> Browsing:
        """Return the browsing parameters: users look depending on their last click."""
        return Browsing(self.examination, np.ones(self.slots), False)


def rewards(users: UserBrowsing, rankings: IntArray) -> FloatArray:
    """Return the reward of each row of `rankings`."""
    chances = users.attraction[rankings]
    # as in `click_rates`, a row per ranking
    last, total = np.zeros((users.slots + 1, len(rankings))), np.zeros(len(rankings))
    last[0] = 1.0
    for slot in range(users.slots):
        moved = last[: slot + 1] * (users.examination[slot, slot::-1][:, None] * chances[:, slot])
        last[: slot + 1] -= moved
        last[slot + 1] = moved.sum(axis=0)
        total += last[slot + 1]
    return total


@click_rates.register(UserBrowsing)
def _click_rates(users: UserBrowsing, ranking: Ranking) -> FloatArray:
    examination, slots = users.examination, len(ranking)
    # last[slot + 1]: the probability that the last click so far was on that slot; last[0]: that there was none
    rates, last = np.zeros(slots), np.zeros(slots + 1)
    last[0] = 1.0
    for slot in range(slots):
        chance = users.attraction[ranking[slot]]
        for before in range(slot + 1):
            moved = last[before] * examination[slot, slot - before] * chance
            last[before] -= moved
            rates[slot] += moved
        last[slot + 1] = rates[slot]
    return rates


@click_probabilities.register(UserBrowsing)
def _click_probabilities(users: UserBrowsing, ranking: Ranking) -> FloatArray:
    return law_of_first_click(np.diag(users.examination) * users.attraction[ranking])


@probability_of.register(UserBrowsing)
def _probability_of(users: UserBrowsing, ranking: Ranking, clicks: BoolArray) -> float:
    probability, last = 1.0, NO_CLICK
    for slot in range(len(ranking)):
        chance = users.examination[slot, slot - last - 1] * users.attraction[ranking[slot]]
        probability *= chance if clicks[slot] else 1.0 - chance
        if clicks[slot]:
            last = slot
    return probability


@draw_clicks.register(UserBrowsing)
def _draw_clicks(users: UserBrowsing, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    last = NO_CLICK
    for slot in range(len(ranking)):
        chance = users.examination[slot, slot - last - 1] * users.attraction[ranking[slot]]
        clicks[slot] = rng.random() < chance
        if clicks[slot]:
            last = slot
