from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from slotwise import MNL, PolicyTask, get_policy
from slotwise.click_models import PositionBased, draw, draw_clicks
from slotwise.policies import choose, learn
from slotwise.policies.interface import learn_clicks
from slotwise.policies.paper.toprank import partition

pytestmark = pytest.mark.usefixtures("interpreting")


def _blocks(started: Any) -> list[set[int]]:
    found: list[set[int]] = []
    place = 0
    order = started.item_order.tolist()
    while place < len(order):
        stop = int(started.stop[order[place]])
        found.append(set(order[place:stop]))
        assert {int(started.start[item]) for item in order[place:stop]} == {place}
        place = stop
    return found


class Reference:
    """TopRank as it is written down: every pair in every round, blocks from scratch."""

    def __init__(self, items: int, rounds: int) -> None:
        self.items, self.rounds = items, rounds
        self.lead = np.zeros((items, items))
        self.decided = np.zeros((items, items))
        self.beats: set[tuple[int, int]] = set()

    def blocks(self) -> list[set[int]]:
        left, found = set(range(self.items)), []
        while left:
            block = {j for j in left if not any((i, j) in self.beats for i in left)} or set(left)
            found.append(block)
            left -= block
        return found

    def learn(self, ranking: list[int], clicked: list[bool]) -> None:
        clicks = np.zeros(self.items)
        clicks[ranking] = clicked
        for block in self.blocks():
            for i in block:
                for j in block:
                    self.lead[i, j] += clicks[i] - clicks[j]
                    self.decided[i, j] += abs(clicks[i] - clicks[j])
        c = 4 * math.sqrt(2 / math.pi) / math.erf(math.sqrt(2))
        for i in range(self.items):
            for j in range(self.items):
                n = self.decided[i, j]
                if n > 0 and self.lead[i, j] >= math.sqrt(2 * n * math.log(c * math.sqrt(n) * self.rounds)):
                    self.beats.add((i, j))


@pytest.mark.parametrize("several", [False, True])
def test_blocks_match_the_published_algorithm(several: bool) -> None:
    """With all clicks of a visit: U_ij = C_i - C_j is 0 if both were clicked."""
    choosing = MNL(position_bias=[1.0, 0.6], attractiveness=[0.1, 2.0, 0.8, 0.1, 3.0])
    looking = PositionBased(position_bias=[1.0, 0.6], attraction=[0.1, 0.9, 0.4, 0.1, 0.6])
    started, reference = get_policy("toprank").start(PolicyTask(2, 5, 1_000)), Reference(5, 1_000)
    rng, clicks, both = np.random.default_rng(1), np.zeros(2, bool), 0
    for _ in range(1_500):
        ranking = choose(started, rng).copy()
        if several:
            draw_clicks(looking, ranking, clicks, rng)
            learn_clicks(started, ranking, clicks)
        else:
            clicked = draw(choosing, ranking, rng)
            learn(started, ranking, clicked)
            clicks[:] = [clicked == 0, clicked == 1]
        both += int(clicks.all())
        reference.learn(ranking.tolist(), clicks.tolist())
        assert _blocks(started) == reference.blocks()
        assert (started.lead == reference.lead).all()
    assert len(_blocks(started)) > 2, "the test saw no demotion"
    assert (both > 100) == several


def test_slots_are_filled_block_by_block() -> None:
    started = get_policy("toprank").start(PolicyTask(3, 5, 100))
    for winner in (3, 4):
        for loser in (0, 1, 2):
            started.beats[winner, loser] = 1
    started.beats[1, 0] = started.beats[1, 2] = 1
    partition(started)
    assert _blocks(started) == [{3, 4}, {1}, {0, 2}]
    rng = np.random.default_rng(0)
    seen = {tuple(choose(started, rng).tolist()) for _ in range(60)}
    assert seen == {(3, 4, 1), (4, 3, 1)}


@pytest.mark.parametrize("cycle", [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 0)]])
def test_a_cycle_becomes_one_block(cycle: list[tuple[int, int]]) -> None:
    started = get_policy("toprank").start(PolicyTask(2, 4, 100))
    for winner, loser in cycle:
        started.beats[winner, loser] = 1
    partition(started)
    involved = {item for pair in cycle for item in pair}
    assert _blocks(started) == [set(range(4)) - involved, involved]
