"""Learn the best order of items on a page whose slots are not equally visible, from clicks.

Names of the package are imported on first use, so that `import slotwise` is fast.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slotwise.click_models import MNL
    from slotwise.core.rankings import Rankings
    from slotwise.core.tally import Tally
    from slotwise.core.types import EMPTY, NO_CLICK
    from slotwise.optimize import Goal
    from slotwise.policies import PolicySpec, PolicyTask, available_policies, get_policy
    from slotwise.ranker import Ranker
    from slotwise.simulation import Results, simulate, sweep

__all__ = [
    "EMPTY",
    "MNL",
    "NO_CLICK",
    "Goal",
    "PolicySpec",
    "PolicyTask",
    "Ranker",
    "Rankings",
    "Results",
    "Tally",
    "__version__",
    "available_policies",
    "get_policy",
    "simulate",
    "sweep",
]

#: the version of the installed distribution
__version__: str

_HOMES = {
    "EMPTY": "core.types",
    "MNL": "click_models",
    "NO_CLICK": "core.types",
    "Goal": "core.goal",
    "Ranker": "ranker",
    "Rankings": "core.rankings",
    "Results": "simulation",
    "PolicySpec": "policies",
    "PolicyTask": "policies",
    "Tally": "core.tally",
    "available_policies": "policies",
    "get_policy": "policies",
    "simulate": "simulation",
    "sweep": "simulation",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = importlib.metadata.version(__name__)
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
