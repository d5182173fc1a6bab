"""The study of the strength of place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from research.place_strength import _every, log_likelihood, predict
from slotwise.judgements import judge_counts
from tests.judgements.simulated_search import search_log


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_clicks_drawn_at_a_strength_are_likeliest_there(strength: float) -> None:
    counts, _, _ = search_log(np.random.default_rng(1), queries=60, pages=200, noise=0.8)
    place = judge_counts(counts).place
    mean = np.array([0.3, 0.2, 0.1, 0.05, 0.02])[:, None] * counts.shown * place**strength
    drawn = replace(counts, clicks=np.random.default_rng(2).poisson(mean).astype(float))
    found = {each: log_likelihood(predict(drawn, place, each, 100.0, 4.0), _every(drawn)) for each in (0.0, 0.5, 1.0)}
    assert max(found, key=lambda each: found[each]) == strength
