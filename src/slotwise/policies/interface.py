"""The policy protocol: `choose`, `learn`, and optional functions for tallies, constraints, segments and held lists.

A policy is a record with implementations of these functions, or an object with methods of the same names, at the speed
of plain Python. It is made from a `PolicyTask`. A policy with `choose` and `learn` can be simulated. With
`update_from_tally` and the lists of `lists_for` it can also serve, in a `Ranker` or the service. The other functions
have defaults that suit a policy which decides in every round. `slotwise.policies.epochs` implements all of them for a
policy that shows one list until a no-click.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from slotwise.click_models.base import first_click, mark_one_click
from slotwise.core.errors import InvalidInput
from slotwise.core.policy_task import PolicyTask
from slotwise.core.types import BoolArray, FloatArray, IntArray, Ranking
from slotwise.jit import generic, is_compiled, jit
from slotwise.optimize.dynamic_constraints import impose
from slotwise.optimize.solver_factory import make_lists, make_pair_lists
from slotwise.posterior import posterior_interface

Policy = TypeVar("Policy")


def lists_for(task: PolicyTask) -> Any:
    """Return the list solver of a policy: the `lists` of `arrange`."""
    return make_lists(task.slots, task.items, task.position_bias, task.goal, task.rules_per_decision)


def pair_lists_for(task: PolicyTask) -> Any:
    """Return the list solver of a policy that weighs slot-item pairs: the `lists` of `arrange_pairs`."""
    return make_pair_lists(task.slots, task.items, task.goal, task.rules_per_decision)


# Every policy implements these.


@generic()
def choose(policy: Any, rng: np.random.Generator) -> Ranking:  # type: ignore[empty-body]
    """Return the item for each slot; the array belongs to the policy and is valid until it chooses again."""


@generic()
def learn(policy: Any, ranking: Ranking, clicked: int) -> None:
    """Learn the outcome of one round: the slot that was clicked, or NO_CLICK."""


def _learn_first(policy: Any, ranking: Ranking, clicks: BoolArray) -> None:
    learn(policy, ranking, first_click(clicks))


@generic(default=_learn_first)
def learn_clicks(policy: Any, ranking: Ranking, clicks: BoolArray) -> None:
    """Learn one round of users who may click several times: per slot, whether it was clicked.

    `simulate` calls this instead of `learn` if users may click several times. By default a policy learns the first,
    uppermost click. A policy that implements `learn_clicks` still needs `learn` for users who
    click once; `learns_all_clicks` provides it.
    """


def learns_all_clicks(record_class: type[Policy]) -> type[Policy]:
    """Decorate a policy's record that has a field `clicked`, per slot: its `learn` calls its `learn_clicks`."""
    learn.register(record_class)(_learn_by_clicks)
    return record_class


def _learn_by_clicks(policy: Any, ranking: Ranking, clicked: int) -> None:
    mark_one_click(policy.clicked, clicked)
    learn_clicks(policy, ranking, policy.clicked)


def choose_several(policy: Any, rng: np.random.Generator, lists: IntArray) -> None:
    """Fill each row of `lists` with a ranking, one after the other, without an outcome in between."""
    (_fill if is_compiled(policy) else _fill_plainly)(policy, rng, lists)


def _fill_plainly(policy: Any, rng: np.random.Generator, lists: IntArray) -> None:
    for row in range(len(lists)):
        lists[row] = choose(policy, rng)


_fill = jit(_fill_plainly)


# The visitor's segment and pending outcomes: a simulation or a service passes them on.


@generic(default=lambda policy, segment: None)  # noqa: ARG005
def set_segment(policy: Any, segment: int) -> None:
    """Switch to a segment: later choices and outcomes are of its visitors. The first segment is 0."""


@generic(default=lambda policy, items, rows: None)  # noqa: ARG005
def set_features(policy: Any, items: IntArray, rows: FloatArray) -> None:
    """Set the features of items without counts, one row for each, for the next choices."""


@generic(default=lambda policy, ranking: None)  # noqa: ARG005
def add_pending(policy: Any, ranking: Ranking) -> None:
    """Count a list as pending: it was shown, and its outcome comes after other choices."""


