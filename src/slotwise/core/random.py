"""Random streams from one seed, and draws that are the same compiled and in plain Python."""

from __future__ import annotations

import numpy as np

from slotwise.jit import inlined


def stream(seed: int, index: int) -> np.random.SeedSequence:
    """Return the seed of replication `index`, independent of the other replications."""
    return np.random.SeedSequence(seed, spawn_key=(index,))


@inlined
def below(n: int, rng: np.random.Generator) -> int:
    """Return a uniform integer in 0 … n-1, from one uniform double, so that compiled and plain code draw the same."""
    return int(rng.random() * n)


@inlined
def shuffle(values: np.ndarray, start: int, stop: int, rng: np.random.Generator) -> None:
    """Put `values[start:stop]` into uniformly random order, in place."""
    for i in range(stop - 1, start, -1):
        j = start + below(i - start + 1, rng)
        values[i], values[j] = values[j], values[i]
