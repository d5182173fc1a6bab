from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.core.feature_encoder import Encoder, encode

ROWS = [[10, "red", 5.0], [20, "blue", 5.0], [60, "red", 5.0]]


def test_numbers_have_mean_0_and_deviation_1_and_categories_a_column_each() -> None:
    encoded = encode(ROWS)
    assert encoded.shape == (3, 4)
    assert encoded[:, 0].mean() == pytest.approx(0.0)
    assert encoded[:, 0].std() == pytest.approx(1.0)
    assert encoded[:, 1:3].tolist() == [[0, 1], [1, 0], [0, 1]]
    assert encoded[:, 3].tolist() == [0, 0, 0]


def test_later_rows_are_encoded_as_the_first_were() -> None:
    encoder = Encoder.of(ROWS)
    later = encoder.encode([[30, "green", 7.0], [20, "blue", 5.0]])
    assert later[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert np.array_equal(later[1], encode(ROWS)[1])
    with pytest.raises(InvalidInput, match=r"features\[0\] must have 3 entries, got 2"):
        encoder.encode([[1, "red"]])
    with pytest.raises(InvalidInput, match=r"features\[0\]\[1\] must be text"):
        encoder.encode([[1, 2, 3]])


def test_an_array_will_do() -> None:
    assert encode(np.array([[1.0, 0.0], [3.0, 0.0]])).tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_a_number_that_no_float_can_hold() -> None:
    with pytest.raises(InvalidInput, match=r"features\[0\]\[0\] must be at most 1e\+100 in size"):
        encode([[10**400]])
