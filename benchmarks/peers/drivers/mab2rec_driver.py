"""Mab2Rec: its recommender with Thompson sampling recommends the top K."""

from __future__ import annotations

from collections.abc import Sequence

from mab2rec import BanditRecommender, LearningPolicy
from ranking_loop import Choose, Learn, main


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    recommender = BanditRecommender(LearningPolicy.ThompsonSampling(), top_k=slots, seed=seed)
    recommender.fit(list(range(items)), [0] * items)

    def choose() -> Sequence[int]:
        return [int(item) for item in recommender.recommend()]

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        recommender.partial_fit(list(shown), list(rewards))

    return choose, learn


if __name__ == "__main__":
    main(start)
