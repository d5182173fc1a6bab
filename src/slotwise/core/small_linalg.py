"""Small symmetric positive definite systems, solved in place: one equation per slot."""

from __future__ import annotations

import math

from slotwise.core.types import FloatArray
from slotwise.jit import jit


@jit
def factorise(matrix: FloatArray, least: FloatArray, first: int) -> bool:
    """Replace the lower triangle by the Cholesky factor L, LLᵀ = matrix; return whether the matrix is regular.

    Only rows and columns from `first` on are used. If elimination leaves no more than `least` of a diagonal entry, the
    entry of L is infinite, and `solve` holds that unknown at 0.
    """
    regular = True
    for row in range(first, len(matrix)):
        for column in range(first, row + 1):
            value = matrix[row, column]
            for before in range(first, column):
                value -= matrix[row, before] * matrix[column, before]
            if row == column:
                free = value <= least[row]
                regular = regular and not free
                matrix[row, row] = math.inf if free else math.sqrt(value)
            else:
                matrix[row, column] = value / matrix[column, column]
    return regular


@jit
def solve(lower: FloatArray, vector: FloatArray, first: int) -> None:
    """Replace `vector` by (LLᵀ)⁻¹ times it, from `first` on."""
    for row in range(first, len(vector)):
        for before in range(first, row):
            vector[row] -= lower[row, before] * vector[before]
        vector[row] /= lower[row, row]
    for row in range(len(vector) - 1, first - 1, -1):
        for after in range(row + 1, len(vector)):
            vector[row] -= lower[after, row] * vector[after]
        vector[row] /= lower[row, row]


@jit
def inverse_root(lower: FloatArray, scale: float, root: FloatArray) -> None:
    """Make `root` the upper triangular R = scale·L⁻ᵀ, for which RRᵀ = scale²·(LLᵀ)⁻¹."""
    for column in range(len(lower)):
        root[column, column] = scale / lower[column, column]
        for row in range(column - 1, -1, -1):
            total = 0.0
            for between in range(row + 1, column + 1):
                total += lower[between, row] * root[between, column]
            root[row, column] = -total / lower[row, row]
