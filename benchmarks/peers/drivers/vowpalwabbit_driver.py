"""Vowpal Wabbit: a conditional contextual bandit with a slot for each place of the list."""

from __future__ import annotations

from collections.abc import Sequence

from ranking_loop import Choose, Learn, main
from vowpalwabbit import Workspace


def start(items: int, slots: int, seed: int) -> tuple[Choose, Learn]:
    options = "--ccb_explore_adf --epsilon 0.05 --interactions AS --noconstant --quiet"
    workspace = Workspace(f"{options} --random_seed {seed}")
    actions = ["ccb shared |U u"] + [f"ccb action |A item{item}" for item in range(items)]
    places = [f"|S slot{slot}" for slot in range(slots)]
    chosen: list[tuple[int, float]] = []

    def choose() -> Sequence[int]:
        # it samples an item for each slot and puts it first
        chosen[:] = [slot[0] for slot in workspace.predict([*actions, *(f"ccb slot {place}" for place in places)])]
        return [item for item, _ in chosen]

    def learn(_: Sequence[int], rewards: Sequence[int]) -> None:
        labelled = [
            f"ccb slot {item}:{-reward}:{share} {place}"
            for (item, share), reward, place in zip(chosen, rewards, places, strict=True)
        ]
        workspace.learn([*actions, *labelled])

    return choose, learn


if __name__ == "__main__":
    main(start)
