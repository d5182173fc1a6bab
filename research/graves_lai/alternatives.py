"""Problems that the best list cannot distinguish from the truth: half-spaces of log-ratios, and the nearest in each.

z is the distance of another problem: log λ'/λ of a slot and log α'/α of an item are linear in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from slotwise.click_models import MNL
from slotwise.core.types import FloatArray, IntArray, Ranking

#: numbers this close, relatively, are meant to be equal
SAME = 1e-9
#: Newton's method stops where a step gains less than this
MIN_GAIN = 1e-12
MAX_STEPS = 100
#: of the mean curvature: for what no list says anything of
RIDGE = 1e-10


@dataclass(frozen=True)
class Page:
    """A problem with slots and items best first, identical items put together as kinds. Lists are lists of kinds."""

    slots: IntArray
    bias: FloatArray
    items: IntArray
    #: α per kind, how many items are of it, and the place of the first of them
    kinds: FloatArray
    count: IntArray
    first: IntArray

    @classmethod
    def of(cls, users: MNL) -> Page:
        slots = np.argsort(-users.position_bias, kind="stable")
        items = np.argsort(-users.attractiveness, kind="stable")
        attractiveness = _levelled(users.attractiveness[items])
        kinds, first, count = np.unique(-attractiveness, return_index=True, return_counts=True)
        return cls(slots, _levelled(users.position_bias[slots]), items, -kinds, count, first)

    @cached_property
    def kind_of(self) -> IntArray:
        """The kind of each item."""
        return np.repeat(np.arange(len(self.kinds)), self.count)

    @cached_property
    def best(self) -> IntArray:
        """A best list."""
        return self.kind_of[: len(self.bias)]

    @property
    def in_list(self) -> int:
        """How many kinds are in best lists: the first so many."""
        return int(self.best[-1]) + 1

    def weight(self, lists: IntArray) -> FloatArray:
        """1 + S of each list."""
        return 1.0 + (self.bias * self.kinds[lists]).sum(axis=1)  # type: ignore[no-any-return]

    def gap(self, lists: IntArray) -> FloatArray:
        """Δ of each list: S*/(1+S*) - S/(1+S)."""
        loss = (self.bias * (self.kinds[self.best] - self.kinds[lists])).sum(axis=1)
        return loss / (self.weight(lists) * self.weight(self.best[None]))  # type: ignore[no-any-return]

    def ranking(self, kinds: IntArray) -> Ranking:
        """A list of kinds as one of items, by the numbers that slots and items have."""
        ranking = np.empty(len(self.slots), np.int64)
        used = self.first.copy()
        for slot, kind in zip(self.slots, kinds, strict=True):
            ranking[slot] = self.items[used[kind]]
            used[kind] += 1
        return ranking


@dataclass(frozen=True)
class HalfSpace:
    """The z with normal · z ≥ offset: confusing problems, and those at the edge of being so."""

    normal: FloatArray
    offset: float
    #: the kind of which one item comes into the list, or -1; which one of them makes no difference
    entering: int


@dataclass(frozen=True)
class Confusing:
    """Half-spaces of z, with log γ'/γ = slot_rows[k] · z + kind_rows[j] · z.

    The last of kind_rows, and the last entry of z, belong to the one item that comes into the list.
    """

    slot_rows: FloatArray
    kind_rows: FloatArray
    half_spaces: tuple[HalfSpace, ...]


def confusing_problems(page: Page, *, known_bias: bool = False) -> Confusing:
    """Two groups of slots change order, or two of items, or an item comes into the list."""
    bias, alpha = page.bias, page.kinds[page.best]
    # where either is tied, one best list or another puts both items into both slots: they are off by the same
    falls = (np.diff(bias) < 0) & (np.diff(alpha) < 0)
    starts = [] if known_bias else (np.flatnonzero(falls) + 1).tolist()
    group = np.searchsorted(starts, np.arange(len(bias)), side="right")
    size = len(starts) + len(page.kinds) - page.in_list + 1
    unit = np.eye(size)
    # the first group stays as it is: only ratios of λ mean anything
    group_rows = np.vstack([np.zeros(size), unit[: len(starts)]])
    # λα of the best lists stays: their items are off by the opposite of their slots
    kind_rows = np.vstack([-group_rows[group[page.first[: page.in_list]]], unit[len(starts) :]])
    half_spaces = []
    for before, start in enumerate(starts):
        rise = group_rows[before + 1] - group_rows[before]
        half_spaces.append(HalfSpace(rise, math.log(bias[start - 1] / bias[start]), -1))
        half_spaces.append(HalfSpace(-rise, math.log(alpha[start - 1] / alpha[start]), -1))
    half_spaces += [
        HalfSpace(group_rows[-1] + unit[-1], math.log(alpha[-1] / page.kinds[kind]), kind)
        for kind in range(page.in_list, len(page.kinds))
    ]
    return Confusing(group_rows[group], kind_rows, tuple(half_spaces))


@dataclass(frozen=True)
class Confused:
    """One confusing problem: log γ'/γ per slot and kind, and last for the item of the kind `entering` that enters."""

    log_ratio: FloatArray
    entering: int

    @classmethod
    def at(cls, z: FloatArray, space: HalfSpace, problems: Confusing) -> Confused:
        return cls((problems.slot_rows @ z)[:, None] + problems.kind_rows @ z, space.entering)


