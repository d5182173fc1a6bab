"""contextualbandits: linear Thompson sampling on a constant feature; the top N are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from contextualbandits.online import LinTS
from ranking_loop import Choose, Learn, main

CONSTANT = np.ones((1, 1))


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    # the variance of a click is at most a quarter
    bandit = LinTS(items, fit_intercept=False, v_sq=0.25, random_state=seed + 1)
    bandit.partial_fit(np.ones((items, 1)), np.arange(items), np.zeros(items))

    def choose() -> Sequence[int]:
        return [int(item) for item in bandit.topN(CONSTANT, slots)[0]]

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        bandit.partial_fit(np.ones((len(shown), 1)), np.array(shown), np.array(rewards, float))

    return choose, learn


if __name__ == "__main__":
    main(start)
