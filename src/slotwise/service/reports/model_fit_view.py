"""Clicks per slot of a placement, against the estimates.

Given the passes of an item in a slot, its clicks there have the mean γ·passes, γ = λ_kα_j, for any lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.service.schemas.report_schemas import EstimatesDocument


class ModelFit(NamedTuple):
    """Shows, clicks and fitted clicks per slot."""

    shown: list[int]
    clicks: list[int]
    fitted: list[float]


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
    expected = np.outer(bias, alpha) * passes
    retired = all_clicks.sum(axis=1) - clicks.sum(axis=1)
    return ModelFit(
        shown[:slots],
        [int(count) for count in all_clicks.sum(axis=1)],
        [float(count) for count in expected.sum(axis=1) + retired],
    )
