"""Small problems with goals of every kind, and what is best for them by trying everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from slotwise import EMPTY, MNL, Goal
from slotwise.choice.valued import allowed_lists
from slotwise.errors import InvalidInput
from slotwise.typing import FloatArray

#: few different numbers, for ties; or any
weights = st.one_of(st.sampled_from([0.5, 1.0, 2.0]), st.floats(0.01, 5.0))
worths = st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(0.0, 5.0))


@st.composite
def goals(chosen: st.DrawFn, slots: int, items: int) -> Goal:
    """Any combination of values, pins, exclusions, groups and empty slots that can be met."""
    order = chosen(st.permutations(range(items)))
    pins = chosen(st.integers(0, slots)) if chosen(st.booleans()) else 0
    slot_order = chosen(st.permutations(range(slots)))
    groups = chosen(st.none() | st.lists(st.sampled_from([None, "a", "b"]), min_size=items, max_size=items))
    labels = sorted({label for label in groups or [] if label})
    goal = Goal(
        chosen(st.none() | st.lists(worths, min_size=items, max_size=items)),
        pinned=dict(zip(order[:pins], slot_order[:pins], strict=True)),
        excluded=order[pins : pins + chosen(st.integers(0, 2))],
        groups=groups,
        at_most={label: chosen(st.integers(0, 2)) for label in labels if chosen(st.booleans())},
        may_be_empty=chosen(st.booleans()),
    )
    try:
        goal.check(slots, items)
    except InvalidInput:
        assume(False)
    return goal


@st.composite
def problems(chosen: st.DrawFn) -> tuple[MNL, Goal]:
    items = chosen(st.integers(1, 5))
    slots = chosen(st.integers(1, min(items, 4)))
    users = MNL(
        position_bias=chosen(st.lists(weights, min_size=slots, max_size=slots)),
        attractiveness=chosen(st.lists(weights, min_size=items, max_size=items)),
    )
    return users, chosen(goals(slots, items))


def value_of(weight: FloatArray, goal: Goal, ranking: Any) -> float:
    """Σ_k v γ_k/(1+S) for any weights γ_kj, as it is written."""
    shown = [(slot, item) for slot, item in enumerate(ranking) if item != EMPTY]
    values = np.ones(weight.shape[1]) if goal.values is None else goal.values
    total = sum(weight[slot, item] for slot, item in shown)
    return float(sum(weight[slot, item] * values[item] for slot, item in shown) / (1.0 + total))


def best_value(weight: FloatArray, goal: Goal, holding: Any = None) -> float:
    """The largest value of all allowed lists, or of those that hold the same as another."""
    lists = [ranking.tolist() for ranking in allowed_lists(goal, *weight.shape)]
    return max(
        value_of(weight, goal, ranking) for ranking in lists if holding is None or sorted(ranking) == sorted(holding)
    )
