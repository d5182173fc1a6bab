"""How often lists must be tried in the position-based model of unknown bias: the limit of Komiyama et al. (2017).

Items i have attraction θ_i and slots l bias κ_l, both in decreasing order here, so that the best list puts item l into
slot l. Whoever learns for certain shows other lists v at least x_v log t times, where x is the cheapest with

    Σ_v x_v Σ_l d(θ_v(l) κ_l, θ'_v(l) κ'_l) ≥ 1

for all (θ', κ') that the best list cannot tell from the truth, θ'_l κ'_l = θ_l κ_l, and under which another is best:
two neighbours on the page change places, or an item comes in. d is the divergence of Bernoulli variables. Each of these
is a convex problem in the logarithms of θ' and κ', as -log(1 - exp z) is convex and z = log θ' + log κ' is linear; it
is solved by Newton steps. The x are found by linear programming with cutting planes: to the lists that are cheapest so
far the parameters are found that they tell least from the truth, and the next lists must tell those too.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from slotwise.core.small_linalg import factorise, solve
from slotwise.core.types import FloatArray, IntArray
from slotwise.jit import inlined, jit, record

#: probabilities stay this far from 0 and 1
MARGIN = 1e-4
#: weight of a pair that no list shows, so that nothing is left undetermined
TRACE = 1e-6
#: how much less than 1 a constraint may be, and how many there may be
SLACK = 1e-2
MAX_ROUNDS_OF_CUTS = 10
MAX_CUTS = 200
NEWTON_STEPS = 25
#: lists by all ways to move items along, if there are no more
MAX_LISTS = 600


@record
class TrialLists:
    """The lists that may be tried, by ranks of items, and room to find how often."""

    #: lists × slots
    lists: IntArray
    #: per list: what it loses, and x
    cost: FloatArray
    shares: FloatArray
    #: θ and κ, and items × slots: θκ, log θ'κ', d, and how often lists show the pair
    attraction: FloatArray
    position_bias: FloatArray
    chance: FloatArray
    confused: FloatArray
    divergence: FloatArray
    weight: FloatArray
    #: log κ' of slots 1, 2, … and log θ' of the items that are not on the page; room for a step and its system
    unknowns: FloatArray
    step: FloatArray
    least: FloatArray
    hessian: FloatArray
    #: the simplex tableau, its last column the right-hand side; the costs; which column each row is solved for
    tableau: FloatArray
    reduced: FloatArray
    basis: IntArray
    cuts: int


def trial_lists(slots: int, items: int) -> TrialLists:
    """The lists that differ from the best by items that move along, one to the place of the next.

    The first comes from beside the page or from the place of the last. If these are more than `MAX_LISTS`, there are
    those that replace an item, put one in and let the others slide down, or exchange two.
    """
    lists = _moves(slots, items)
    most = min(MAX_CUTS, MAX_ROUNDS_OF_CUTS * max(1, items - 1))
    shape = (items, slots)
    return TrialLists(
        lists=lists,
        cost=np.zeros(len(lists)),
        shares=np.zeros(len(lists)),
        attraction=np.zeros(items),
        position_bias=np.zeros(slots),
        chance=np.zeros(shape),
        confused=np.zeros(shape),
        divergence=np.zeros(shape),
        weight=np.zeros(shape),
        unknowns=np.zeros(items - 1),
        step=np.zeros(items - 1),
        least=np.full(items - 1, 1e-14),
        hessian=np.zeros((items - 1, items - 1)),
        tableau=np.zeros((most, len(lists) + most + 1)),
        reduced=np.zeros(len(lists) + most),
        basis=np.zeros(most, np.int64),
        cuts=0,
    )


def _moves(slots: int, items: int) -> IntArray:
    """Lists by ranks: paths of items from beside the page along slots, and cycles of slots."""
    best = list(range(slots))
    count = sum(math.perm(slots, steps) for steps in range(1, slots + 1)) * (items - slots + 1)
    found = set[tuple[int, ...]]()
    longest = slots if count <= MAX_LISTS else 1
    for steps in range(1, longest + 1):
        for along in itertools.permutations(range(slots), steps):
            for coming in [*range(slots, items), along[-1]]:
                moved = best.copy()
                for slot, item in zip(along, [coming, *along[:-1]], strict=True):
                    moved[slot] = item
                found.add(tuple(moved))
    if longest == 1:
        for slot, coming in itertools.product(range(slots), range(slots, items)):
            found.add((*best[:slot], coming, *best[slot:-1]))
        for one, other in itertools.combinations(range(slots), 2):
            moved = best.copy()
            moved[one], moved[other] = other, one
            found.add(tuple(moved))
    found.discard(tuple(best))
    return np.array(sorted(found), np.int64).reshape(len(found), slots)


@jit
def find_shares(trial: TrialLists) -> float:
    """Fill `shares` for the `attraction` and `position_bias` that are there; Σ_v x_v cost_v is the loss per log t."""
    _begin(trial)
    items, slots = trial.chance.shape
    for _ in range(MAX_ROUNDS_OF_CUTS):
        told = True
        for alternative in range(items - 1):
            if trial.cuts < len(trial.basis) and _confuse(trial, alternative) < 1.0 - SLACK:
                told = False
                _cut(trial)
        if told or not _solve(trial):
            break
        for item in range(items):
            for slot in range(slots):
                trial.weight[item, slot] = TRACE
        for number in range(len(trial.shares)):
            for slot in range(slots):
                trial.weight[trial.lists[number, slot], slot] += trial.shares[number]
    total = 0.0
    for number in range(len(trial.shares)):
        total += trial.shares[number] * trial.cost[number]
    return total


@inlined
def _begin(trial: TrialLists) -> None:
    """Costs and chances; no list is tried, and no cut made."""
    attraction, position_bias = trial.attraction, trial.position_bias
    items, slots = trial.chance.shape
    for item in range(items):
        for slot in range(slots):
            trial.chance[item, slot] = min(1.0 - MARGIN, max(MARGIN, attraction[item] * position_bias[slot]))
            # so small that every first cut is far from told, and the same for all
            trial.weight[item, slot] = TRACE
    for number in range(len(trial.cost)):
        loss = 0.0
        for slot in range(slots):
            loss += (attraction[slot] - attraction[trial.lists[number, slot]]) * position_bias[slot]
        trial.cost[number] = max(loss, 1e-12)
        trial.shares[number] = 0.0
        trial.reduced[number] = trial.cost[number]
    for column in range(len(trial.cost), len(trial.reduced)):
        trial.reduced[column] = 0.0
    trial.cuts = 0


@inlined
def _tied(alternative: int, slots: int) -> tuple[int, float]:
    """Under an alternative one unknown is another plus a constant: which (-1 for none), and with which sign.

    Alternative a, slots a and a + 1 changing places or item a + 1 coming in, ties the unknown with its own number.
    """
    if alternative < slots - 1:
        return alternative - 1, 1.0
    return slots - 2, -1.0


@jit
def _confuse(trial: TrialLists, alternative: int) -> float:
    """The θ', κ' of an alternative that the lists tell least: Σ weight·d, with d of every pair in `divergence`."""
    unknowns, step = trial.unknowns, trial.step
    slots = len(trial.position_bias)
    for slot in range(1, slots):
        unknowns[slot - 1] = math.log(trial.chance[slot, slot] / trial.chance[slot, 0])
    for item in range(slots, len(trial.attraction)):
        unknowns[item - 1] = math.log(trial.chance[item, 0])
    now = _measure(trial, alternative)
    for _ in range(NEWTON_STEPS):
        _newton_step(trial, alternative)
        before, size, moved = now, 1.0, 0.0
        for k in range(len(unknowns)):
            moved = max(moved, abs(step[k]))
            unknowns[k] += step[k]
        now = _measure(trial, alternative)
        while now > before and size > 1e-4:
            for k in range(len(unknowns)):
                unknowns[k] -= 0.5 * size * step[k]
            size *= 0.5
            now = _measure(trial, alternative)
        if moved * size < 1e-6 or now > before:
            break
    return now


@inlined
def _measure(trial: TrialLists, alternative: int) -> float:
    """Σ weight·d at the unknowns as they are; infinite where a probability would be above 1."""
    items, slots = trial.chance.shape
    unknowns = trial.unknowns
    to, sign = _tied(alternative, slots)
    value = unknowns[to] if to >= 0 else 0.0
    if alternative < slots - 1:
        same = trial.chance[alternative + 1, alternative + 1] / trial.chance[alternative, alternative]
        unknowns[alternative] = sign * value + math.log(same)
    else:
        unknowns[alternative] = sign * value + math.log(trial.chance[slots - 1, slots - 1])
    total = 0.0
    for item in range(items):
        if item >= slots:
            own = unknowns[item - 1]
        else:
            own = math.log(trial.chance[item, item]) - (unknowns[item - 1] if item > 0 else 0.0)
        for slot in range(slots):
            if slot == item:
                trial.divergence[item, slot] = 0.0
                continue
            z = own + (unknowns[slot - 1] if slot > 0 else 0.0)
            if z > -MARGIN / 2.0:
                return math.inf
            p = trial.chance[item, slot]
            d = p * (math.log(p) - z) + (1.0 - p) * (math.log(1.0 - p) - math.log(-math.expm1(z)))
            trial.confused[item, slot] = z
            trial.divergence[item, slot] = d
            total += trial.weight[item, slot] * d
    return total


@inlined
def _newton_step(trial: TrialLists, alternative: int) -> None:
    """-H⁻¹g of Σ weight·d in the unknowns that are not tied, and what the tied one does with them."""
    items, slots = trial.chance.shape
    step, hessian = trial.step, trial.hessian
    count = len(step)
    for row in range(count):
        step[row] = 0.0
        for column in range(row + 1):
            hessian[row, column] = 0.0
    to, sign = _tied(alternative, slots)
    for item in range(items):
        first, first_sign = item - 1, 1.0 if item >= slots else -1.0
        if first == alternative:
            first, first_sign = to, first_sign * sign
        for slot in range(slots):
            if slot == item:
                continue
            second, second_sign = slot - 1, 1.0
            if second == alternative:
                second, second_sign = to, sign
            p, odds = trial.chance[item, slot], -1.0 - 1.0 / math.expm1(trial.confused[item, slot])
            weight = trial.weight[item, slot]
            slope, bend = weight * ((1.0 - p) * odds - p), weight * (1.0 - p) * odds * (1.0 + odds)
            if first >= 0:
                step[first] -= first_sign * slope
                hessian[first, first] += bend
            if second >= 0:
                step[second] -= second_sign * slope
                hessian[second, second] += bend
            if first >= 0 and second >= 0:
                if first == second:
                    hessian[first, first] += 2.0 * first_sign * second_sign * bend
                else:
                    hessian[max(first, second), min(first, second)] += first_sign * second_sign * bend
    hessian[alternative, alternative] = 1.0
    step[alternative] = 0.0
    factorise(hessian, trial.least, 0)
    solve(hessian, step, 0)
    step[alternative] = sign * step[to] if to >= 0 else 0.0


@jit
def _cut(trial: TrialLists) -> None:
    """Ask of the lists that they tell the parameters found last: a row more, -Σ_v x_v d_v + slack = -1."""
    tableau, basis, cut = trial.tableau, trial.basis, trial.cuts
    row, lists = tableau[cut], len(trial.lists)
    last, told = len(row) - 1, 0.0
    for column in range(len(row)):
        row[column] = 0.0
    for number in range(lists):
        for slot in range(trial.lists.shape[1]):
            row[number] -= trial.divergence[trial.lists[number, slot], slot]
        told = min(told, row[number])
    if told > -1e-10:
        # no list tells them from the truth: nothing can be asked
        return
    row[lists + cut] = 1.0
    row[last] = -1.0
    basis[cut] = lists + cut
    for other in range(cut):
        factor = row[basis[other]]
        if factor != 0.0:
            _subtract(row, tableau[other], factor)
    trial.cuts = cut + 1


@jit
def _solve(trial: TrialLists) -> bool:
    """The cheapest shares for the cuts so far, by the dual simplex method; False if it came to no end."""
    tableau, basis, reduced = trial.tableau, trial.basis, trial.reduced
    last, lists = tableau.shape[1] - 1, len(trial.lists)
    ended = False
    for _ in range(20 * len(basis)):
        row, least = -1, -1e-9
        for cut in range(trial.cuts):
            if tableau[cut, last] < least:
                row, least = cut, tableau[cut, last]
        if row < 0:
            ended = True
            break
        column, ratio = -1, math.inf
        for candidate in range(last):
            if tableau[row, candidate] < -1e-9 and -reduced[candidate] / tableau[row, candidate] < ratio:
                column, ratio = candidate, -reduced[candidate] / tableau[row, candidate]
        if column < 0:
            break
        scale = 1.0 / tableau[row, column]
        for entry in range(last + 1):
            tableau[row, entry] *= scale
        for cut in range(trial.cuts):
            if cut != row and tableau[cut, column] != 0.0:
                _subtract(tableau[cut], tableau[row], tableau[cut, column])
        _subtract(reduced, tableau[row, :last], reduced[column])
        basis[row] = column
    for number in range(lists):
        trial.shares[number] = 0.0
    for cut in range(trial.cuts):
        if basis[cut] < lists:
            trial.shares[basis[cut]] = max(0.0, tableau[cut, last])
    return ended


@inlined
def _subtract(row: FloatArray, other: FloatArray, factor: float) -> None:
    for entry in range(len(row)):
        row[entry] -= factor * other[entry]
