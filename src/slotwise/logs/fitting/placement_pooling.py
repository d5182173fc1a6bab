"""Partial pooling of placements, with a shared or a separate position bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from slotwise.core import validation
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.pooled.cell_prior import USUAL_SHAPE
from slotwise.estimators.pooled.pooled_fit import Pooled, learn
from slotwise.estimators.uncertainty.standard_errors import Counts
from slotwise.logs.fitting.holdout_split import PART, log_likelihood, split
from slotwise.logs.reading.feature_file import Row, encoded
from slotwise.posterior.hyperparameters import SEGMENT_SIMILARITY

#: one position bias for all placements, one for each, or the one that predicts better
Bias = Literal["shared", "own", "auto"]
BIASES: tuple[Bias, ...] = ("shared", "own", "auto")
#: placements at most whose own position biases are compared with a shared one
MAX_COMPARED = 2_000


@dataclass(frozen=True)
class BiasChoice:
    """How the bias of the placements was chosen."""

    #: whether each placement has its own slots
    own: bool
    #: impressions held out, and how much better own slots predict each of them than shared ones; 0 if not compared
    impressions: int = 0
    gain: float = 0.0
    #: whether the caller chose it
    is_given: bool = False

    def in_words(self, placements: int, what: str = "placement") -> str:
        """A sentence; empty for one placement."""
        if placements < 2:
            return ""
        claim = f"Each {what} has its own position bias" if self.own else f"All {what}s share one position bias"
        if self.is_given:
            return f"{claim}, as requested."
        if not self.impressions:
            if placements > MAX_COMPARED:
                return f"{claim}: with more than {MAX_COMPARED:,} {what}s, the two are not compared."
            return f"{claim}: there are too few impressions to hold any out and compare."
        why = "better" if self.own else "no worse"
        return f"{claim}: that predicts clicks {why}, on {self.impressions:,} impressions held out."


def numbered(
    item_ids: Sequence[Sequence[str]], within: Sequence[int] | None = None
) -> tuple[list[IntArray], list[str]]:
    """The items of each placement, numbered across those that are `within` the same, and their names.

    >>> numbered([["a", "b"], ["b", "c"]])
    ([array([0, 1]), array([1, 2])], ['a', 'b', 'c'])
    """
    if len(item_ids) == 1:
        return [np.arange(len(item_ids[0]))], list(item_ids[0])
    numbers: dict[tuple[int, str], int] = {}
    groups = within or [0] * len(item_ids)
    coded = [
        np.array([numbers.setdefault((group, id), len(numbers)) for id in ids], np.int64)
        for group, ids in zip(groups, item_ids, strict=True)
    ]
    return coded, [id for _, id in numbers]


def pool_placements(
    seen: Sequence[Counts],
    lists: Sequence[Rankings],
    item_ids: Sequence[Sequence[str]],
    *,
    bias: Bias = "auto",
    position_bias: FloatArray | None = None,
    features: Mapping[str, Row] | None = None,
    within: Sequence[int] | None = None,
    chosen: BiasChoice | None = None,
    seed: int = 0,
) -> tuple[Pooled, BiasChoice]:
    """Fit the counts of every placement; `lists`, all or a sample, decide whether they share one position bias.

    If placements are segments, `within` has the page of each: items of the same name are one item within a page, and
    segments are assumed to be similar, as in a service. With `chosen`, the bias is as it was chosen before.

    >>> shop = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> found, choice = pool_placements([shop, shop], [shop, shop], [["a", "b"], ["a", "b"]])
    >>> choice.own, [estimate.position_bias.round(1).tolist() for estimate in found.estimates]
    (False, [[1.0, 0.7], [1.0, 0.7]])
    """
    validation.one_of("bias", bias, BIASES)
    items, names = numbered(item_ids, within)
    by_item = None if features is None else encoded(features, names)
    choice = chosen or BiasChoice(bias == "own", is_given=bias != "auto" or position_bias is not None)
    if chosen is None and 1 < len(seen) <= MAX_COMPARED and position_bias is None and bias == "auto":
        choice = _chosen(lists, items, by_item, seed)
    shape = USUAL_SHAPE if within is None else SEGMENT_SIMILARITY
    learned = learn(seen, items, features=by_item, position_bias=position_bias, usual_shape=shape)
    return learned.pooled(own=choice.own), choice


def _chosen(lists: Sequence[Rankings], items: Sequence[IntArray], features: FloatArray | None, seed: int) -> BiasChoice:
    """Choose between own and shared slots by the likelihood of impressions held out."""
    rng = np.random.default_rng(seed)
    parts = [split(rankings, PART, rng) for rankings in lists]
    kept_out, training = [rankings for rankings, _ in parts], [two for _, two in parts]
    total = sum(rankings.rounds for rankings in kept_out)
    if max(rankings.slots for rankings in lists) == 1:
        return BiasChoice(False, total)
    learned = learn(training, items, features=features, roughly=True)
    own, together, gain = learned.own_slots, learned.together, 0.0
    for number, held_out in enumerate(kept_out):
        mine = own.cells.of_placement(number)
        for sign, bias, fit in ((1.0, np.exp(own.log_bias[number]), own), (-1.0, together.position_bias, together)):
            gain += sign * log_likelihood(held_out, np.outer(bias[: held_out.slots], fit.attractiveness[mine]))
    return BiasChoice(gain > 0.0, total, gain / max(1, total))
