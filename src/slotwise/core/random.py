"""Randomness is an argument: streams made from one seed, and the one draw that numpy leaves to us."""

from __future__ import annotations

import numpy as np

from slotwise.jit import inlined


def stream(seed: int, index: int) -> np.random.SeedSequence:
    """The seed of replication `index`: independent of the others, and dependent on nothing else."""
    return np.random.SeedSequence(seed, spawn_key=(index,))


@inlined
def below(n: int, rng: np.random.Generator) -> int:
    """A uniform integer in 0 … n-1, from one uniform double, so that compiled and plain code draw the same."""
    return int(rng.random() * n)


@inlined
def shuffle(values: np.ndarray, start: int, stop: int, rng: np.random.Generator) -> None:
    """Put `values[start:stop]` into uniformly random order, in place."""
    for i in range(stop - 1, start, -1):
        j = start + below(i - start + 1, rng)
        values[i], values[j] = values[j], values[i]
