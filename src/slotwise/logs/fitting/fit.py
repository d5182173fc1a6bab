"""One placement of a click log, fitted: what its slots and items are worth, and what slotwise would show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.belief import Posterior, best_list, posterior
from slotwise.choice import MNL
from slotwise.errors import InvalidInput
from slotwise.estimate import ESTIMATORS, Estimate
from slotwise.estimate.intervals import EstimateIntervals
from slotwise.estimate.odds import expected
from slotwise.estimate.pooled import POOLED
from slotwise.estimate.pooled.fit import pool
from slotwise.frames import frame
from slotwise.logs.fitting.click_rate import expected_rate
from slotwise.logs.fitting.inverse_propensity import Logged
from slotwise.logs.fitting.recommendation import FEW_SHOWINGS, Recommendation
from slotwise.rankings import Rankings
from slotwise.tally import Tally
from slotwise.typing import EMPTY, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from slotwise.logs.counting.cleaning_rules import MultiClick
    from slotwise.logs.counting.tallies import LogTally
    from slotwise.logs.fitting.by_rule import Answer
    from slotwise.logs.fitting.changes import Changes

LEVEL = 0.95
AS_GOOD_AS_INFINITE = 1e9


@dataclass(frozen=True, eq=False)
class Fit:
    """Attractiveness and position bias of one placement, with what they were estimated from."""

    #: None if the log has only one
    placement: str | None
    item_ids: tuple[str, ...]
    tally: Tally
    #: slots × items: impressions in which the item stood in the slot, whatever was clicked
    showings: IntArray
    estimate: Estimate
    #: `slotwise.estimate.pooled.POOLED`, or a key of `slotwise.estimate.ESTIMATORS`
    estimator: str
    #: whole lists, of all impressions or of a random sample
    rankings: Rankings | None
    #: found in the log; counted without a click; with clicks on several items
    impressions: int
    no_click: int
    multi_click: int
    #: of all counted impressions
    log_likelihood: float | None
    #: what was cleaned: by a rule's name, how many rows or impressions it applied to
    cleaning: Mapping[str, int] = field(default_factory=dict)
    #: whether `rankings` are only a sample of the impressions
    sampled: bool = False
    #: how many impressions are in the tally, if not all
    counted: int | None = None
    #: how many impressions of the log had a click, whether they could be counted or not
    clicked: int | None = None
    #: impressions with the probability of their lists, where the log has it
    logged: Logged | None = None
    #: the parts that the log compares with each other, for each slot and item; None if they are those of the estimate
    parts: tuple[IntArray, IntArray] | None = None
    #: what is believed of an item that was never seen; None if the estimator has no such belief
    unseen: float | None = None
    #: in a sentence, whether placements share what their slots are worth; empty if there is only one
    shared_slots: str = ""
    #: of a segment's own fit, the values of its columns
    segment: tuple[str, ...] = ()
    #: by name, the segments of this placement, pooled as far as the data say; empty if none were asked for
    segments: Mapping[str, Fit] = field(default_factory=dict)
    #: how much the attractiveness of an item differs between segments: the standard deviation of its logarithm
    segment_spread: float | None = None
    #: what happened over time; None if the log's times were not given
    changes: Changes | None = None
    #: what was counted, with the number of its period; all of it is of one where the log's times were not given
    by_period: Sequence[tuple[int, LogTally]] = ()
    #: which of several clicks counts, whether their order is known, and what each rule would make of the answer
    rule: MultiClick | None = None
    ordered: bool = False
    by_rule: Mapping[MultiClick, Answer] = field(default_factory=dict)

    @classmethod
    def of_rankings(
        cls,
        rankings: Rankings,
        *,
        item_ids: Iterable[str] | None = None,
        estimator: str = POOLED,
        placement: str | None = None,
    ) -> Fit:
        """Fit whole lists that are already in memory.

        >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
        >>> fit = Fit.of_rankings(seen, item_ids=["tea", "coffee"])
        >>> fit.to_json()["items"]["tea"]["clicks"], fit.best().items
        (38, ('tea', 'coffee'))
        """
        ids = tuple(map(str, range(rankings.items))) if item_ids is None else tuple(item_ids)
        if len(ids) != rankings.items:
            raise InvalidInput(f"item_ids must have one entry per item, {rankings.items}, got {len(ids)}")
        parts, unseen = None, None
        if estimator == POOLED:
            found = pool([rankings])
            (estimate,), (parts,), (unseen,) = found.estimates, found.parts, found.unseen
        else:
            estimate = ESTIMATORS[estimator](rankings)
        fit = cls(
            placement=placement,
            item_ids=ids,
            tally=rankings.tally,
            showings=rankings.showings,
            estimate=estimate,
            estimator=estimator,
            rankings=rankings,
            impressions=rankings.rounds,
            no_click=int(rankings.passes.sum()),
            multi_click=0,
            log_likelihood=None,
            parts=parts,
            unseen=unseen,
        )
        alpha, bias = fit.likelihood_factors()
        return replace(fit, log_likelihood=expected(rankings, np.outer(bias, alpha)).log_likelihood)

    @property
    def slots(self) -> int:
        """The number of slots, K."""
        return self.tally.slots

    @property
    def click_rate(self) -> float:
        """The share of the counted impressions that had a click."""
        return 1.0 - self.no_click / self.counted_impressions if self.counted_impressions else math.nan

    @property
    def click_rate_of_log(self) -> float:
        """The share of all impressions of the log that had a click, also of those that could not be counted."""
        return self.click_rate if self.clicked is None else self.clicked / self.impressions

    @property
    def counted_impressions(self) -> int:
        """The number of impressions in the tally."""
        return self.impressions if self.counted is None else self.counted

    @cached_property
    def intervals(self) -> EstimateIntervals:
        """Those that are reported, at 95 %."""
        return self.estimate.intervals(LEVEL)

    @cached_property
    def posterior(self) -> Posterior:
        """What is believed given the tally, as a ranker or a service with the same counts believes it."""
        return posterior(self.tally)

    @property
    def shrunken(self) -> Estimate:
        """The estimate with a prior learned from all items: positive and finite for every one, whatever its clicks.

        What is shown or simulated is decided on this: of many items, the one with the highest estimate is too often one
        that was seen a few times and clicked by luck. The pooled estimate is such a one; beside others it is what a
        ranker or a service with the same counts believes.
        """
        return self.estimate if self.estimator == POOLED else self.posterior.estimate

    @property
    def unseen_attractiveness(self) -> float:
        """What is believed of an item that was never seen."""
        if self.unseen is not None:
            return self.unseen
        prior = self.posterior.prior
        return float(np.mean(prior.shape) / np.mean(prior.rate))

    @property
    def compared(self) -> tuple[IntArray, IntArray]:
        """The parts that the log itself compares with each other, whatever a prior adds: for each slot and item."""
        return self.estimate.parts if self.parts is None else self.parts

    @property
    def slots_comparable(self) -> bool:
        """Whether all slots that were clicked can be compared with each other: where not, the best list is a guess."""
        return len(set(self.compared[0][self.tally.clicks.any(axis=1)].tolist())) <= 1

    @property
    def odds(self) -> FloatArray:
        """γ of every pair, slots × items; with the learned prior where the estimate is infinite or 0 over 0."""
        alpha, bias = self.odds_factors()
        return np.asarray(np.outer(bias, alpha))

    def likelihood_factors(self) -> tuple[FloatArray, FloatArray]:
        """α and λ at which the log is as likely as the estimate makes it.

        What is infinite is as good as that here, not what a prior would make of it: an item that never loses is clicked
        for certain.
        """
        alpha, bias = self.odds_factors()
        without_end = np.isinf(self.estimate.attractiveness)
        return np.where(without_end, AS_GOOD_AS_INFINITE * alpha, alpha), bias

    def odds_factors(self) -> tuple[FloatArray, FloatArray]:
        """α and λ, whose product is `odds`."""
        alpha, bias = self.estimate.attractiveness, self.estimate.position_bias
        if not (np.isfinite(alpha).all() and np.isfinite(bias).all()):
            alpha = np.where(np.isfinite(alpha), alpha, self.shrunken.attractiveness)
            bias = np.where(np.isfinite(bias), bias, self.shrunken.position_bias)
        return alpha, bias

    def model(self) -> MNL:
        """Users who choose as this fit says, for a simulation; with the learned prior."""
        return MNL(position_bias=self.shrunken.position_bias, attractiveness=self.shrunken.attractiveness)

    def best(self, level: float = LEVEL) -> Recommendation:
        """The k-th most attractive item in the slot of the k-th largest bias, after shrinking, and its click rate."""
        # a slot that never held anything may not exist, for all that the log says
        alpha, bias = self.shrunken.attractiveness, self.shrunken.position_bias
        ranking = best_list(alpha, bias, slots=self.showings.sum(axis=1) > 0)
        ids = tuple(None if item == EMPTY else self.item_ids[item] for item in ranking)
        used = np.flatnonzero(ranking != EMPTY)
        return Recommendation(
            ids,
            expected_rate(self.shrunken, ranking[None, :], np.ones(1), level),
            never_there=int((self.showings[used, ranking[used]] == 0).sum()),
            hardly_shown=int((self.showings[:, ranking[used]].sum(axis=0) < FEW_SHOWINGS).sum()),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; None for what is not finite."""
        names = ("attractiveness", "low", "high", "shown", "clicks")
        return {
            "impressions": self.impressions,
            "no_click": self.no_click,
            "multi_click": self.multi_click,
            "items": {id: dict(zip(names, row, strict=True)) for id, *row in self.item_rows()},
            "position_bias": [
                dict(zip(("slot", "estimate", "low", "high"), row, strict=False)) for row in self.slot_rows()
            ],
            "converged": self.estimate.converged,
            "identifiable": self.estimate.identifiable,
            "log_likelihood": None if self.log_likelihood is None else _plain(np.array([self.log_likelihood]))[0],
            "best": {**self.best().to_json(), "recommended": self.slots_comparable and bool(self.tally.clicks.any())},
            **({"segments": {name: one.to_json() for name, one in self.segments.items()}} if self.segments else {}),
            **({} if self.changes is None else {"changes": self.changes.to_json()}),
            **({"by_rule": {rule: one.to_json() for rule, one in self.by_rule.items()}} if self.by_rule else {}),
        }

    def items_frame(self) -> pd.DataFrame:
        """A data frame with a row per item: attractiveness, interval, shown, clicks."""
        return frame(self.item_columns())

    def slots_frame(self) -> pd.DataFrame:
        """A data frame with a row per slot: position bias, interval, shown, clicks."""
        return frame(self.slot_columns())

    def item_rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of `items_frame`."""
        return zip(*map(_plain, self.item_columns().values()), strict=True)

    def slot_rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows of `slots_frame`."""
        return zip(*map(_plain, self.slot_columns().values()), strict=True)

    def plot(self) -> Figure:
        """Position bias and attractiveness with their intervals."""
        from slotwise.logs.fitting.figures import overview

        return overview(self)

    def item_columns(self) -> dict[str, Any]:
        """The columns of `items_frame`, by name."""
        intervals = self.intervals.attractiveness
        return {
            "item": self.item_ids,
            "attractiveness": self.estimate.attractiveness,
            "low": intervals.low,
            "high": intervals.high,
            "shown": self.showings.sum(axis=0),
            "clicks": self.tally.clicks.sum(axis=0),
        }

    def slot_columns(self) -> dict[str, Any]:
        """The columns of `slots_frame`, by name."""
        intervals = self.intervals.position_bias
        return {
            "slot": np.arange(1, self.slots + 1),
            "position_bias": self.estimate.position_bias,
            "low": intervals.low,
            "high": intervals.high,
            "shown": self.showings.sum(axis=1),
            "clicks": self.tally.clicks.sum(axis=1),
        }


def as_json(fits: Iterable[Fit]) -> dict[str, Any]:
    """One object for one placement; by placement when there are several."""
    every = list(fits)
    if len(every) == 1 and every[0].placement is None:
        return every[0].to_json()
    return {"placements": {str(fit.placement): fit.to_json() for fit in every}}


def _plain(values: Any) -> list[Any]:
    """Values that JSON can hold: None for what is not finite."""
    if not isinstance(values, np.ndarray):
        return list(values)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return list(values.tolist())
    return [value if math.isfinite(value) else None for value in values.tolist()]
