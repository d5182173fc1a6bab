from __future__ import annotations

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import PositionBased, draw, draw_clicks
from slotwise.policies import choose, learn
from slotwise.policies.interface import learn_clicks
from tests.policies.position_based_setting import USERS

pytestmark = pytest.mark.usefixtures("interpreting")


@pytest.mark.parametrize(
    "users", [MNL(position_bias=[0.4, 1.0], attractiveness=[0.5, 0.9, 0.2]), USERS], ids=["one click", "several"]
)
def test_the_index_is_that_of_lagree(users: MNL | PositionBased) -> None:
    """S sums all clicks of a visit; where users click once, that is the one."""
    several = isinstance(users, PositionBased)
    started = get_policy("pbm-ucb").start(PolicyTask(users.slots, users.items, 500, users.position_bias))
    rng = np.random.default_rng(1)
    clicks, shows, exposure = np.zeros((3, users.items))
    clicked, most = np.zeros(users.slots, bool), 0
    for now in range(1, 300):
        ranking = choose(started, rng).copy()
        if (shows > 0).all():
            index = clicks / exposure + np.sqrt(shows / exposure) * np.sqrt(np.log(now) / (2 * exposure))
            assert started.index == pytest.approx(index)
            # the slot with the largest bias has an item with the largest index
            in_order = index[ranking[np.argsort(-users.position_bias)]]
            assert in_order == pytest.approx(np.sort(index)[::-1][: users.slots])
        if several:
            draw_clicks(users, ranking, clicked, rng)
            learn_clicks(started, ranking, clicked)
        else:
            one = draw(users, ranking, rng)
            learn(started, ranking, one)
            clicked[:] = np.arange(users.slots) == one
        shows[ranking] += 1
        exposure[ranking] += users.position_bias
        clicks[ranking] += clicked
        most = max(most, clicked.sum())
    assert (most > 1) == several
