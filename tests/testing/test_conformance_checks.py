"""Registered estimators and click models pass the checks for third parties, and faulty ones do not."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from slotwise import PolicyTask
from slotwise.click_models import ChoiceModelEntry, choice_model
from slotwise.estimators import EstimatorEntry
from slotwise.estimators.estimator_registry import estimator
from slotwise.testing import check_click_model, check_estimator, check_policy
from tests.registered_components import choice_models, estimators


@pytest.mark.parametrize("entry", estimators(), ids=lambda entry: entry.id)
def test_registered_estimators_pass(entry: EstimatorEntry) -> None:
    check_estimator(entry)


@pytest.mark.parametrize("model", choice_models(), ids=lambda model: model.id)
def test_registered_click_models_pass(model: ChoiceModelEntry) -> None:
    check_click_model(model)


class Hidden:
    """A policy with a source of randomness of its own."""

    def __init__(self, task: PolicyTask) -> None:
        self.task, self.rng = task, np.random.default_rng()

    def choose(self, rng: np.random.Generator) -> Any:
        return self.rng.permutation(self.task.items)[: self.task.slots]

    def learn(self, ranking: Any, clicked: int) -> None:
        """Learn nothing."""


def test_randomness_from_elsewhere_is_found() -> None:
    with pytest.raises(AssertionError, match="Hidden must choose the same rankings for the same seed"):
        check_policy(Hidden)


def test_a_biased_estimator_is_found() -> None:
    sound = estimator("scaling")

    def doubled(counts: Any) -> Any:
        estimate = sound.estimate(counts)
        return dataclasses.replace(estimate, attractiveness=2.0 * estimate.attractiveness)

    with pytest.raises(AssertionError, match=r"scaling must estimate attractiveness \[0.9, 0.5, 0.3\], got"):
        check_estimator(dataclasses.replace(sound, estimate=doubled))


def test_an_example_without_a_choice_is_refused() -> None:
    example = {"position_bias": [1.0, 0.5], "attractiveness": [0.2, 0.1]}
    with pytest.raises(AssertionError, match="the example of mnl must have 2 to 5 slots and more items"):
        check_click_model(dataclasses.replace(choice_model("mnl"), example=example))
