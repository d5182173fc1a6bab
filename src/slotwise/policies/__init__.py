"""Policies, one per file. Every module of this folder and its subfolders is imported and registers its policy."""

from slotwise.core.policy_task import PolicyTask
from slotwise.core.registry import import_modules
from slotwise.policies.interface import (
    add_pending,
    choose,
    choose_several,
    defer_refits,
    end_epoch,
    holds_lists,
    impose_rules,
    learn,
    learns_from,
    remove_pending,
    set_features,
    set_segment,
    update_from_tally,
)
from slotwise.policies.policy_registry import PolicySpec, available_policies, default_policy, get_policy

import_modules(__name__, __path__, "slotwise.policies")

__all__ = [
    "PolicySpec",
    "PolicyTask",
    "add_pending",
    "available_policies",
    "choose",
    "choose_several",
    "default_policy",
    "defer_refits",
    "end_epoch",
    "get_policy",
    "holds_lists",
    "impose_rules",
    "learn",
    "learns_from",
    "remove_pending",
    "set_features",
    "set_segment",
    "update_from_tally",
]
