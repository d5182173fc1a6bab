"""bayesianbandits: an agent with Dirichlet learners pulls the top K."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bayesianbandits import Agent, Arm, DirichletClassifier, ThompsonSampling
from ranking_loop import Choose, Learn, main


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    arms = [Arm(item, learner=DirichletClassifier({0: 1.0, 1: 1.0}), reward_function=_clicked) for item in range(items)]
    agent = Agent(arms, ThompsonSampling(), random_seed=seed)

    def choose() -> Sequence[int]:
        (shown,) = agent.pull(top_k=slots)
        return [int(item) for item in shown]

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        for item, reward in zip(shown, rewards, strict=True):
            agent.select_for_update(item).update(np.array([reward]))

    return choose, learn


def _clicked(probabilities: np.ndarray) -> np.ndarray:
    return probabilities[..., 1]


if __name__ == "__main__":
    main(start)
