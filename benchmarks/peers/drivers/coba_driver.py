"""coba: its UCB learner; a list is K choices among the items that are left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from coba.learners import BanditUCBLearner
from ranking_loop import Choose, Learn, main


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    learner, rng = BanditUCBLearner(), np.random.default_rng(seed)

    def choose() -> Sequence[int]:
        left, shown = list(range(items)), []
        for _ in range(slots):
            probabilities = np.array([learner.score(None, left, action) for action in left])
            shown.append(int(rng.choice(left, p=probabilities / probabilities.sum())))
            left.remove(shown[-1])
        return shown

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        for item, reward in zip(shown, rewards, strict=True):
            learner.learn(None, item, reward, 1.0)

    return choose, learn


if __name__ == "__main__":
    main(start)
