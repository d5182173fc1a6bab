"""Contextual multinomial logit: attractiveness is log-linear in features that are drawn for every visitor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import FloatArray
from slotwise.jit import generic
from slotwise.optimize import Goal


@dataclass(frozen=True)
class ContextualTask(PolicyTask):
    """A task with features of the visitor.

    Parameters
    ----------
    context
        Number of features per item that change from round to round, which `see_features` receives.
    """

    context: int = 0


def context_of(task: PolicyTask) -> int:
    """Return the number of features that change from round to round; 0 for a task without them."""
    return task.context if isinstance(task, ContextualTask) else 0


@generic(default=lambda policy, features: None)  # noqa: ARG005
def see_features(policy: Any, features: FloatArray) -> None:
    """Receive the features of this visitor and every item, items × features, before a list is chosen.

    It is called in every round. The array is valid until the outcome of the round is learned.
    """


@dataclass(frozen=True, eq=False)
class ContextualMNL:
    """Visitors who choose by multinomial logit, item j weighing λ_k exp(x_jᵀθ) in slot k.

    In every round each item has d features x_j, independent and uniform on (-1/√d, 1/√d), so that |x_j| ≤ 1. The first
    `fixed` of them are the item's own: drawn once, before the first round, and the same in all rounds. The others are
    drawn for every visitor and item. Policies get x before they choose (`see_features`), and its fixed part before the
    first round (`PolicyTask.features`); they do not know θ. Regret is against the best list for the current visitor.

    Without context-free differences between items, `fixed=0`, no policy that ignores features can learn anything. With
    `fixed` = d nothing but the items differs, and features are at best a shortcut.

    The model is that of Oh and Iyengar, Thompson Sampling for Multinomial Logit Contextual Bandits (2019), and of Lee
    and Oh, Nearly Minimax Optimal Regret for Multinomial Logistic Bandit (2024), who have λ = 1 in all slots.

    Parameters
    ----------
    position_bias
        λ, per slot.
    weights
        θ, per feature.
    items
        The number of items.
    fixed
        The number of features that belong to the item and stay, from 0 to d.

    Examples
    --------
    >>> from slotwise import simulate
    >>> users = ContextualMNL(position_bias=[1.0, 1.0], weights=[2.0, -1.0, 0.5], items=5)
    >>> run = simulate(users, "toprank", rounds=100, seed=1)["toprank"]
    >>> bool(run.mean > 0.0), users.task(100).context
    (True, 3)
    """

    position_bias: Any
    weights: Any
    items: int
    fixed: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "position_bias", validation.positive_vector("position_bias", self.position_bias, each="slot"))
        weights = validation.number_vector("weights", self.weights)
        for feature in np.flatnonzero(~np.isfinite(weights)):
            raise InvalidInput(f"weights must be finite, got {weights[feature]} for feature {feature + 1}")
        put(self, "weights", weights)
        put(self, "items", validation.whole_number("items", self.items, at_least=1))
        put(self, "fixed", validation.whole_number("fixed", self.fixed, at_least=0, at_most=len(weights)))
        if self.slots > self.items:
            raise InvalidInput(
                f"position_bias has {self.slots} slots but there are only {self.items} items to fill them"
            )

    @property
    def slots(self) -> int:
        """K."""
        return len(self.position_bias)

    def task(self, rounds: int, goal: Goal | None = None) -> ContextualTask:
        """Return the task of a policy, without the fixed features, which each replication draws."""
        if goal is not None:
            raise InvalidInput("a goal needs users who choose by multinomial logit, got ContextualMNL")
        return ContextualTask(
            self.slots, self.items, rounds, position_bias=self.position_bias, context=len(self.weights)
        )
