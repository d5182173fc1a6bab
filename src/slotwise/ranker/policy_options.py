"""The policy of a learner: which one, with which options, and whether it can do what it must."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.types import FloatArray, HalfLife
from slotwise.jit import interpreted
from slotwise.policies import PolicySpec, PolicyTask, default_policy, holds_lists
from slotwise.policies.policy_registry import parse


def policy_for(given: str | PolicySpec | None, position_bias: FloatArray | None) -> PolicySpec:
    """Return the policy with an id; the default policy if it is None, with `bias=known` if a bias is given."""
    if given is None:
        return default_policy(known_bias=position_bias is not None)
    if isinstance(given, str):
        return parse(given)
    if not isinstance(given, PolicySpec):
        raise InvalidInput(f"policy must be the id of a registered policy, got {validation.short(given)}")
    return given


def with_options(policy: PolicySpec, half_life: HalfLife, new_items_at_most: float | None) -> PolicySpec:
    """The policy with these options, if they are given."""
    for option, value in (("half_life", half_life), ("new_items_at_most", new_items_at_most)):
        if value is None or (isinstance(value, str) and value == "none"):
            continue
        if not isinstance(value, str | int | float | np.number):
            raise InvalidInput(f"{option} must be a number, got {validation.short(value)}")
        if option not in policy.option_names:
            raise InvalidInput(f"{option} is {validation.short(value)}, but {policy.id} has no option {option}")
        if option in policy.options and policy.options[option] != value:
            raise InvalidInput(f"{option} is {validation.short(value)}, but the policy is {policy}")
        policy = policy.with_option(option, value)
    return policy


def check_served(policy: PolicySpec, task: PolicyTask) -> None:
    """Raise InvalidInput for a policy that can only be simulated: on a page, outcomes are late and out of order."""
    policy.check(task)
    if why := policy.limits.get("tally"):
        raise InvalidInput(f"{policy} cannot start from a tally: {why}")
    with interpreted():
        if holds_lists(policy.start(replace(task, segments=1))):
            raise InvalidInput(f"policy is {policy}, which shows one list until a no-click: it can only be simulated")


def check_pooling(policy: PolicySpec, segments: int, has_features: bool) -> None:
    """Raise InvalidInput for a policy that cannot pool segments or items."""
    if segments > 1 and not policy.pools:
        raise InvalidInput(f"segments is {segments}, but {policy.id} does not distinguish visitors")
    if has_features and not policy.pools:
        raise InvalidInput(f"features are given, but {policy.id} cannot learn from them")
