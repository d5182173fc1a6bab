"""Clicks by slot against those that the estimates expect."""

from __future__ import annotations

import numpy as np
import pytest

from slotwise.core.tally import Tally
from slotwise.core.types import FloatArray
from slotwise.posterior import fit_posterior
from slotwise.service.reports.model_fit_view import fit
from slotwise.service.schemas.report_schemas import EstimatesDocument

BIAS, ALPHA = np.array([1.0, 0.6, 0.3]), np.array([0.3, 0.2, 0.15, 0.1, 0.05])
PASSES = 2_000


def document(gamma: FloatArray) -> EstimatesDocument:
    """What is counted follows `gamma`; what is believed is fitted to it."""
    clicks = np.random.default_rng(1).negative_binomial(PASSES, 1.0 / (1.0 + gamma))
    tally = Tally(clicks.astype(np.int64), np.full(gamma.shape, PASSES))
    estimate = fit_posterior(tally).estimate
    items = [f"item {number}" for number in range(tally.items)]
    return {  # type: ignore[typeddict-item]
        "items": [
            {"id": item, "attractiveness": float(alpha)}
            for item, alpha in zip(items, estimate.attractiveness, strict=True)
        ],
        "position_bias": [{"slot": slot, "estimate": float(bias)} for slot, bias in enumerate(estimate.position_bias)],
        "tally": {"items": items, "clicks": tally.clicks.tolist(), "passes": tally.passes.tolist()},
    }


def test_clicks_by_slot_match_the_tally_and_the_model() -> None:
    found = document(np.outer(BIAS, ALPHA))
    fitted = fit(found, [10_000] * 3)
    assert fitted.clicks == [sum(row) for row in found["tally"]["clicks"]]
    # the bias is fitted to the clicks of each slot
    assert fitted.fitted == pytest.approx(fitted.clicks, rel=0.03)
