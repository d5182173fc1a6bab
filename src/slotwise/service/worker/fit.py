"""Does the model fit: clicks by slot, and by slot and item, against what is believed of slots and items.

Given the passes of an item in a slot, its clicks there are λ_kα_j times as many on average and vary like
γ·passes·(1 + γ), whichever lists were shown. The estimates make the clicks of every slot and item nearly what was
observed. What can fail is that a slot multiplies the attractiveness of every item by the same factor: that shows in the
pairs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from slotwise.service.worker.documents import EstimatesDocument
from slotwise.service.worker.overview_documents import Level
from slotwise.typing import FloatArray

#: pairs with fewer expected clicks are not compared
FEWEST_EXPECTED: Final = 5.0
#: below this p-value, chance is no explanation
BY_CHANCE: Final = 0.001
#: by how much clicks of a pair are off, beyond chance, before somebody should know
ROUGH: Final = 0.25


class Fit(NamedTuple):
    """Per slot how often it was filled, its clicks and the fitted ones; and what the pairs say."""

    shown: list[int]
    clicks: list[int]
    fitted: list[float]
    level: Level
    sentence: str


def fit(found: EstimatesDocument, shown: list[int]) -> Fit:
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
    return Fit(
        shown[:slots],
        [int(count) for count in every.sum(axis=1)],
        [float(count) for count in expected.sum(axis=1) + retired],
        level,
        sentence,
    )


def _judged(clicks: FloatArray, expected: FloatArray, gamma: FloatArray) -> tuple[Level, str]:
    # here, for it takes a while to import, and a worker that decides does not need it; `scipy.stats` takes a second
    from scipy.special import chdtrc

    tested = expected >= FEWEST_EXPECTED
    pairs = int(tested.sum())
    # one number is fitted to each item and to each slot but one
    degrees = pairs - int(tested.any(axis=0).sum()) - int(tested.any(axis=1).sum()) + 1
    if not pairs or degrees < 1:
        return "unknown", "Whether the model fits cannot be told yet: too few items were clicked in several slots."
    variance = expected[tested] * (1.0 + gamma[tested])
    chi_square = float(((clicks[tested] - expected[tested]) ** 2 / variance).sum())
    if float(chdtrc(degrees, chi_square)) > BY_CHANCE:
        return "fine", f"The model fits: over {pairs:,} pairs of slot and item, clicks differ by no more than chance."
    beyond = max(0.0, chi_square * pairs / degrees - pairs)
    excess = float(np.sqrt(beyond / (expected[tested] ** 2 / variance).sum()))
    off = f"beyond chance, the clicks of a pair of slot and item are off by typically {100 * excess:.0f} %"
    if excess < ROUGH:
        return "fine", f"The model fits roughly: {off}. Intervals are somewhat too narrow."
    return "look", f"The model does not fit well: {off}. Do not rely on the sizes of attractiveness and position bias."