def divergences(page: Page, other: Confused, lists: IntArray) -> FloatArray:
    """KL_a = log((1+S')/(1+S)) - Σ_k γ_k log(γ'_k/γ_k)/(1+S) of each list, on average over which item enters."""
    slots = np.arange(len(page.bias))
    gamma = page.bias[:, None] * np.append(page.kinds, page.kinds[other.entering])
    gamma_there, pull = gamma * np.exp(other.log_ratio), gamma * other.log_ratio
    weight = 1.0 + gamma[slots, lists].sum(axis=1)
    weight_there = 1.0 + gamma_there[slots, lists].sum(axis=1)
    pulls = pull[slots, lists].sum(axis=1)
    plain = np.log(weight_there / weight) - pulls / weight
    if other.entering < 0:
        return plain  # type: ignore[no-any-return]
    shown = lists == other.entering
    total = plain * (page.count[other.entering] - shown.sum(axis=1))
    for k in slots:
        at = np.flatnonzero(shown[:, k])
        there = weight_there[at] + gamma_there[k, -1] - gamma_there[k, other.entering]
        total[at] += np.log(there / weight[at])
        total[at] -= (pulls[at] + pull[k, -1] - pull[k, other.entering]) / weight[at]
    return total / page.count[other.entering]  # type: ignore[no-any-return]


def nearest(
    page: Page, problems: Confusing, space: HalfSpace, lists: IntArray, rates: FloatArray
) -> tuple[float, FloatArray]:
    """The least Σ_a η_a KL_a(z) in a half-space, and its z: Newton's method on its boundary.

    The sum is convex, and least at z = 0 outside of the half-space.
    """
    lists, rates = _marked(page, space.entering, lists, rates)
    gamma = page.bias * np.append(page.kinds, page.kinds[space.entering])[lists]
    nothing = 1.0 / (1.0 + gamma.sum(axis=1))
    p = gamma * nothing[:, None]
    rows = problems.slot_rows + problems.kind_rows[lists]
    flat, size = rows.reshape(-1, rows.shape[2]), rows.shape[2]

    def total(z: FloatArray) -> float:
        u = rows @ z
        return float(rates @ (np.log(nothing + (p * np.exp(u)).sum(axis=1)) - (p * u).sum(axis=1)))

    z = on_boundary(space)
    current = total(z)
    for _ in range(MAX_STEPS):
        there = p * np.exp(rows @ z)
        q = there / (nothing + there.sum(axis=1))[:, None]
        gradient = (rates[:, None] * (q - p)).ravel() @ flat
        mean = np.einsum("ak,akn->an", q, rows)
        hessian = flat.T @ (flat * (rates[:, None] * q).reshape(-1, 1)) - mean.T @ (mean * rates[:, None])
        hessian[np.diag_indices(size)] += RIDGE * hessian.trace() / size + np.finfo(float).tiny
        newton, along = np.linalg.solve(hessian, np.column_stack([gradient, space.normal])).T
        step = newton - along * (space.normal @ newton) / (space.normal @ along)
        gain = float(gradient @ step)
        if not gain > MIN_GAIN * (1.0 + current):
            break
        part = 1.0
        while total(z - part * step) > current - 0.25 * part * gain and part > MIN_GAIN:
            part *= 0.5
        z = z - part * step
        current = total(z)
    return current, z


def on_boundary(space: HalfSpace) -> FloatArray:
    """The point of a half-space that is nearest to 0."""
    return space.normal * (space.offset / float(space.normal @ space.normal))


def _marked(page: Page, entering: int, lists: IntArray, rates: FloatArray) -> tuple[IntArray, FloatArray]:
    """Lists once for each item of the entering kind that could be the one: marked where it stands, plain where not."""
    if entering < 0:
        return lists, rates
    shown = lists == entering
    row, slot = np.nonzero(shown)
    marked = lists[row]
    marked[np.arange(len(row)), slot] = len(page.kinds)
    share = np.concatenate([rates * (page.count[entering] - shown.sum(axis=1)), rates[row]]) / page.count[entering]
    return np.vstack([lists, marked])[share > 0], share[share > 0]


def _levelled(falling: FloatArray) -> FloatArray:
    """Numbers that fall, those that are the same but for rounding made equal."""
    level = falling.copy()
    for i in range(1, len(level)):
        if level[i] > level[i - 1] * (1.0 - SAME):
            level[i] = level[i - 1]
    return level
