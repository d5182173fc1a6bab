"""What a placement in the shadow would show, and what that would bring."""

from __future__ import annotations

from typing import Final

import numpy as np

from slotwise.core.types import FloatArray
from slotwise.ranker import Learner
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.report_schemas import Expectation, ShadowDocument

#: percentiles, of an interval that holds the truth with a probability of 95 %
ENDS: Final = (2.5, 97.5)


def in_the_shadow(definition: PlacementDefinition, learner: Learner, segment: int | None) -> ShadowDocument | None:
    """The best list beside the items as given, by what is believed; None where what is shown is learned."""
    if definition.mode != "shadow":
        return None
    would, given = learner.best_list(segment), [item.id for item in definition.items[: definition.slots]]
    of_best, of_given = learner.list_values([would, given], segment)
    has_values = len(set(learner.values.values())) > 1
    return {
        "would_show": list(would),
        "shows": given,
        "measure": "value" if has_values else "click_rate",
        "would_bring": _expected(of_best),
        "brings": _expected(of_given),
        "difference": _expected(of_best - of_given),
    }


def _expected(drawn: FloatArray) -> Expectation:
    low, high = np.percentile(drawn, ENDS).tolist()
    return {"estimate": float(drawn.mean()), "low": low, "high": high}