@generic(default=lambda policy, ranking: None)  # noqa: ARG005
def remove_pending(policy: Any, ranking: Ranking) -> None:
    """Count a list as no longer pending: its outcome is about to be learned, or was lost."""


@generic(default=lambda policy, deferred: None)  # noqa: ARG005
def defer_refits(policy: Any, deferred: bool) -> None:
    """Do not refit hyperparameters while `deferred` is true: more tallies follow before the next choice."""


def with_posterior(record_class: type[Policy]) -> type[Policy]:
    """Decorate a policy's record that has a field `posterior`: segments and pending lists are passed on to it."""
    set_segment.register(record_class)(_set_posterior_segment)
    set_features.register(record_class)(_set_posterior_features)
    add_pending.register(record_class)(_add_pending_to_posterior)
    remove_pending.register(record_class)(_remove_pending_from_posterior)
    defer_refits.register(record_class)(_defer_posterior_refits)
    return record_class


def _set_posterior_segment(policy: Any, segment: int) -> None:
    posterior_interface.set_segment(policy.posterior, segment)


def _set_posterior_features(policy: Any, items: IntArray, rows: FloatArray) -> None:
    posterior_interface.set_features(policy.posterior, items, rows)


def _add_pending_to_posterior(policy: Any, ranking: Ranking) -> None:
    posterior_interface.add_pending(policy.posterior, ranking)


def _remove_pending_from_posterior(policy: Any, ranking: Ranking) -> None:
    posterior_interface.remove_pending(policy.posterior, ranking)


def _defer_posterior_refits(policy: Any, deferred: bool) -> None:
    posterior_interface.defer_refits(policy.posterior, deferred)


# Instead of `learn` for a policy that acts in epochs; in addition for a policy that can start from a tally.


@generic()
def learn_epoch(policy: Any, ranking: Ranking, clicks: IntArray) -> None:
    """Learn one complete epoch: `clicks` per slot, then one no-click."""


def _as_numbers(policy: Any, clicks: Any, passes: Any) -> tuple[Any, FloatArray, FloatArray]:
    return policy, np.ascontiguousarray(clicks, np.float64), np.ascontiguousarray(passes, np.float64)


def _more_than_a_tally(policy: Any, clicks: FloatArray, passes: FloatArray) -> None:  # noqa: ARG001
    raise InvalidInput("this policy cannot be updated from a tally: it needs more than one has")


@generic(prepare=_as_numbers, default=_more_than_a_tally)
def update_from_tally(policy: Any, clicks: FloatArray, passes: FloatArray) -> None:
    """Update from a tally, slots × items: the same as `learn` round by round, as far as a tally determines it.

    It may be called at any time. Updating from two tallies equals updating from their sum.
    """


# Constraints of each decision, if the task has `rules_per_decision`: a policy that has `lists` leaves them to these.


def _impose_on_lists(policy: Any, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    impose(policy.lists, values, excluded, pin)


@generic(default=_impose_on_lists)
def impose_rules(policy: Any, values: FloatArray, excluded: IntArray, pin: IntArray) -> None:
    """Set the values, exclusions and pins of the next decisions.

    The arguments are those of `slotwise.optimize.dynamic_constraints.impose`.
    """


# Lists that are held over several rounds: a policy that decides in every round holds none.


@generic(default=lambda policy: False)  # noqa: ARG005
def holds_lists(policy: Any) -> bool:  # type: ignore[empty-body]
    """Whether the policy shows one list until a no-click, so that choices depend on the order of outcomes."""


@generic(default=lambda policy, ranking: True)  # noqa: ARG005
def learns_from(policy: Any, ranking: Ranking) -> bool:  # type: ignore[empty-body]
    """Whether a round with this list is for `learn`.

    A policy that holds a list counts its rounds one by one. A round with another list, shown once or reported late, is
    for `update_from_tally`, as a tally of that round.
    """


@generic(default=lambda policy: None)  # noqa: ARG005
def end_epoch(policy: Any) -> None:
    """Release the list that is held: the next choice is a new one."""
