"""Rank things on a page whose slots are not equally visible, and learn from what is clicked.

Names of the package are imported on first use, so that `import slotwise` is fast.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slotwise.click_models import MNL
    from slotwise.core.rankings import Rankings
    from slotwise.core.tally import Tally
    from slotwise.core.types import EMPTY, NO_CLICK
    from slotwise.optimize import Goal
    from slotwise.policies import Setting, policies, policy
    from slotwise.ranker import Ranker
    from slotwise.simulation import Results, simulate

__all__ = [
    "EMPTY",
    "MNL",
    "NO_CLICK",
    "Goal",
    "Ranker",
    "Rankings",
    "Results",
    "Setting",
    "Tally",
    "policies",
    "policy",
    "simulate",
]

_HOMES = {
    "EMPTY": "core.types",
    "MNL": "click_models",
    "NO_CLICK": "core.types",
    "Goal": "core.goal",
    "Ranker": "ranker",
    "Rankings": "core.rankings",
    "Results": "simulation",
    "Setting": "policies",
    "Tally": "core.tally",
    "policies": "policies",
    "policy": "policies",
    "simulate": "simulation",
}


class _OnFirstUse:
    """A name of the package that is imported when it is first read."""

    def __init__(self, name: str, home: str) -> None:
        self._name, self._home = name, f"{__name__}.{home}"

    def __get__(self, package: Any, _: type | None = None) -> Any:
        return getattr(importlib.import_module(self._home), self._name)

    def __set__(self, package: Any, module: ModuleType) -> None:
        """Importing the module of the same name must not hide the function: `simulate` and `policies` are both."""


class _Package(ModuleType):
    """The package: unlike a module's `__getattr__`, what a class defines goes before modules of the same name."""

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


for _name, _home in _HOMES.items():
    setattr(_Package, _name, _OnFirstUse(_name, _home))
sys.modules[__name__].__class__ = _Package
