"""Hold out a random part of the impressions, and the log-likelihood of one part under odds fitted to the other."""

from __future__ import annotations

import numpy as np

from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators.likelihoods.list_likelihood import log_likelihoods

#: the share of the impressions that is held out
PART = 0.2


def log_likelihood(seen: Rankings, odds: FloatArray) -> float:
    """How likely odds of slots and items make all that was seen.

    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> round(log_likelihood(seen, np.outer([1.0, 0.7], [0.43, 0.40])), 1)
    -164.0
    """
    clicked, silent = log_likelihoods(seen, odds)
    happened = seen.clicks > 0
    return float(seen.clicks[happened] @ clicked[happened] + seen.passes @ silent)


def split(rankings: Rankings, part: float, rng: np.random.Generator) -> tuple[Rankings, Rankings]:
    """Each impression goes to the first of the two with probability `part`."""
    clicks, passes = rng.binomial(rankings.clicks, part), rng.binomial(rankings.passes, part)
    first = _some(rankings, clicks, passes)
    return first, _some(rankings, rankings.clicks - clicks, rankings.passes - passes)


def _some(rankings: Rankings, clicks: np.ndarray, passes: np.ndarray) -> Rankings:
    used = (clicks.sum(axis=1) + passes) > 0
    return rankings.some(used, clicks, passes)
