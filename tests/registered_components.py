"""What is registered, as the tests of all of it are parametrised: the next one is tested by being registered.

`SLOTWISE_TEST_ONLY`, ids with commas in between, leaves only those: for whoever adds one, and for the test that drops
new files in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from slotwise.click_models import ChoiceModelEntry
from slotwise.click_models import choice_models as registered_models
from slotwise.estimators import Estimate, EstimatorEntry
from slotwise.estimators import estimators as registered_estimators
from slotwise.policies import PolicySpec, default_policy
from slotwise.policies import available_policies as registered_policies

ONLY = {id for id in os.environ.get("SLOTWISE_TEST_ONLY", "").split(",") if id}

#: options that the tests of all policies try as well, by id
TRY_WITH: dict[str, list[dict[str, Any]]] = {
    "thompson-sampling": [{"bias": "known"}, {"half_life": "auto"}],
    "epoch-ucb-upb": [{"sensitivity": "analytic"}],
    "epoch-ucb-upb-star": [{"sensitivity": "analytic"}],
}

Entry = TypeVar("Entry", PolicySpec, EstimatorEntry, ChoiceModelEntry)


def _asked_for(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if not ONLY or entry.id in ONLY]


def policies() -> list[PolicySpec]:
    """Each as it is."""
    return _asked_for(in_package())


def in_package() -> list[PolicySpec]:
    """Every registered policy of the package, and of others only if they are asked for."""
    return [
        entry for entry in registered_policies() if entry.make.__module__.startswith("slotwise.") or entry.id in ONLY
    ]


def variants() -> list[PolicySpec]:
    """Each as it is, and with each of the options in `TRY_WITH`."""
    return [variant for entry in policies() for variant in _variants(entry)]


def _variants(entry: PolicySpec) -> list[PolicySpec]:
    return [entry, *(replace(entry, options=options) for options in TRY_WITH.get(entry.id, []))]


def default_first(entries: Iterable[PolicySpec]) -> list[Any]:
    """The default policy as it is for `make test`, all others for `make test-all`: what has to be compiled for each."""
    return only_first(str(default_policy()), entries)


def only_first(first: str, entries: Iterable[PolicySpec]) -> list[Any]:
    """One policy for `make test`, and all others for `make test-all`."""
    return [entry if str(entry) == first else pytest.param(entry, marks=pytest.mark.long) for entry in entries]


def compiled_first(entries: Iterable[PolicySpec]) -> list[Any]:
    """For `make test` those that are compiled before the tests begin; rivals and options are for `make test-all`."""
    return [entry if is_compiled_first(entry) else pytest.param(entry, marks=pytest.mark.long) for entry in entries]


def is_compiled_first(entry: PolicySpec) -> bool:
    """Whether `slotwise.simulation.compile_policies` compiles it."""
    return not entry.rival and str(entry) in (entry.id, f"{entry.id}:bias=known")


def estimators() -> list[EstimatorEntry]:
    """Every registered estimator of the package, and of others only if they are asked for."""
    ours = (entry for entry in registered_estimators() if entry.estimate.__module__.startswith("slotwise."))
    return [entry for entry in registered_estimators() if entry.id in ONLY] if ONLY else list(ours)


def from_data_alone(*, without: str = "") -> dict[str, Callable[[Any], Estimate]]:
    """The estimators that need only data, but for those that declare one limit."""
    return {entry.id: entry.estimate for entry in estimators() if entry.needs_data_only and without not in entry.limits}


def choice_models() -> list[ChoiceModelEntry]:
    """Each as it is."""
    return _asked_for(registered_models())
