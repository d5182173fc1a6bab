from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.small_linalg import factorise, inverse_root, solve
from slotwise.core.types import FloatArray


@pytest.fixture
def matrix() -> FloatArray:
    root = np.random.default_rng(1).normal(size=(5, 7))
    return np.asarray(root @ root.T)


@pytest.mark.parametrize("first", [0, 1, 3])
def test_a_solution_solves(matrix: FloatArray, first: int) -> None:
    lower, vector = matrix.copy(), np.arange(1.0, 6.0)
    assert factorise(lower, np.zeros(5), first)
    solve(lower, vector, first)
    assert matrix[first:, first:] @ vector[first:] == pytest.approx(np.arange(1.0 + first, 6.0))
    assert vector[:first].tolist() == list(range(1, first + 1))


def test_an_unknown_that_nothing_determines_is_held_at_zero(matrix: FloatArray) -> None:
    # the third equation is the sum of the first two
    sums = np.eye(5)
    sums[2] = [1, 1, 0, 0, 0]
    singular = sums @ matrix @ sums.T
    lower, vector = singular.copy(), np.ones(5)
    assert not factorise(lower, 1e-9 * np.diag(singular), 0)
    solve(lower, vector, 0)
    assert vector[2] == 0.0
    rest = [0, 1, 3, 4]
    assert singular[np.ix_(rest, rest)] @ vector[rest] == pytest.approx(np.ones(4))


def test_a_root_of_the_inverse(matrix: FloatArray) -> None:
    lower, root = matrix.copy(), np.zeros((5, 5))
    factorise(lower, np.zeros(5), 0)
    inverse_root(lower, 3.0, root)
    assert root @ root.T == pytest.approx(9.0 * np.linalg.inv(matrix))
    assert np.array_equal(root, np.triu(root))
