"""River: Thompson sampling with Beta rewards; a list is K pulls among the items that are left."""

from __future__ import annotations

from collections.abc import Sequence

from ranking_loop import Choose, Learn, main
from river import bandit, proba


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed)

    def choose() -> Sequence[int]:
        left, shown = list(range(items)), []
        for _ in range(slots):
            shown.append(policy.pull(left))
            left.remove(shown[-1])
        return shown

    def learn(shown: Sequence[int], rewards: Sequence[int]) -> None:
        for item, reward in zip(shown, rewards, strict=True):
            policy.update(item, bool(reward))

    return choose, learn


if __name__ == "__main__":
    main(start)
