"""Policies: what to show next, one a file. Every module of this folder is imported, and registers what it defines."""

import importlib
import pkgutil

from slotwise.policies.interface import absorb, choose, choose_several, learn
from slotwise.policies.registry import Policy, policies, policy
from slotwise.setting import Setting

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["Policy", "Setting", "absorb", "choose", "choose_several", "learn", "policies", "policy"]
