"""The implicit derivatives of Algorithm 1's estimate with respect to every count, in O(JK² + K³).

With a weight W_kj = N/γ and a factor g_kj = 1/γ per pair,

    d_j = Σ_k W_kj,  U_jk = W_kj/d_j,  H = diag(Σ_j W_kj) - Σ_j W_·jW_·jᵀ/d_j,  all over the slots after the first,
    ∂log λ/∂N_kj = -g_kj H⁻¹(U_j - e_k),      ∂log α_i/∂N_kj = g_kj [1{i=j}/d_j + U_i·H⁻¹(U_j - e_k)].
"""

from __future__ import annotations

import numpy as np

from slotwise.core.small_linalg import factorise, solve
from slotwise.core.types import FloatArray
from slotwise.jit import jit, record

#: where elimination leaves no more than this part of a diagonal entry of H, the data leave a direction all but free;
#: Algorithm 1, whose sweeps shrink the error along it by about this part, would not settle it within its limit
SINGULAR = 1e-3


@record
class Derivatives:
    """The implicit derivatives at one estimate, and the room to compute them in."""

    #: W, slots × items
    weight: FloatArray
    #: g, slots × items
    factor: FloatArray
    #: α_i g_ki, which stays finite where α_i is 0
    lift: FloatArray
    #: d, per item
    total: FloatArray
    #: U, items × slots, 0 in the first slot
    share: FloatArray
    #: the Cholesky factor of H, slots × slots
    cholesky: FloatArray
    #: whether H has an inverse
    regular: bool
    #: what `apply_inverse` turns into H⁻¹ of it, per slot
    vector: FloatArray


def derivatives(slots: int, items: int) -> Derivatives:
    """Empty room for a problem of this size."""
    return Derivatives(
        weight=np.zeros((slots, items)),
        factor=np.zeros((slots, items)),
        lift=np.zeros((slots, items)),
        total=np.zeros(items),
        share=np.zeros((items, slots)),
        cholesky=np.diag(np.full(slots, np.inf)),
        regular=False,
        vector=np.zeros(slots),
    )


@jit
def at_algorithm_1(
    at: Derivatives,
    clicks: FloatArray,
    item_passes: FloatArray,
    position_bias: FloatArray,
    attractiveness: FloatArray,
) -> None:
    """Set W = N/γ and g = 1/γ.

    An item without clicks has γ = 0. Its first click, on slot k, would put γ_ki at 1/Ñ_·i: g is taken there, and W,
    whose sum over slots is Ñ_·i at the fixed point, is divided over no slot yet.
    """
    slots, items = clicks.shape
    for item in range(items):
        at.total[item] = 0.0
        for slot in range(slots):
            at.lift[slot, item] = 1.0 / position_bias[slot]
            at.factor[slot, item] = at.lift[slot, item] / attractiveness[item]
            at.weight[slot, item] = clicks[slot, item] * at.factor[slot, item]
            at.total[item] += at.weight[slot, item]
        if at.total[item] == 0.0:
            at.total[item] = item_passes[item]
            for slot in range(slots):
                at.factor[slot, item] = item_passes[item]
    _differentiate(at)


@jit
def _differentiate(at: Derivatives) -> None:
    """U and the Cholesky factor of H, from W and d."""
    slots, items = at.weight.shape
    weight, total, share, matrix, before_elimination = at.weight, at.total, at.share, at.cholesky, at.vector
    matrix[:, :] = 0.0
    before_elimination[:] = 0.0
    for item in range(items):
        if total[item] > 0.0:
            for slot in range(1, slots):
                share[item, slot] = weight[slot, item] / total[item]
                before_elimination[slot] += weight[slot, item]
            for row in range(1, slots):
                for column in range(1, row + 1):
                    matrix[row, column] -= share[item, row] * weight[column, item]
        else:
            share[item, :] = 0.0
    for slot in range(1, slots):
        matrix[slot, slot] += before_elimination[slot]
        before_elimination[slot] *= SINGULAR
    at.regular = factorise(matrix, before_elimination, 1)


@jit
def apply_inverse(at: Derivatives) -> None:
    """Replace `vector` by H⁻¹ times it; a direction that the data leave free is held still."""
    solve(at.cholesky, at.vector, 1)
