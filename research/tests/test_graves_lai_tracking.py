from __future__ import annotations

import math

import numpy as np
import pytest

from research.further_policies.graves_lai_tracking import MAX_ITEMS
from research.graves_lai.limit import limit
from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import draw
from slotwise.core.errors import InvalidInput
from slotwise.estimators import Estimate
from slotwise.policies import choose, learn

USERS = MNL(position_bias=[1.0, 0.6], attractiveness=[0.9, 0.5, 0.3, 0.1])


def test_every_list_is_shown_as_often_as_the_limit_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With estimates that are right: η log t times each list by the closed form, and the best list otherwise."""
    right = Estimate(USERS.attractiveness, USERS.position_bias, True, True, 0, None)  # type: ignore[arg-type]
    monkeypatch.setattr("research.further_policies.graves_lai_tracking.maximum_a_posteriori", lambda *_, **__: right)
    started, rng = (
        get_policy("graves-lai-tracking", bias="known").start(PolicyTask(2, 4, 9_999, USERS.position_bias)),
        np.random.default_rng(1),
    )
    for _ in range(3_000):
        ranking = choose(started, rng).copy()
        learn(started, ranking, draw(USERS, ranking, rng))
    asked = limit(USERS, known_bias=True).explored
    assert len(asked) == 2
    for one in asked:
        # the noise on the estimates moves rates a little
        assert started.times(one) == pytest.approx(one.rate * math.log(3_000), rel=0.05, abs=2)
    explored = sum(started.times(one) for one in asked)
    assert started.shown[0, 1] > 3_000 - 1.1 * explored - 20


def test_it_learns_and_keeps_to_the_plan() -> None:
    """The best list is shown if every list of the plan was shown η log t times, and else the one furthest behind.

    Or, in a few rounds, a list with the item that was shown least.
    """
    users = MNL(position_bias=[1.0, 0.2], attractiveness=[2.0, 0.7, 0.1, 0.05])
    started, rng = get_policy("graves-lai-tracking").start(PolicyTask(2, 4, 9_999)), np.random.default_rng(2)
    exploited, forced = 0, 0
    for now in range(1, 2_001):
        rarest = started.shows.argmin()
        ranking = choose(started, rng).copy()
        part = [started.times(one) / one.rate for one in started.plan]
        if min(part) >= math.log(now):
            assert ranking.tolist() == started.best.tolist()
            exploited += 1
        elif ranking.tolist() != started.plan[int(np.argmin(part))].ranking.tolist():
            assert started.shows[rarest] == started.shows[ranking].min()
            forced += 1
        learn(started, ranking, draw(users, ranking, rng))
    assert started.best.tolist() == [0, 1]
    assert exploited > 500
    assert forced < 200


def test_large_pages_are_refused() -> None:
    with pytest.raises(InvalidInput, match=f"at most {MAX_ITEMS} items"):
        get_policy("graves-lai-tracking").start(PolicyTask(2, MAX_ITEMS + 1, 100))
