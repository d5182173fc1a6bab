"""MNL-UCB on the last epochs, for tastes that change, after the abstract of Foussoul, Goyal and Gupta (2023)."""

from __future__ import annotations

import math

import numpy as np

from research.further_policies.delayed_mnl_ucb import choose_by_bounds
from slotwise.core import validation
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray, IntArray, Ranking
from slotwise.jit import record
from slotwise.policies.baselines.mnl_ucb import NO_SLOTS
from slotwise.policies.epochs import Epochs, in_epochs
from slotwise.policies.interface import choose, learn_epoch
from slotwise.policies.policy_registry import register


@record
class WindowedMNLUCB:
    """Show the items with the largest v̄ + √(48 v̄ c/T) + 48c/T, with T and v̄ of the last W epochs.

    T counts the epochs that showed the item, v̄ is its clicks per epoch, and c = log(√J l + 1), l - 1 epochs being in
    the window. An item that the window does not have comes first, so that every item is tried again.

    Of the paper only the abstract was available. By it, the algorithm builds on the epochs of MNL-UCB, and its regret
    is of order J^⅓ Δ^⅓ T^⅔ + √(JT) if parameters move by Δ altogether. The window is ours: W = J^⅓ T^⅔, which has that
    order for Δ = 1. The paper's algorithm need not be told Δ, and this one does not find it out.
    """

    #: W, epochs in it, and the place of the next one
    window: int
    epochs: float
    place: int
    #: window × slots: the lists of the last epochs, and their clicks
    lists: IntArray
    list_clicks: FloatArray
    #: per item, over the window: clicks and T
    clicks: FloatArray
    passes: FloatArray
    index: FloatArray
    #: items by decreasing index, sorted as far as needed
    item_order: IntArray
    ranking: Ranking


@register(
    "windowed-mnl-ucb-like",
    name="like non-stationary MNL-UCB",
    position_bias="ordered",
    citation="after Foussoul, Goyal and Gupta, MNL-Bandit in non-stationary environments (2023)",
    limits={"goal": NO_SLOTS, "tally": "it needs the order of epochs, which a tally does not have"},
    rival=True,
)
def windowed_mnl_ucb(task: PolicyTask, *, window: int | None = None) -> Epochs:
    """MNL-UCB on a window of epochs."""
    usual = math.ceil(task.items ** (1.0 / 3.0) * task.horizon ** (2.0 / 3.0))
    size = int(validation.whole_number("window", usual if window is None else window, at_least=1))
    policy = WindowedMNLUCB(
        window=size,
        epochs=0.0,
        place=0,
        lists=np.zeros((size, task.slots), np.int64),
        list_clicks=np.zeros((size, task.slots)),
        clicks=np.zeros(task.items),
        passes=np.zeros(task.items),
        index=np.zeros(task.items),
        item_order=np.arange(task.items),
        ranking=np.zeros(task.slots, np.int64),
    )
    return in_epochs(policy, task)


@choose.register(WindowedMNLUCB)
def _choose(policy: WindowedMNLUCB, rng: np.random.Generator) -> Ranking:
    return choose_by_bounds(policy, policy.epochs, rng)


@learn_epoch.register(WindowedMNLUCB)
def _learn_epoch(policy: WindowedMNLUCB, ranking: Ranking, clicks: IntArray) -> None:
    place, is_full = policy.place, policy.epochs == policy.window
    for slot in range(len(ranking)):
        if is_full:
            old = policy.lists[place, slot]
            policy.clicks[old] -= policy.list_clicks[place, slot]
            policy.passes[old] -= 1.0
        policy.lists[place, slot] = ranking[slot]
        policy.list_clicks[place, slot] = clicks[slot]
        policy.clicks[ranking[slot]] += clicks[slot]
        policy.passes[ranking[slot]] += 1.0
    policy.place = (place + 1) % policy.window
    if not is_full:
        policy.epochs += 1.0
