"""What a learner asks of its policy beside lists: to forget, to be careful with new items, to tell visitors apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from slotwise import checks
from slotwise.errors import InvalidInput
from slotwise.policies import PolicyEntry


def with_options(policy: PolicyEntry, memory: Any, new_items_at_most: Any) -> PolicyEntry:
    """The policy with these options, where they say anything."""
    for option, value in (("memory", memory), ("new_items_at_most", new_items_at_most)):
        if value is None or (isinstance(value, str) and value == "none"):
            continue
        if not isinstance(value, str | int | float | np.number):
            raise InvalidInput(f"{option} must be a number, got {checks.short(value)}")
        if option not in policy.option_names:
            raise InvalidInput(f"{option} is {checks.short(value)}, but {policy.id} has no option {option}")
        if option in policy.options and policy.options[option] != value:
            raise InvalidInput(f"{option} is {checks.short(value)}, but the policy is {policy}")
        policy = policy.with_option(option, value)
    return policy


def check_pooling(policy: PolicyEntry, segments: int, has_features: bool) -> None:
    """Refuse by name a policy that takes all visitors, or all items, for alike."""
    if segments > 1 and not policy.pools:
        raise InvalidInput(f"segments is {segments}, but {policy.id} takes all visitors for alike")
    if segments > 1 and policy.options.get("acts") == "epochs":
        raise InvalidInput(f"segments is {segments}, but {policy} shows one list to all visitors for an epoch")
    if has_features and not policy.pools:
        raise InvalidInput(f"features are given, but {policy.id} cannot learn from them")
