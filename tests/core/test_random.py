from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from slotwise.core.random import below, shuffle, stream
from tests.statistical_assertions import assert_frequencies


def test_below_is_uniform() -> None:
    rng = np.random.default_rng(1)
    assert_frequencies(np.full(7, 1 / 7), np.bincount([below(7, rng) for _ in range(7_000)], minlength=7))


def test_shuffle_is_uniform_and_stays_within_its_bounds() -> None:
    rng = np.random.default_rng(2)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(6_000):
        values = np.arange(5)
        shuffle(values, 1, 4, rng)
        assert values[[0, 4]].tolist() == [0, 4]
        seen[tuple(values[1:4].tolist())] += 1
    assert_frequencies(np.full(6, 1 / 6), [seen[order] for order in itertools.permutations([1, 2, 3])])


def test_a_stream_depends_on_the_seed_and_its_number_only() -> None:
    """And is the one that numpy itself would spawn."""
    spawned = np.random.SeedSequence(3).spawn(5)
    assert [one.generate_state(4).tolist() for one in spawned] == [
        stream(3, index).generate_state(4).tolist() for index in range(5)
    ]
    words = {tuple(stream(seed, index).generate_state(4).tolist()) for seed in range(3) for index in range(3)}
    assert len(words) == 9
