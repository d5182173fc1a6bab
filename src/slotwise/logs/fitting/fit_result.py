"""One placement of a click log, fitted: what its slots and items are worth, and what slotwise would show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.click_models import MNL
from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.io import frame
from slotwise.core.rankings import Rankings
from slotwise.core.result_tables import TABLES, Table, plain, text_table
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.estimators import ESTIMATORS, Estimate
from slotwise.estimators.likelihoods.list_likelihood import expected
from slotwise.estimators.pooled import POOLED
from slotwise.estimators.pooled.pooled_fit import pool
from slotwise.estimators.uncertainty.intervals import EstimateIntervals
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impressions import Impressions
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.fitting.click_rate import LEVEL, UNKNOWN, expected_rate
from slotwise.logs.fitting.filled_slots import FilledSlots
from slotwise.logs.fitting.recommendation import (
    FEW_SHOWINGS,
    Recommend,
    Recommendation,
    RuleOutcome,
    ShownItem,
    why_withheld,
)
from slotwise.logs.fitting.time_drift import TimeDrift
from slotwise.posterior import Posterior, best_list, fit_posterior

if TYPE_CHECKING:
    import pandas as pd

AS_GOOD_AS_INFINITE = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Attractiveness and position bias of one placement, with what they were estimated from.

    Parameters
    ----------
    tally
        Clicks, passes and showings by slot and item, and the counts of impressions.
    estimate
        Attractiveness and position bias, with their uncertainty.
    estimator
        `slotwise.estimators.pooled.POOLED`, or a key of `slotwise.estimators.ESTIMATORS`.
    rankings
        Whole lists, of all impressions or of a random sample.
    sample
        The impressions of `rankings` one by one, if they come from a log.
    sampled
        Whether `rankings` are only a sample of the impressions.
    log_likelihood
        The log-likelihood of all counted impressions.
    logged
        Impressions with the probability of their lists, if the log has it.
    parts
        The parts that the log compares with each other, for each slot and item; None if they are those of the
        estimate.
    unseen
        The estimated attractiveness of an item that was never shown; None if the estimator has none.
    shared_slots
        A sentence on whether placements share one position bias; empty for a single placement.
    segment
        The values of the segment's columns, in the fit of a segment.
    segments
        The fits of the segments of this placement by name, partially pooled.
    segment_spread
        The standard deviation of an item's log attractiveness between segments.
    changes
        Drift over time; None if the log's times were not given.
    by_period
        The tallies of each period, with its number; a single period if the log's times were not given.
    by_rule
        The recommended list under each rule for several clicks.
    recommend
        "always" to recommend a list even if more than a tenth of the log is left out.
    """

    tally: LogTally
    estimate: Estimate
    estimator: str
    rankings: Rankings | None = None
    sample: Impressions | None = None
    sampled: bool = False
    log_likelihood: float | None = None
    logged: LoggedPropensities | None = None
    parts: tuple[IntArray, IntArray] | None = None
    unseen: float | None = None
    shared_slots: str = ""
    segment: tuple[str, ...] = ()
    segments: Mapping[str, Fit] = field(default_factory=dict)
    segment_spread: float | None = None
    changes: TimeDrift | None = None
    by_period: Sequence[tuple[int, LogTally]] = ()
    by_rule: Mapping[MultiClick, RuleOutcome] = field(default_factory=dict)
    recommend: Recommend = "auto"

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
        >>> fit
        Fit(slots=2, items=2, impressions=171, click_rate=0.415, estimator='pooled')
        >>> fit.to_dict()["items"]["tea"]["clicks"], fit.best().items
        (38, ('tea', 'coffee'))
        """
        ids = tuple(map(str, range(rankings.items))) if item_ids is None else tuple(item_ids)
        if len(ids) != rankings.items:
            raise InvalidInput(f"item_ids must have one entry per item, {rankings.items}, got {len(ids)}")
        parts, unseen = None, None
        if estimator == POOLED:
            pooled = pool([rankings])
            (estimate,), (parts,), (unseen,) = pooled.estimates, pooled.parts, pooled.unseen
        else:
            estimate = ESTIMATORS[estimator](rankings)
        counts = LogTally(
            clicks=rankings.tally.clicks,
            passes=rankings.tally.passes,
            item_ids=ids,
            showings=rankings.showings,
            placement=placement,
            impressions=rankings.rounds,
            clicked=int(rankings.clicks.sum()),
            counted=rankings.rounds,
            no_click=int(rankings.passes.sum()),
            multi_click=0,
            cleaning={},
            rule="drop",
            ordered=False,
        )
        fit = cls(counts, estimate, estimator, rankings, parts=parts, unseen=unseen)
        alpha, bias = fit.likelihood_factors()
        return replace(fit, log_likelihood=expected(rankings, np.outer(bias, alpha)).log_likelihood)

    @property
    def placement(self) -> str | None:
        """The name of the placement; None if the log has only one."""
        return self.tally.placement

    @property
    def item_ids(self) -> tuple[str, ...]:
        """The ids of the items, in the order of every array by item."""
        return self.tally.item_ids

    @property
    def impressions(self) -> int:
        """The number of impressions in the log, counted or not."""
        return self.tally.impressions

    @property
    def slots(self) -> int:
        """The number of slots, K."""
        return self.tally.slots

    @property
    def click_rate(self) -> float:
        """The share of the counted impressions that had a click."""
        return 1.0 - self.tally.no_click / self.tally.counted if self.tally.counted else math.nan

    @property
    def click_rate_of_log(self) -> float:
        """The share of all impressions of the log that had a click, counted or not."""
        return self.tally.clicked / self.impressions if self.impressions else math.nan

    @cached_property
    def withheld(self) -> str:
        """Why no list is recommended and no verdict on the model given, as a clause; empty if there is no reason."""
        return "" if self.recommend == "always" else why_withheld(self.tally)

    @cached_property
    def filled(self) -> FilledSlots:
        """The slots that the counted impressions fill."""
        return FilledSlots.of(self.tally, self.rankings)

    @cached_property
    def intervals(self) -> EstimateIntervals:
        """Those that are reported, at 95 %."""
        return self.estimate.intervals(LEVEL)

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior given the tally, as a ranker or a service with the same counts has it."""
        return fit_posterior(self.tally)

    @property
    def shrunken(self) -> Estimate:
        """The estimate with a prior learned from all items: positive and finite for every one.

        Lists are chosen by this estimate: of many items, the one with the highest raw estimate is too often one
        that was shown a few times and clicked by luck. The pooled estimate is shrunk; for other estimators it is the
        posterior of a ranker or a service with the same counts.
        """
        return self.estimate if self.estimator == POOLED else self.posterior.estimate

    @property
    def unseen_attractiveness(self) -> float:
        """The expected attractiveness of an item that was never shown."""
        if self.unseen is not None:
            return self.unseen
        prior = self.posterior.prior
        return float(np.mean(prior.shape) / np.mean(prior.rate))

    @property
    def compared(self) -> tuple[IntArray, IntArray]:
        """The parts that the log itself compares with each other, without the prior: for each slot and item."""
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

        An infinite estimate stays practically infinite, without a prior: an item that never loses is clicked
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
        """Return users who choose by this fit, for a simulation; with the learned prior."""
        return MNL(position_bias=self.shrunken.position_bias, attractiveness=self.shrunken.attractiveness)

    @property
    def shown_now(self) -> list[ShownItem]:
        """The item that was shown most in each slot of the log."""
        counts, counted = self.tally.showings, max(1, self.tally.counted)
        return [
            ShownItem(self.item_ids[item] if row[item] else None, float(row[item] / counted))
            for row, item in zip(counts, counts.argmax(axis=1).tolist(), strict=True)
        ]

    def best(self, level: float = LEVEL) -> Recommendation:
        """The k-th most attractive item in the slot of the k-th largest bias, after shrinking, and its click rate.

        Raises `InvalidInput` if the recommendation is `withheld`.
        """
        if self.withheld:
            raise InvalidInput(f"nothing is recommended: {self.withheld}; recommend='always' recommends a list anyway")
        # a slot that never held anything may not exist
        alpha, bias = self.shrunken.attractiveness, self.shrunken.position_bias
        ranking = best_list(alpha, bias, slots=self.tally.showings.sum(axis=1) > 0)
        ids = tuple(None if item == EMPTY else self.item_ids[item] for item in ranking)
        used = np.flatnonzero(ranking != EMPTY)
        whole = ranking[None, :], np.ones(1)
        rate = all_slots = expected_rate(self.shrunken, *whole, level)
        if self.filled.is_partial:
            as_filled = self.filled.fill(*whole)
            rate = UNKNOWN if as_filled is None else expected_rate(self.shrunken, *as_filled, level)
        return Recommendation(
            ids,
            rate,
            all_slots,
            self.filled,
            never_there=int((self.tally.showings[used, ranking[used]] == 0).sum()),
            hardly_shown=int((self.tally.showings[:, ranking[used]].sum(axis=0) < FEW_SHOWINGS).sum()),
        )

    def columns(self, table: Table) -> dict[str, Any]:
        """Return the columns of `to_frame`, by name."""
        of_items = table == "items"
        intervals = self.intervals.attractiveness if of_items else self.intervals.position_bias
        counts = {
            "shown": self.tally.showings.sum(axis=0 if of_items else 1),
            "clicks": self.tally.clicks.sum(axis=0 if of_items else 1),
        }
        limits = {"low": intervals.low, "high": intervals.high}
        if of_items:
            return {"item": self.item_ids, "attractiveness": self.estimate.attractiveness, **limits, **counts}
        slots = np.arange(1, self.slots + 1)
        return {"slot": slots, "position_bias": self.estimate.position_bias, **limits, **counts}

    def rows(self, table: Table) -> Iterator[tuple[Any, ...]]:
        """Return the rows of `to_frame` as plain values; None for a number that is not finite."""
        return zip(*map(plain, self.columns(table).values()), strict=True)

    def to_frame(self, table: Table = "items") -> pd.DataFrame:
        """Return a data frame with a row per item or slot: estimate, 95 % interval, times shown, clicks."""
        validation.one_of("table", table, TABLES)
        return frame(self.columns(table))

    def summary(self) -> str:
        """Return the counts, the recommended list and the estimates of slots and items as text."""
        lines = [repr(self)]
        if self.withheld:
            lines.append(f"recommended: nothing. {self.withheld}")
        else:
            best = self.best()
            lines.append(
                f"recommended: {', '.join(item or '-' for item in best.items)}; click rate {best.rate.click_rate:.3g}, "
                f"95 % interval {best.rate.low:.3g} to {best.rate.high:.3g}"
            )
        lines += [f"\n{text_table(self.columns(table))}" for table in TABLES]
        return "\n".join(lines)

    def __repr__(self) -> str:
        placement = "" if self.placement is None else f"placement={self.placement!r}, "
        return (
            f"Fit({placement}slots={self.slots}, items={len(self.item_ids)}, impressions={self.impressions:,}, "
            f"click_rate={self.click_rate:.3g}, estimator={self.estimator!r})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers; None for a number that is not finite."""
        names = ("attractiveness", "low", "high", "shown", "clicks")
        return {
            "impressions": self.impressions,
            "no_click": self.tally.no_click,
            "multi_click": self.tally.multi_click,
            "items": {id: dict(zip(names, row, strict=True)) for id, *row in self.rows("items")},
            "position_bias": [
                dict(zip(("slot", "estimate", "low", "high"), row, strict=False)) for row in self.rows("slots")
            ],
            "converged": self.estimate.converged,
            "identifiable": self.estimate.identifiable,
            "log_likelihood": None if self.log_likelihood is None else plain(np.array([self.log_likelihood]))[0],
            "shown_now": [shown._asdict() for shown in self.shown_now],
            "best": self._best_to_dict(),
            **({"segments": {name: part.to_dict() for name, part in self.segments.items()}} if self.segments else {}),
            **({} if self.changes is None else {"changes": self.changes.to_dict()}),
            **({"by_rule": {rule: part.to_dict() for rule, part in self.by_rule.items()}} if self.by_rule else {}),
        }

    def _best_to_dict(self) -> dict[str, Any]:
        if self.withheld:
            return {"recommended": False, "withheld": self.withheld}
        return {**self.best().to_dict(), "recommended": self.slots_comparable and bool(self.tally.clicks.any())}


def fits_to_dict(fits: Iterable[Fit]) -> dict[str, Any]:
    """Return the dictionary of a single fit, or dictionaries by placement."""
    every = list(fits)
    if len(every) == 1 and every[0].placement is None:
        return every[0].to_dict()
    return {"placements": {str(fit.placement): fit.to_dict() for fit in every}}
