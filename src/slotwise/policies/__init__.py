"""Policies: what to show next, one a file. Every module of this folder is imported, and registers what it defines."""

import importlib
import pkgutil

from slotwise.core.policy_task import Setting
from slotwise.policies.interface import (
    absorb,
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
)
from slotwise.policies.policy_registry import PolicyEntry, default_policy, policies, policy

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = [
    "PolicyEntry",
    "Setting",
    "absorb",
    "choose",
    "choose_several",
    "default_policy",
    "end_epoch",
    "expect",
    "hold_still",
    "holds_lists",
    "impose_rules",
    "learn",
    "learns_from",
    "policies",
    "policy",
    "settle",
    "turn_to",
]
