"""The kinds of users that the leaderboard has: every model of choice, on a page that stays and on pages that do not.

All of them are worlds, so that a policy is compiled once for all users and not for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from slotwise.click_models import Cascade, DependentClick, PositionBased, UserBrowsing
from slotwise.environments import World
from slotwise.environments.dynamics import Churn, Delay, Segment, Walk

#: four slots, in order, and ten items
BIAS = (1.0, 0.6, 0.4, 0.3)
ITEMS = 10
#: of items that users are drawn to one by one, and against each other
ATTRACTION = np.linspace(0.4, 0.04, ITEMS)
ATTRACTIVENESS = np.linspace(0.6, 0.06, ITEMS)
#: of users who click almost everything that they look at, as in the experiments of Gauthier et al. (2021)
HIGH_ATTRACTION = np.array([0.99, 0.95, 0.9, 0.85, 0.8, 0.75, 0.75, 0.75, 0.75, 0.75])
MNL = "mnl"
HIGH = "pbm-high"
#: what does not change
STAYS = "stays"


@dataclass(frozen=True)
class Users:
    """Those who click by one model: its name in tables, in a sentence, and its part of a `World`."""

    name: str
    about: str
    part: Callable[[], dict[str, Any]]
    attractiveness: Any


def _odds() -> Any:
    return ATTRACTION / (1.0 - ATTRACTION)


def _pbm() -> PositionBased:
    return PositionBased(position_bias=BIAS, attraction=ATTRACTION)


USERS = {
    MNL: Users(
        "MNL",
        "one choice among all that is on the page, which is what slotwise assumes",
        lambda: {"position_bias": BIAS},
        ATTRACTIVENESS,
    ),
    "pbm": Users("position-based", "each slot looked at and clicked on its own", lambda: {"users": _pbm()}, _odds()),
    "cascade": Users(
        "cascade",
        "from the top to the first click",
        lambda: {"users": Cascade(slots=len(BIAS), attraction=ATTRACTION)},
        _odds(),
    ),
    "dcm": Users(
        "dependent click",
        "from the top, and more often than not on after a click",
        lambda: {"users": DependentClick(continuation=[0.7, 0.6, 0.5, 0.5], attraction=ATTRACTION)},
        _odds(),
    ),
    "ubm": Users(
        "user browsing",
        "a slot is looked at more often the nearer the last click above it",
        lambda: {
            "users": UserBrowsing(
                examination=[[1.0], [0.8, 0.6], [0.7, 0.5, 0.4], [0.6, 0.45, 0.35, 0.3]], attraction=ATTRACTION
            )
        },
        _odds(),
    ),
    HIGH: Users(
        "position-based, high",
        "position-based with attractions of 0.99 to 0.75 and five slots, `big` of Gauthier et al. (2021)",
        lambda: {"users": PositionBased(position_bias=[1.0, 0.75, 0.6, 0.3, 0.1], attraction=HIGH_ATTRACTION)},
        HIGH_ATTRACTION / (1.0 - HIGH_ATTRACTION),
    ),
    "mixture": Users(
        "mixture", "half of them MNL, half position-based", lambda: {"users": _pbm(), "choosing": 0.5}, _odds()
    ),
}

CHANGES = {
    STAYS: "nothing changes",
    "late": "outcomes are 200 rounds late on average, and told every 100 rounds",
    "drifting": "the logarithm of every attractiveness walks, with a deviation of 0.5 and a memory of 3,000 rounds",
    "segmented": "three visitors in five have one taste, and two the opposite",
    "churning": "a new item every 400 rounds, each for 4,000 rounds on average",
}


@dataclass(frozen=True)
class Kind:
    """Users on a page, by the name that tables have for them."""

    #: keys of `CHANGES` and `USERS`
    change: str
    users: str

    @property
    def id(self) -> str:
        """Its name on the command line."""
        if self.change == STAYS:
            return self.users
        return self.change if self.users == MNL else f"{self.change}-{self.users}"

    @property
    def name(self) -> str:
        """Its name in a figure or a sentence."""
        users = USERS[self.users].name
        return users if self.change == STAYS else f"{self.change}, {users}"

    @property
    def stays(self) -> bool:
        """Whether nothing changes."""
        return self.change == STAYS

    @property
    def is_mnl(self) -> bool:
        """Whether users choose by multinomial logit."""
        return self.users == MNL

    def make(self) -> World:
        """Such users on such a page."""
        users = USERS[self.users]
        part = users.part()
        given = {"attractiveness": users.attractiveness} if self.is_mnl else {}
        if self.change == "late":
            return World(**part, **given, delay=Delay(mean_rounds=200.0, every=100))
        if self.change == "drifting":
            return World(**part, **given, walk=Walk(sd=0.5, rounds=3_000.0))
        if self.change == "segmented":
            tastes = [Segment(0.6, users.attractiveness), Segment(0.4, users.attractiveness[::-1].copy())]
            return World(**part, segments=tastes)
        if self.change == "churning":
            churn = partial(Churn, arrivals=1.0, every=400, lifetime=4_000.0, middle=0.25, spread=0.7)
            return World(**part, churn=churn(start=ITEMS if self.is_mnl else 0))
        return World(**part, **given)


#: only on pages that stay: a changing page would say nothing new
STAYING = ("mixture", HIGH)
KINDS = {
    kind.id: kind
    for kind in (
        Kind(change, users) for change in CHANGES for users in USERS if change == STAYS or users not in STAYING
    )
}
