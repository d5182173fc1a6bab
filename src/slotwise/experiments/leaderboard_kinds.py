"""The kinds of users that the leaderboard has: choice models on a page that stays, and a page that does not stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.choice import MNL, Cascade, DependentClick, PositionBased, UserBrowsing, mixture
from slotwise.problems import World
from slotwise.problems.changes import Churn, Delay, Segment, Walk

#: four slots, in order, and ten items
BIAS = (1.0, 0.6, 0.4, 0.3)
ITEMS = 10
#: of items that users are drawn to one by one, and against each other
ATTRACTION = np.linspace(0.4, 0.04, ITEMS)
ATTRACTIVENESS = np.linspace(0.6, 0.06, ITEMS)


@dataclass(frozen=True)
class Kind:
    """Users, by the name that tables have for them."""

    id: str
    name: str
    #: in a sentence
    about: str
    make: Callable[[], Any]
    #: whether nothing changes, and whether users choose by multinomial logit
    stays: bool = True
    is_mnl: bool = True


def _mnl() -> MNL:
    return MNL(position_bias=BIAS, attractiveness=ATTRACTIVENESS)


def _pbm() -> PositionBased:
    return PositionBased(position_bias=BIAS, attraction=ATTRACTION)


def _world(**changes: Any) -> World:
    return World(**{"position_bias": BIAS, "attractiveness": ATTRACTIVENESS, **changes})


KINDS = {
    kind.id: kind
    for kind in (
        Kind("mnl", "MNL", "one choice among all that is on the page, which is what slotwise assumes", _mnl),
        Kind("pbm", "position-based", "each slot looked at and clicked on its own", _pbm, is_mnl=False),
        Kind(
            "cascade",
            "cascade",
            "from the top to the first click",
            lambda: Cascade(slots=len(BIAS), attraction=ATTRACTION),
            is_mnl=False,
        ),
        Kind(
            "dcm",
            "dependent click",
            "from the top, and more often than not on after a click",
            lambda: DependentClick(continuation=[0.7, 0.6, 0.5, 0.5], attraction=ATTRACTION),
            is_mnl=False,
        ),
        Kind(
            "ubm",
            "user browsing",
            "a slot is looked at more often the nearer the last click above it",
            lambda: UserBrowsing(
                examination=[[1.0], [0.8, 0.6], [0.7, 0.5, 0.4], [0.6, 0.45, 0.35, 0.3]], attraction=ATTRACTION
            ),
            is_mnl=False,
        ),
        Kind(
            "mixture",
            "mixture",
            "half of them MNL, half position-based",
            lambda: mixture(shares=[0.5, 0.5], users=[_mnl(), _pbm()]),
            is_mnl=False,
        ),
        Kind(
            "late",
            "late",
            "MNL; outcomes 200 rounds late on average, told every 100 rounds",
            lambda: _world(delay=Delay(mean_rounds=200.0, every=100)),
            stays=False,
        ),
        Kind(
            "drifting",
            "drifting",
            "MNL; the logarithm of every attractiveness walks, with a deviation of 0.5 and a memory of 3,000 rounds",
            lambda: _world(walk=Walk(sd=0.5, rounds=3_000.0)),
            stays=False,
        ),
        Kind(
            "segmented",
            "segmented",
            "MNL; three visitors in five have one taste, and two the opposite",
            lambda: _world(
                attractiveness=None,
                segments=[
                    Segment(0.6, attractiveness=ATTRACTIVENESS),
                    Segment(0.4, attractiveness=ATTRACTIVENESS[::-1].copy()),
                ],
            ),
            stays=False,
        ),
        Kind(
            "churning",
            "churning",
            "MNL; a new item every 400 rounds, each for 4,000 rounds on average",
            lambda: World(
                position_bias=BIAS,
                churn=Churn(start=ITEMS, arrivals=1.0, every=400, lifetime=4_000.0, middle=0.25, spread=0.7),
            ),
            stays=False,
        ),
    )
}
