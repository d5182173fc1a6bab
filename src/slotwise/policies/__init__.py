"""Policies, one per file. Every module of this folder and its subfolders is imported and registers its policy."""

from slotwise.core.policy_task import PolicyTask
from slotwise.core.registry import import_modules
from slotwise.policies.interface import (
    choose,
    choose_several,
    end_epoch,
    expect,
    hold_still,
    holds_lists,
    impose_rules,
    learn,
    learns_from,
    settle,
    turn_to,
    update_from_tally,
)
from slotwise.policies.policy_registry import PolicySpec, available_policies, default_policy, get_policy

import_modules(__name__, __path__, "slotwise.policies")

__all__ = [
    "PolicySpec",
    "PolicyTask",
    "available_policies",
    "choose",
    "choose_several",
    "default_policy",
    "end_epoch",
    "expect",
    "get_policy",
    "hold_still",
    "holds_lists",
    "impose_rules",
    "learn",
    "learns_from",
    "settle",
    "turn_to",
    "update_from_tally",
]
