"""What a policy answers: to choose and to learn, or to learn from whole epochs, and to absorb a tally.

Whatever record implements them can be simulated. It is told a `Setting` and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise.compiled import generic, jit
from slotwise.errors import InvalidInput
from slotwise.lists.make import make_lists, make_pair_lists
from slotwise.setting import Setting
from slotwise.typing import FloatArray, IntArray, Ranking


def lists_for(setting: Setting) -> Any:
    """What a policy arranges its lists with: the `lists` of `arrange` and `rearrange`."""
    return make_lists(setting.slots, setting.items, setting.position_bias, setting.goal, setting.rules_per_decision)


def pair_lists_for(setting: Setting) -> Any:
    """The same for a policy that weighs slot-item pairs: the `lists` of `arrange_pairs`."""
    return make_pair_lists(setting.slots, setting.items, setting.goal, setting.rules_per_decision)


@generic()
def choose(policy: Any, rng: np.random.Generator) -> Ranking:  # type: ignore[empty-body]
    """The item for each slot; the array is the policy's own and holds until it chooses again."""


@jit
def choose_several(policy: Any, rng: np.random.Generator, lists: IntArray) -> None:
    """As many rankings as `lists` has rows, one after the other, without an outcome in between."""
    for row in range(len(lists)):
        lists[row] = choose(policy, rng)


@generic()
def learn(policy: Any, ranking: Ranking, clicked: int) -> None:
    """Take in the outcome of one round: the slot that was clicked, or NO_CLICK."""


@generic()
def learn_epoch(policy: Any, ranking: Ranking, clicks: IntArray) -> None:
    """Take in one complete epoch: `clicks` per slot, then one no-click."""


def _as_numbers(policy: Any, clicks: Any, passes: Any) -> tuple[Any, FloatArray, FloatArray]:
    return policy, np.ascontiguousarray(clicks, np.float64), np.ascontiguousarray(passes, np.float64)


def _more_than_a_tally(policy: Any, clicks: FloatArray, passes: FloatArray) -> None:  # noqa: ARG001
    raise InvalidInput("what this policy remembers does not follow from a tally")


@generic(prepare=_as_numbers, default=_more_than_a_tally)
def absorb(policy: Any, clicks: FloatArray, passes: FloatArray) -> None:
    """Take in a whole tally, slots × items, at once: what `learn` does round by round, as far as a tally tells.

    At any time, and as often as there is more: absorbing two tallies is absorbing their sum.
    """
