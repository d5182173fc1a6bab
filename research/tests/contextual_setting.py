"""Visitors with features: where these matter a policy that ignores them learns nothing, and where they stay it can."""

from __future__ import annotations

from research.contextual import ContextualMNL
from slotwise import simulate
from slotwise.core.types import FloatArray

WEIGHTS = (3.0, -2.0, 1.0)


def final_regret(id: str, *, fixed: int, rounds: int = 300, replications: int = 6) -> FloatArray:
    """Of so many runs; all policies have the same visitors."""
    users = ContextualMNL(position_bias=[1.0, 0.6], weights=WEIGHTS, items=6, fixed=fixed)
    run = simulate(users, id, rounds=rounds, replications=replications, seed=1, jobs=1, progress=False)
    return run[id].final_regret
