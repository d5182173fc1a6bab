"""MABWiser: Thompson sampling on items, the K largest draws are shown."""

from __future__ import annotations

from collections.abc import Sequence

from mabwiser.mab import MAB, LearningPolicy
from ranking_loop import Choose, Learn, main


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    bandit = MAB(list(range(items)), LearningPolicy.ThompsonSampling(), seed=seed)
    bandit.fit(list(range(items)), [0] * items)

    def choose() -> Sequence[int]:
        drawn = bandit.predict_expectations()
        return sorted(drawn, key=lambda item: -drawn[item])[:slots]

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        bandit.partial_fit(list(shown), list(rewards))

    return choose, learn


if __name__ == "__main__":
    main(start)
