"""What a model of user choice answers; each model is a record that implements these."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise import checks
from slotwise.compiled import generic
from slotwise.typing import Ranking


def _with_checked_ranking(users: Any, ranking: Any, *rest: Any) -> tuple[Any, ...]:
    empty = may_be_empty(users)
    return users, checks.ranking_of(ranking, slots=users.slots, items=users.items, may_be_empty=empty), *rest


@generic(prepare=_with_checked_ranking)
def draw(users: Any, ranking: Ranking, rng: np.random.Generator) -> int:  # type: ignore[empty-body]
    """One user looks at `ranking`: the slot that is clicked, or NO_CLICK."""


@generic(prepare=_with_checked_ranking)
def reward(users: Any, ranking: Ranking) -> float:  # type: ignore[empty-body]
    """The probability that `ranking` gets a click, or what clicks on it are worth on average."""


@generic(default=lambda users: False)  # noqa: ARG005
def may_be_empty(users: Any) -> bool:  # type: ignore[empty-body]
    """Whether a slot may be left empty."""


@generic(default=lambda users, ranking: True)  # noqa: ARG005
def allowed(users: Any, ranking: Ranking) -> bool:  # type: ignore[empty-body]
    """Whether `ranking`, of distinct items, may be shown."""
