"""PyBandits: a Bernoulli bandit; a list is K predictions with the items before forbidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pybandits.smab import SmabBernoulli
from ranking_loop import Choose, Learn, main


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    np.random.seed(seed)  # noqa: NPY002 - it draws from numpy's own state
    bandit = SmabBernoulli.cold_start(action_ids={str(item) for item in range(items)})

    def choose() -> Sequence[int]:
        shown: list[str] = []
        for _ in range(slots):
            actions = bandit.predict(n_samples=1, forbidden_actions={*shown} or None)[0]
            shown.append(actions[0])
        return [int(item) for item in shown]

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        bandit.update(actions=[str(item) for item in shown], rewards=list(rewards))

    return choose, learn


if __name__ == "__main__":
    main(start)
