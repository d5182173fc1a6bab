"""Goodness of fit of a placement's model: clicks by slot, and by slot and item, against the estimates.

Given the passes of an item in a slot, its clicks there have the mean γ·passes, γ = λ_kα_j, and the variance
γ·passes·(1 + γ), for any lists that were shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.diagnostics import goodness_of_fit
from slotwise.service.schemas.overview_schemas import Level
from slotwise.service.schemas.report_schemas import EstimatesDocument


class ModelFit(NamedTuple):
    """Shows, clicks and fitted clicks per slot, and the verdict over the pairs of slot and item."""

    shown: list[int]
    clicks: list[int]
    fitted: list[float]
    level: Level
    sentence: str


def fit(estimates: EstimatesDocument, shown: list[int]) -> ModelFit:
    """Compare the estimates with the tally; `shown` is how often each slot was filled."""
    slots = len(estimates["position_bias"])
    numbers = {item: number for number, item in enumerate(estimates["tally"]["items"])}
    here = [numbers[item["id"]] for item in estimates["items"]]
    all_clicks, all_passes = (np.array(estimates["tally"][which], float)[:slots] for which in ("clicks", "passes"))
    # there are no estimates of retired items
    clicks, passes = all_clicks[:, here], all_passes[:, here]
    alpha = np.array([item["attractiveness"] for item in estimates["items"]])
    bias = np.array([slot["estimate"] for slot in estimates["position_bias"]])
    gamma = np.outer(bias, alpha)
    expected = gamma * passes
    level, sentence = _judged(clicks, expected, gamma)
    retired = all_clicks.sum(axis=1) - clicks.sum(axis=1)
    return ModelFit(
        shown[:slots],
        [int(count) for count in all_clicks.sum(axis=1)],
        [float(count) for count in expected.sum(axis=1) + retired],
        level,
        sentence,
    )


def _judged(clicks: FloatArray, expected: FloatArray, gamma: FloatArray) -> tuple[Level, str]:
    test = goodness_of_fit(clicks, expected, expected * (1.0 + gamma))
    verdict = test.verdict
    if verdict == "untestable":
        return "unknown", "Not enough data to test the model: too few items were clicked in several slots."
    if verdict == "exact":
        return (
            "fine",
            f"No misfit found: over {test.pairs:,} pairs of slot and item, clicks differ only by chance.",
        )
    off = f"beyond chance, the clicks of a pair of slot and item are off by typically {100 * test.excess:.0f} %"
    if verdict == "poor":
        return (
            "look",
            f"The model does not fit well: {off}. Do not rely on the sizes of attractiveness and position bias.",
        )
    return "fine", f"The model fits roughly: {off}. Intervals are somewhat too narrow."
