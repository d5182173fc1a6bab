"""Impressions with random lists, clicked by a fitted click model."""

from __future__ import annotations

import itertools

import numpy as np

from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_likelihoods import FittedModel


def drawn_sets(model: FittedModel, impressions: int, rng: np.random.Generator, items: int = 4) -> ClickSets:
    """Uniformly random lists of three items, each with clicks from the model's own law."""
    lists = np.array(list(itertools.permutations(range(items), 3)))
    sets = np.array(list(itertools.product([False, True], repeat=3)))
    times = rng.multinomial(impressions, np.full(len(lists), 1.0 / len(lists)))
    shown, clicks = np.repeat(lists, len(sets), axis=0), np.tile(sets, (len(lists), 1))
    law = np.exp(model.log_likelihood(shown, clicks)).reshape(len(lists), len(sets))
    counts = np.array([rng.multinomial(count, row / row.sum()) for count, row in zip(times, law, strict=True)])
    first = np.where(clicks.any(axis=1), clicks.argmax(axis=1), -1)
    ids = tuple(f"item {item}" for item in range(items))
    return ClickSets(None, ids, shown, clicks, first, np.ones(len(shown), np.int64)).some(counts.ravel())
