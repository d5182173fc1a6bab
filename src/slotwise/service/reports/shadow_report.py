"""The report of shadow mode: the list that would be shown, and its expected value."""

from __future__ import annotations

from typing import Final

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.ranker import Learner
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import Expectation, ShadowDocument

#: percentiles of the 95 % credible interval
ENDS: Final = (2.5, 97.5)


def shadow_report(definition: PlacementDefinition, learner: Learner, segment: int | None) -> ShadowDocument | None:
    """The best list compared with the control order, under the posterior; None unless the mode is `shadow`."""
    if definition.mode != "shadow":
        return None
    best, control = learner.best_list(segment), [item.id for item in definition.items[: definition.slots]]
    of_best, of_control = learner.list_values([best, control], segment)
    has_values = len(set(learner.values.values())) > 1
    return {
        "would_show": list(best),
        "shows": control,
        "measure": "value" if has_values else "click_rate",
        "would_bring": _expected(of_best),
        "brings": _expected(of_control),
        "difference": _expected(of_best - of_control),
    }


def _expected(draws: FloatArray) -> Expectation:
    low, high = np.percentile(draws, ENDS).tolist()
    return {"estimate": float(draws.mean()), "low": low, "high": high}
