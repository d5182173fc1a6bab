"""Objects of one's own, in plain Python, in place of a policy or of users: what they must answer, and what they may."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from slotwise.click_models import click_probabilities, draw, draw_clicks, reward
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking
from slotwise.core.policy_task import PolicyTask
from slotwise.jit import is_record

#: what a policy may answer beside `choose` and `learn`; see `slotwise.policies.interface`
MAY_ANSWER = (
    "learn_clicks",
    "see_features",
    "turn_to",
    "expect",
    "settle",
    "impose_rules",
    "update_from_tally",
    "learns_from",
    "end_epoch",
)


class CheckedPolicy:
    """A user's own policy, its rankings checked before anything is done with them."""

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
        """The policy's ranking, checked."""
        ranking = self.policy.choose(rng)
        try:
            return self.check(ranking, slots=self.task.slots, items=self.task.items).copy()
        except InvalidRanking as problem:
            raise InvalidRanking(f"policy {self.label}: {problem}") from None

    def learn(self, ranking: Any, clicked: int) -> None:
        """Let the policy learn from a copy, as that of an outcome that was on its way is used again."""
        self.policy.learn(ranking.copy(), clicked)

    def __getattr__(self, name: str) -> Any:
        """What else it answers, if it does."""
        if name not in MAY_ANSWER:
            raise AttributeError(name)
        answer = getattr(self.policy, name)
        return lambda *given: answer(*(one.copy() if isinstance(one, np.ndarray) else one for one in given))


def check_users(users: Any) -> None:
    """Refuse an object that answers too little of what `slotwise.click_models.base` has."""
    if is_record(users):
        return
    for size in ("slots", "items"):
        if not isinstance(getattr(users, size, None), int) or getattr(users, size) < 1:
            raise InvalidInput(f"users must have slots and items, whole numbers from 1 on, got {users!r}")
    if users.slots > users.items:
        raise InvalidInput(f"users have {users.slots} slots but only {users.items} items to fill them")
    draws = draw.is_answered_by(users) or draw_clicks.is_answered_by(users)
    if not click_probabilities.is_answered_by(users) and not (draws and reward.is_answered_by(users)):
        raise InvalidInput(
            f"users must answer click_probabilities(ranking), or reward(ranking) and one of draw(ranking, rng) and "
            f"draw_clicks(ranking, clicks, rng), got {users!r}"
        )
