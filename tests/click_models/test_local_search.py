from __future__ import annotations

import numpy as np
import pytest

from slotwise.click_models import UserBrowsing, best_ranking, best_ranking_by_brute_force, local_search, mixture, reward
from slotwise.click_models.position_based import PositionBased
from slotwise.jit import interpreted


def test_local_search_finds_the_list_of_an_exhaustive_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """On ten of ten problems drawn: users who look at a slot as chance has it, and two crowds who disagree."""
    monkeypatch.setattr(local_search, "MAX_TRIED", 0)
    rng = np.random.default_rng(3)
    with interpreted():
        for _ in range(5):
            browsing = UserBrowsing(examination=[rng.random(slot + 1) for slot in range(3)], attraction=rng.random(5))
            crowds = [PositionBased(position_bias=rng.random(3), attraction=rng.random(5)) for _ in range(2)]
            for users in (browsing, mixture(shares=[0.5, 0.5], users=crowds)):
                found, best = best_ranking(users), best_ranking_by_brute_force(users)
                assert reward(users, found) == pytest.approx(reward(users, best), abs=1e-12)
