"""Partial pooling of placements, with a shared or a separate position bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from slotwise.core import validation
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray, IntArray
from slotwise.estimators.pooled.cell_prior import USUAL_SHAPE
from slotwise.estimators.pooled.pooled_errors import PooledErrors
from slotwise.estimators.pooled.pooled_fit import LearnedPriors, Pooled, learn
from slotwise.estimators.uncertainty.standard_errors import Counts
from slotwise.logs.fitting.holdout_split import PART, log_likelihood, split
from slotwise.logs.reading.feature_file import Row, encoded
from slotwise.posterior.hyperparameters import SEGMENT_SIMILARITY

#: one position bias for all placements, one for each, or the one that predicts better
Bias = Literal["shared", "own", "auto"]
BIASES: tuple[Bias, ...] = ("shared", "own", "auto")
#: how strongly a placement's own slots may be drawn to those of all: the shape of a Gamma distribution around them
STRENGTHS = (100.0, 30.0, 10.0, 3.0)
#: nats by which separate position biases have to predict better than a shared one
LEAD = 2.0
#: Newton steps that are enough to compare
STEPS = 5


@dataclass(frozen=True)
class BiasChoice:
    """How the bias of the placements was chosen."""

    #: None if all placements share their slots
    own: float | None
    #: impressions held out, and how much better own slots predict each of them than shared ones; 0 if not compared
    impressions: int = 0
    gain: float = 0.0
    #: whether the caller chose it
    is_given: bool = False

    def in_words(self, placements: int, what: str = "placement") -> str:
        """A sentence; empty for one placement."""
        if placements < 2:
            return ""
        claim = f"All {what}s share one position bias" if self.own is None else f"Each {what} has its own position bias"
        if self.is_given:
            return f"{claim}, as requested."
        if not self.impressions:
            return f"{claim}: there are too few impressions to hold any out and compare."
        why = "no worse" if self.own is None else "better"
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
    (None, [[1.0, 0.7], [1.0, 0.7]])
    """
    validation.one_of("bias", bias, BIASES)
    items, names = numbered(item_ids, within)
    by_item = None if features is None else encoded(features, names)
    choice = chosen or BiasChoice(None, is_given=bias != "auto" or position_bias is not None)
    if chosen is None and len(seen) > 1 and position_bias is None and bias != "shared":
        choice = _chosen(lists, items, by_item, bias, seed)
    shape = USUAL_SHAPE if within is None else SEGMENT_SIMILARITY
    learned = learn(seen, items, features=by_item, position_bias=position_bias, usual_shape=shape)
    return learned.pooled(choice.own), choice


def _chosen(
    lists: Sequence[Rankings], items: Sequence[IntArray], features: FloatArray | None, bias: Bias, seed: int
) -> BiasChoice:
    """The best of the strengths, or none of them, on impressions held out."""
    rng = np.random.default_rng(seed)
    parts = [split(rankings, PART, rng) for rankings in lists]
    kept_out, training = [rankings for rankings, _ in parts], [two for _, two in parts]
    total = sum(rankings.rounds for rankings in kept_out)
    learned = learn(training, items, features=features, roughly=True)
    best: float | None = None
    gain, started = -math.inf, dict[int, PooledErrors | None]()
    for own in STRENGTHS:
        strength_gain = _gain(learned, own, kept_out, started)
        # the weaker, the better, up to some strength, and from there on worse
        if strength_gain <= gain:
            break
        best, gain = own, strength_gain
    if bias == "own":
        return BiasChoice(best, is_given=True)
    return BiasChoice(best if gain > LEAD else None, total, gain / max(1, total))


def _gain(
    learned: LearnedPriors, own: float, kept_out: Sequence[Rankings], started: dict[int, PooledErrors | None]
) -> float:
    """How much likelier placements' own slots make the impressions held out than those that all share."""
    together, gain = learned.together, 0.0
    for number, held_out in enumerate(kept_out):
        if (number in started and started[number] is None) or not held_out.rounds:
            continue
        alone = started[number] = learned.alone(number, own, started.get(number), STEPS)
        if alone is not None:
            shared = (
                together.position_bias[: held_out.slots],
                together.attractiveness[together.cells.of_placement(number)],
            )
            gain += log_likelihood(held_out, np.outer(alone.position_bias, alone.attractiveness))
            gain -= log_likelihood(held_out, np.outer(*shared))
    return gain
