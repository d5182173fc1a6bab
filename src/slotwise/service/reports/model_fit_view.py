"""Does the model fit: clicks by slot, and by slot and item, against what is believed of slots and items.

Given the passes of an item in a slot, its clicks there are λ_kα_j times as many on average and vary like
γ·passes·(1 + γ), whichever lists were shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.estimators.diagnostics import goodness_of_fit
from slotwise.service.schemas.overview_schemas import Level
from slotwise.service.schemas.report_schemas import EstimatesDocument


class ModelFit(NamedTuple):
    """Per slot how often it was filled, its clicks and the fitted ones; and what the pairs say."""

    shown: list[int]
    clicks: list[int]
    fitted: list[float]
    level: Level
    sentence: str


def fit(found: EstimatesDocument, shown: list[int]) -> ModelFit:
    """Compare what is believed with the tally that it rests on; `shown` says how often each slot was filled."""
    slots = len(found["position_bias"])
    numbers = {item: number for number, item in enumerate(found["tally"]["items"])}
    here = [numbers[item["id"]] for item in found["items"]]
    every, passed = (np.array(found["tally"][which], float)[:slots] for which in ("clicks", "passes"))
    # of retired items nothing is believed that is told here
    clicks, passes = every[:, here], passed[:, here]
    alpha = np.array([item["attractiveness"] for item in found["items"]])
    bias = np.array([slot["estimate"] for slot in found["position_bias"]])
    gamma = np.outer(bias, alpha)
    expected = gamma * passes
    level, sentence = _judged(clicks, expected, gamma)
    retired = every.sum(axis=1) - clicks.sum(axis=1)
    return ModelFit(
        shown[:slots],
        [int(count) for count in every.sum(axis=1)],
        [float(count) for count in expected.sum(axis=1) + retired],
        level,
        sentence,
    )


def _judged(clicks: FloatArray, expected: FloatArray, gamma: FloatArray) -> tuple[Level, str]:
    test = goodness_of_fit(clicks, expected, expected * (1.0 + gamma))
    verdict = test.verdict
    if verdict == "untestable":
        return "unknown", "Whether the model fits cannot be told yet: too few items were clicked in several slots."
    if verdict == "exact":
        return (
            "fine",
            f"The model fits: over {test.pairs:,} pairs of slot and item, clicks differ by no more than chance.",
        )
    off = f"beyond chance, the clicks of a pair of slot and item are off by typically {100 * test.excess:.0f} %"
    if verdict == "poor":
        return (
            "look",
            f"The model does not fit well: {off}. Do not rely on the sizes of attractiveness and position bias.",
        )
    return "fine", f"The model fits roughly: {off}. Intervals are somewhat too narrow."
