from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from slotwise import Tally
from slotwise.belief.best_list import best_list_chances
from tests.chance import assert_frequencies

TALLY = Tally(np.array([[9, 6, 2, 0], [3, 4, 1, 0]]), np.array([[20, 20, 20, 0], [20, 20, 20, 0]]))


def test_one_slot_two_items_is_a_beta_probability() -> None:
    """With the bias known and equal exposure, α_0/(α_0 + α_1) is Beta(s + N_0, s + N_1)."""
    tally, draws = Tally(np.array([[12, 8]]), np.array([[40, 40]])), 20_000
    found = best_list_chances(
        tally, shape=0.5, rate=1.0, position_bias=np.array([0.7]), draws=draws, rng=np.random.default_rng(1)
    )
    chance = stats.beta.sf(0.5, 12.5, 8.5)
    assert_frequencies([chance, 1 - chance], found * draws)


@pytest.mark.parametrize("bias", [None, np.array([1.0, 0.5])], ids=["learned", "known"])
def test_chances_add_up_to_the_slots_and_leave_out_what_is_excluded(bias: np.ndarray | None) -> None:
    rng = np.random.default_rng(2)
    chances = best_list_chances(TALLY, shape=0.5, rate=1.0, position_bias=bias, rng=rng)
    assert chances.sum() == pytest.approx(2.0)
    assert chances[0] > chances[2]
    without = best_list_chances(TALLY, shape=0.5, rate=1.0, position_bias=bias, excluded=np.array([0, 1]), rng=rng)
    assert without.tolist() == [0.0, 0.0, 1.0, 1.0]
    single = best_list_chances(TALLY, shape=0.5, rate=1.0, position_bias=bias, excluded=np.array([0, 1, 3]), rng=rng)
    assert single.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_values_decide() -> None:
    values = np.array([1.0, 1.0, 100.0, 1.0])
    chances = best_list_chances(TALLY, shape=0.5, rate=1.0, values=values, rng=np.random.default_rng(3))
    assert chances[2] == 1.0


def test_what_was_never_seen_is_alike() -> None:
    tally, draws = Tally.empty(1, 5), 10_000
    chances = best_list_chances(tally, shape=0.5, rate=1.0, draws=draws, rng=np.random.default_rng(4))
    assert_frequencies(np.full(5, 0.2), chances * draws)
