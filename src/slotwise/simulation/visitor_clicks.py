"""How visitors of a world click: by multinomial logit, by a click model that goes from slot to slot, or a mixture."""

from __future__ import annotations

import numpy as np

from slotwise.click_models.base import mark_one_click
from slotwise.click_models.browsing import browse, expected_clicks
from slotwise.click_models.mnl import draw_slot
from slotwise.core.types import EMPTY, BoolArray, FloatArray, Ranking
from slotwise.environments.world import World
from slotwise.jit import inlined, record


@record
class Visitors:
    """One record for all click models, so that a policy is compiled once."""

    #: the share of visitors who choose by multinomial logit
    choosing: float
    #: of the others: segments × slots × distances, and per slot, as in `Browsing`
    examination: FloatArray
    continuation: FloatArray
    #: whether the most attractive items in the most visible slots are the best list
    sorts: bool
    #: which slots the last visitor clicked on, and room for `expected_clicks`
    clicks: BoolArray
    last: FloatArray


def visitors_of(world: World) -> Visitors:
    """Return the visitors of a world before its first round."""
    slots, segments = world.slots, world.segments
    examination, continuation, sorts = np.zeros((len(segments), slots, slots)), np.ones(slots), True
    if world.users is not None:
        browsing = world.users.browsing()
        continuation = browsing.continuation
        # a mixture may have its best list between those of the two
        sorts = browsing.sorts and world.choosing == 0.0
        bias = getattr(world.users, "position_bias", None)
        for number, segment in enumerate(segments):
            scale = np.ones(slots) if bias is None else segment.position_bias / bias
            examination[number] = browsing.examination * scale[:, None]
    return Visitors(
        choosing=1.0 if world.users is None else float(world.choosing),
        examination=examination,
        continuation=continuation,
        sorts=sorts,
        clicks=np.zeros(slots, np.bool_),
        last=np.zeros(slots + 1),
    )


@inlined
def visit(
    visitors: Visitors,
    segment: int,
    position_bias: FloatArray,
    attractiveness: FloatArray,
    ranking: Ranking,
    rng: np.random.Generator,
) -> int:
    """Draw the clicks of one visitor into `visitors.clicks`; return the first clicked slot, or NO_CLICK."""
    if visitors.choosing >= 1.0 or (visitors.choosing > 0.0 and rng.random() < visitors.choosing):
        clicked = draw_slot(position_bias, attractiveness, ranking, True, rng)
        mark_one_click(visitors.clicks, clicked)
        return clicked
    return browse(visitors.examination[segment], visitors.continuation, attractiveness, ranking, visitors.clicks, rng)


@inlined
def expected_of_visit(
    visitors: Visitors, segment: int, position_bias: FloatArray, attractiveness: FloatArray, ranking: Ranking
) -> float:
    """Return the expected number of clicks of a visitor."""
    total = 0.0
    if visitors.choosing > 0.0:
        weight = 0.0
        for slot in range(len(ranking)):
            if ranking[slot] != EMPTY:
                weight += position_bias[slot] * attractiveness[ranking[slot]]
        total += visitors.choosing * (weight / (1.0 + weight))
    if visitors.choosing < 1.0:
        total += (1.0 - visitors.choosing) * expected_clicks(
            visitors.examination[segment], visitors.continuation, attractiveness, ranking, visitors.last
        )
    return total
