"""Policies: what to show next, one a file. Every module of this folder is imported, and registers what it defines."""

import importlib
import pkgutil

from slotwise.core.policy_task import PolicyTask
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

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

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
