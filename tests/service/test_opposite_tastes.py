"""The closed loop with two kinds of visitors who like the opposite: each is given what it likes."""

from __future__ import annotations

import random
from pathlib import Path

from slotwise import MNL
from slotwise.click_models import best_ranking
from slotwise.demo.simulated_visitors import Habits, SimulatedVisitors
from tests.service.serving import serving
from tests.waiting import wait_for

ITEMS = ["a", "b", "c", "d"]
POSITION_BIAS = [1.0, 0.5]
USERS = {
    "mobile": MNL(position_bias=POSITION_BIAS, attractiveness=[2.4, 0.6, 0.1, 0.05]),
    "desktop": MNL(position_bias=POSITION_BIAS, attractiveness=[0.05, 0.1, 0.6, 2.4]),
}
#: everybody sees the list; those who do not click say nothing
QUIET = Habits(unseen=0.0, silent=1.0, late=0.0, twice=0.0, conflicting=0.0, hesitant=0.0)
BATCH = 60


def test_each_segment_learns_its_own_best_list(tmp_path: Path) -> None:
    """After as many visitors as it takes, mostly a few hundred: the service's randomness is its own.

    A service that does not tell them apart never comes to two lists that have nothing in common.
    """
    visitors = {device: SimulatedVisitors(users, ITEMS, random.Random(7), QUIET) for device, users in USERS.items()}
    wanted = {device: [ITEMS[item] for item in best_ranking(users)] for device, users in USERS.items()}
    came = 0
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        client.define(slots=2, items=ITEMS, segments={"device": list(USERS)})

        def both_are_known() -> bool:
            nonlocal came
            for device in [*USERS] * BATCH:
                decision = client.decide(context={"device": device})
                for outcome in visitors[device].visit(tuple(decision["items"])).reports:
                    assert client.report(decision, **outcome).status_code == 200
            came += BATCH
            client.settle()
            client.wait_for_snapshot()
            known = {}
            for device in USERS:
                report = client.get("/v1/placements/home/estimates", params={"segment": f"device:{device}"}).json()
                assert report["decisions"]["issued"] == came
                known[device] = report["best_list"]
            return known == wanted

        wait_for(both_are_known, "the best list of each device")
