"""Does the model fit: it does where clicks follow it, and does not where a slot favours some items."""

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


def document(gamma: FloatArray, passes: int = PASSES, seed: int = 1) -> EstimatesDocument:
    """What is counted follows `gamma`; what is believed is fitted to it."""
    clicks = np.random.default_rng(seed).negative_binomial(passes, 1.0 / (1.0 + gamma)) if passes else gamma * 0
    tally = Tally(clicks.astype(np.int64), np.full(gamma.shape, passes))
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


def test_the_model_fits_where_clicks_follow_it() -> None:
    # wrong with a probability of 0.001 each: more than 2 of 40 with one of 1e-5
    judged = [fit(document(np.outer(BIAS, ALPHA), seed=seed), [1] * 3) for seed in range(40)]
    assert sum("only by chance" not in found.sentence for found in judged) <= 2


def test_clicks_by_slot_match_the_tally_and_the_model() -> None:
    found = document(np.outer(BIAS, ALPHA))
    fitted = fit(found, [10_000] * 3)
    assert fitted.clicks == [sum(row) for row in found["tally"]["clicks"]]
    # the bias is fitted to the clicks of each slot
    assert fitted.fitted == pytest.approx(fitted.clicks, rel=0.03)


def test_a_slot_that_favours_some_items_is_noticed() -> None:
    gamma = np.outer(BIAS, ALPHA)
    gamma[1] *= [2.0, 0.4, 2.0, 0.4, 1.0]
    found = fit(document(gamma), [1] * 3)
    assert found.level == "look"
    assert "does not fit well" in found.sentence


def test_a_slight_misfit_is_reported_without_an_alarm() -> None:
    gamma = np.outer(BIAS, ALPHA)
    gamma[1] *= [1.1, 0.9, 1.1, 0.9, 1.0]
    found = fit(document(gamma, passes=200_000), [1] * 3)
    assert found.level == "fine"
    assert "roughly" in found.sentence


def test_without_clicks_the_fit_is_unknown() -> None:
    assert fit(document(np.outer(BIAS, ALPHA), passes=0), [0] * 3).level == "unknown"
