"""The HTTP service: placements, decisions and outcomes on a store, and the worker that runs without HTTP."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slotwise.service.runtime.worker import Worker
    from slotwise.service.schemas.decision_request import DecisionRequest
    from slotwise.service.schemas.definition import PlacementDefinition
    from slotwise.service.storage.decision_types import Outcome

__all__ = ["DecisionRequest", "Outcome", "PlacementDefinition", "Worker"]

#: imported when they are first used: a worker imports the compiler
_MODULES = {
    "DecisionRequest": "schemas.decision_request",
    "Outcome": "storage.decision_types",
    "PlacementDefinition": "schemas.definition",
    "Worker": "runtime.worker",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
