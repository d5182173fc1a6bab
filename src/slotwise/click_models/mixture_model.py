"""Mixtures: segments of visitors, each with its own click model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from slotwise.click_models.base import (
    best_ranking,
    click_probabilities,
    click_rates,
    draw_clicks,
    probability_of,
    reward,
)
from slotwise.click_models.local_search import searched_ranking
from slotwise.click_models.model_registry import choice_model, register
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.core.types import BoolArray, FloatArray, Ranking
from slotwise.jit import is_record, record


@record
class Mixture:
    """Two segments of visitors; either may be a mixture again."""

    #: the share of the first segment
    share: float
    #: users of any model
    first: Any
    second: Any

    @property
    def slots(self) -> int:
        """K."""
        return int(self.first.slots)

    @property
    def items(self) -> int:
        """J."""
        return int(self.first.items)

    def best_ranking(self) -> Ranking:
        """Search from the best rankings of both segments."""
        return searched_ranking(reward, self, [best_ranking(self.first), best_ranking(self.second)])


@register(
    "mixture",
    name="Mixture",
    citation="each visitor is of one segment, drawn by its share",
    example={
        "shares": [0.5, 0.3, 0.2],
        "users": [
            {"model": "mnl", "position_bias": [1.0, 0.2, 0.9], "attractiveness": [0.3, 0.5, 0.1, 0.8]},
            {"model": "pbm", "position_bias": [1.0, 0.4, 0.7], "attraction": [0.3, 0.6, 0.1, 0.5]},
            {"model": "cascade", "slots": 3, "attraction": [0.1, 0.5, 0.3, 0.2]},
        ],
    },
)
def mixture(*, shares: ArrayLike, users: object) -> Any:
    """Return users of several segments.

    Parameters
    ----------
    shares
        The share of each segment; they sum to 1.
    users
        A list of users of each segment, or of their fields in a problem file.

    Examples
    --------
    >>> from slotwise.click_models import MNL, Cascade
    >>> calm = MNL(position_bias=[1.0, 0.5], attractiveness=[0.2, 0.4, 0.1])
    >>> both = mixture(shares=[0.75, 0.25], users=[calm, Cascade(slots=2, attraction=[0.5, 0.2, 0.4])])
    >>> click_probabilities(both, [1, 0]).round(3).tolist()
    [0.25, 0.15, 0.6]
    """
    parts = validation.positive_vector("shares", shares, each="kind")
    if not math.isclose(parts.sum(), 1.0, abs_tol=1e-9):
        raise InvalidInput(f"shares must sum to 1, got {float(parts.sum())}")
    if isinstance(users, str) or not isinstance(users, Sequence) or len(users) != len(parts):
        raise InvalidInput(
            f"users must be a list with one entry per share, {len(parts)}, got {validation.short(users)}"
        )
    segments = [_users_of(f"users[{place}]", given) for place, given in enumerate(users)]
    sizes = {(segment.slots, segment.items) for segment in segments}
    if len(sizes) > 1:
        listed = " and ".join(f"{slots} and {items}" for slots, items in sorted(sizes))
        raise InvalidInput(f"users must all have as many slots and items, got {listed}")
    mixed = segments[-1]
    # from the last on: the share that the first segments leave is split again
    for place in range(len(segments) - 2, -1, -1):
        mixed = Mixture(share=float(parts[place] / parts[place:].sum()), first=segments[place], second=mixed)
    return mixed


def _users_of(name: str, given: object) -> Any:
    if not isinstance(given, Mapping):
        if not is_record(given):
            raise InvalidInput(f"{name} must be users of a registered model, got {validation.short(given)}")
        return given
    fields = dict(given)
    try:
        model = choice_model(str(fields.pop("model", "mnl")))
    except UnknownName as problem:
        raise InvalidInput(f"{name}: {problem}") from None
    if set(fields) != set(model.fields):
        raise InvalidInput(
            f"{name} must have {', '.join(model.fields)} for {model.id}, got {', '.join(fields) or 'nothing'}"
        )
    try:
        return model.make(**fields)
    except InvalidInput as problem:
        raise InvalidInput(f"{name}: {problem}") from None


@click_probabilities.register(Mixture)
def _click_probabilities(users: Mixture, ranking: Ranking) -> FloatArray:
    first, second = click_probabilities(users.first, ranking), click_probabilities(users.second, ranking)
    return users.share * first + (1.0 - users.share) * second  # type: ignore[no-any-return]


@click_rates.register(Mixture)
def _click_rates(users: Mixture, ranking: Ranking) -> FloatArray:
    first, second = click_rates(users.first, ranking), click_rates(users.second, ranking)
    return users.share * first + (1.0 - users.share) * second  # type: ignore[no-any-return]


@probability_of.register(Mixture)
def _probability_of(users: Mixture, ranking: Ranking, clicks: BoolArray) -> float:
    first, second = probability_of(users.first, ranking, clicks), probability_of(users.second, ranking, clicks)
    return users.share * first + (1.0 - users.share) * second  # type: ignore[no-any-return]


@draw_clicks.register(Mixture)
def _draw_clicks(users: Mixture, ranking: Ranking, clicks: BoolArray, rng: np.random.Generator) -> None:
    if rng.random() < users.share:
        draw_clicks(users.first, ranking, clicks, rng)
    else:
        draw_clicks(users.second, ranking, clicks, rng)


@reward.register(Mixture)
def _reward(users: Mixture, ranking: Ranking) -> float:
    first, second = reward(users.first, ranking), reward(users.second, ranking)
    return users.share * first + (1.0 - users.share) * second  # type: ignore[no-any-return]
