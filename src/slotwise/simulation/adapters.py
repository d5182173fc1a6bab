"""Adapters for policies and users that are plain Python objects: required and optional methods, and checks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from slotwise.click_models import click_probabilities, draw, draw_clicks, reward
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.policy_task import PolicyTask
from slotwise.jit import is_record


class CheckedPolicy:
    """A policy in plain Python whose rankings are checked."""

    def __init__(self, policy: Any, label: str, task: PolicyTask) -> None:
        for method in ("choose", "learn", *(["impose_rules"] if task.rules_per_decision else [])):
            if not callable(getattr(policy, method, None)):
                why = ", as items come and go" if method == "impose_rules" else ""
                raise InvalidInput(f"policy {label} must make an object with {method}{why}, got {policy!r}")
        self.policy, self.label, self.task = policy, label, task
        self.check = validation.ranking_of if task.goal is None else task.goal.ranking_of
        if task.rules_per_decision:
            self.check = partial(validation.ranking_of, may_be_empty=True)

    def choose(self, rng: np.random.Generator) -> Any:
        """Return the policy's ranking; raise InvalidRanking if it is not one."""
        ranking = self.policy.choose(rng)
        try:
            return self.check(ranking, slots=self.task.slots, items=self.task.items).copy()
        except InvalidRanking as problem:
            raise InvalidRanking(f"policy {self.label}: {problem}") from None

    def learn(self, ranking: Any, clicked: int) -> None:
        """Let the policy learn from a copy, because the array of a pending outcome is used again."""
        self.policy.learn(ranking.copy(), clicked)

    def __getattr__(self, name: str) -> Any:
        """Return an optional method of `slotwise.policies.interface`, which gets copies of arrays."""
        if name == "policy" or name.startswith("_"):
            raise AttributeError(name)
        answer = getattr(self.policy, name)
        return lambda *given: answer(*(value.copy() if isinstance(value, np.ndarray) else value for value in given))


def check_users(users: object) -> None:
    """Raise InvalidInput for users that lack required methods of `slotwise.click_models.base`."""
    if is_record(users):
        return
    for size in ("slots", "items"):
        if not isinstance(getattr(users, size, None), int) or getattr(users, size) < 1:
            raise InvalidInput(f"users must have slots and items, whole numbers from 1 on, got {users!r}")
    slots, items = getattr(users, "slots"), getattr(users, "items")  # noqa: B009
    if slots > items:
        raise InvalidInput(f"users have {slots} slots but only {items} items to fill them")
    draws = draw.is_answered_by(users) or draw_clicks.is_answered_by(users)
    if not click_probabilities.is_answered_by(users) and not (draws and reward.is_answered_by(users)):
        raise InvalidInput(
            f"users must have click_probabilities(ranking), or reward(ranking) and one of draw(ranking, rng) and "
            f"draw_clicks(ranking, clicks, rng), got {users!r}"
        )
