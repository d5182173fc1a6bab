"""The loop that every simulation peer runs: choose a list, draw a click, learn. It needs only numpy.

A driver has a function `start`; its peer ranks items, and learns 1 for the clicked item and 0 for the others shown.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

Choose = Callable[[], Sequence[int]]
Learn = Callable[[Sequence[int], Sequence[int]], None]
#: given items, slots and a seed
Start = Callable[[int, int, int], tuple[Choose, Learn]]


def run(start: Start, position_bias: Sequence[float], attractiveness: Sequence[float], rounds: int, seed: int) -> float:
    """The regret of a peer: the expected clicks that its lists lose against the best list."""
    bias, attraction = np.asarray(position_bias), np.asarray(attractiveness)
    rng = np.random.default_rng(seed)
    total = float(np.sort(bias)[::-1] @ np.sort(attraction)[::-1][: len(bias)])
    best, regret = total / (1.0 + total), 0.0
    by_bias = np.argsort(-bias)
    choose, learn = start(len(attraction), len(bias), seed)
    for _ in range(rounds):
        shown = list(choose())
        assert len({*shown}) == len(bias), f"a list must hold {len(bias)} distinct items, got {shown}"
        # the best-ranked item goes into the most visible slot
        weights = bias[by_bias] * attraction[shown]
        odds = float(weights.sum())
        regret += best - odds / (1.0 + odds)
        place = int(np.searchsorted(np.cumsum(weights), rng.random() * (1.0 + odds), side="right"))
        learn(shown, [int(number == place) for number in range(len(shown))])
    return regret


def main(start: Start) -> None:
    """Read the task from standard input, and print regrets and seconds as JSON."""
    task = json.loads(sys.stdin.read())
    regrets, seconds = [], []
    for seed in range(task["replications"]):
        began = time.process_time()
        regrets.append(run(start, task["position_bias"], task["attractiveness"], task["rounds"], seed))
        seconds.append(time.process_time() - began)
    print(json.dumps({"regret": regrets, "seconds": seconds}))
