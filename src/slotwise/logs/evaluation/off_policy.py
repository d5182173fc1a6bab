"""Off-policy evaluation of a list, a mixture of lists or a policy: by the fitted model and by inverse propensity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.click_models import best_ranking, reward
from slotwise.core import validation
from slotwise.core.errors import InvalidInput, InvalidRanking, UnknownName
from slotwise.core.types import EMPTY, FloatArray, IntArray
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from slotwise.logs.evaluation.inverse_propensity import ByPropensity, inverse_propensity, warnings_of
from slotwise.logs.fitting.click_rate import LEVEL, Rate, around, expected_rate
from slotwise.logs.fitting.filled_slots import FilledSlots
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import against_observed, and_more, percent, with_interval

if TYPE_CHECKING:
    from slotwise.policies import PolicySpec

#: a policy is simulated from scratch: for this many rounds, this many times
ROUNDS, REPLICATIONS = 10_000, 8
#: an interval whose ends differ by more than this factor is too wide to be useful
TOO_WIDE = 3.0
LISTED = 3

#: ids from the first slot on, None where a slot is left empty
RankingOfIds = Sequence[str | None]


@dataclass(frozen=True)
class Evaluation:
    """The expected click rate, by each method, and the reasons not to rely on it."""

    by_model: Rate
    by_propensity: ByPropensity | None
    warnings: tuple[str, ...]
    level: float
    #: the click rate of the log itself, and of the impressions that were counted, and how many these are
    observed: float
    counted: float
    impressions: int
    filled: FilledSlots
    #: the estimate for the slots that impressions of the log fill, which compares with theirs; None if there is none
    as_filled: Rate | None = None

    @property
    def closest(self) -> Rate:
        """The estimate that takes least for granted, of those that there are."""
        return _closest(self.by_model, self.by_propensity)

    def in_words(self) -> str:
        """Whether that is more than the log had."""
        if math.isnan(self.closest.click_rate):
            return "Which click rate to expect? This log does not determine it."
        if self.as_filled is None:
            return (
                f"Which click rate to expect? A click in {with_interval(self.closest)} of impressions. Those of the "
                f"log fill {self.filled.in_words()}, and other slots than the target: the rates are not compared."
            )
        compared = against_observed(self.as_filled, self.counted, self.impressions)
        slots = (
            f" That is for impressions that fill {self.filled.in_words()}, as those of the log do."
            if self.filled.is_partial
            else ""
        )
        return f"Which click rate to expect? {compared}.{slots}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers; None for a number that is not finite."""
        weighted = self.by_propensity
        return {
            "by_model": self.by_model.to_dict(),
            "by_propensity": None
            if weighted is None
            else {
                "self_normalised": weighted.self_normalised.to_dict(),
                "plain": weighted.plain.to_dict(),
                "doubly_robust": weighted.doubly_robust and weighted.doubly_robust.to_dict(),
                "of": "items in slots" if weighted.by_item else "whole lists",
                "matching": weighted.matching,
                "effective_impressions": weighted.effective_impressions,
                "mean_weight": weighted.mean_weight,
            },
            **({"in_filled_slots": self.as_filled and self.as_filled.to_dict()} if self.filled.is_partial else {}),
            "observed": _number(self.observed),
            "observed_in_counted": _number(self.counted),
            "level": self.level,
            "warnings": list(self.warnings),
        }


def evaluate(
    fit: Fit,
    target: RankingOfIds | Mapping[tuple[str | None, ...], float] | str | PolicySpec,
    *,
    propensities: LoggedPropensities | None = None,
    level: float = LEVEL,
    rounds: int = ROUNDS,
    replications: int = REPLICATIONS,
    seed: int = 0,
) -> Evaluation:
    """Return the expected click rate of a ranking, of a mixture of rankings, or of a policy.

    Parameters
    ----------
    fit
        A fitted placement.
    target
        Ids from the first slot on, the remaining slots are empty; or a mixture (ranking: probability); or the id of a
        policy, which is simulated from scratch on users who choose by the fitted model.
    propensities
        The logged propensities, `fit.logged`, for inverse propensity weighting.
    level
        The level of the intervals.
    rounds, replications, seed
        The simulation of a policy.

    Returns
    -------
    Evaluation
        Click rates with intervals, by the fitted model and by inverse propensity.

    Examples
    --------
    >>> from slotwise import Rankings
    >>> seen = Rankings([[0, 1], [1, 0]], [[30, 21], [12, 8]], [50, 50], items=2)
    >>> fit = Fit.of_rankings(seen, item_ids=["tea", "coffee"])
    >>> [round(value, 2) for value in evaluate(fit, ["coffee", "tea"]).by_model]
    [0.41, 0.34, 0.48]
    """
    if isinstance(target, str) or not hasattr(target, "__iter__"):
        return _policy(fit, target, propensities, level, rounds, replications, seed)
    if propensities is not None and propensities.shown.shape[1] != fit.slots:
        raise InvalidInput(f"shown must have one column per slot, {fit.slots}, got {propensities.shown.shape[1]}")
    lists, chances = _lists(fit, target)
    by_model, by_propensity = _rates(fit, lists, chances, propensities, level)
    as_filled: Rate | None = _closest(by_model, by_propensity)
    if fit.filled.is_partial:
        compared = fit.filled.fill(lists, chances)
        as_filled = None if compared is None else _closest(*_rates(fit, *compared, propensities, level))
    warnings = [*_left_out(fit), *_model_warnings(fit, lists, by_model)]
    if propensities is not None and by_propensity is not None:
        warnings += warnings_of(by_propensity)
        if propensities.by_item and not fit.filled.contain(lists):
            warnings.append(
                "No impression of the log fills all slots of the target at once: inverse propensity adds up clicks on "
                "slots that were not seen together."
            )
        if not propensities.given_slots:
            warnings.append(
                "The logged propensities are taken for probabilities among all impressions, and not among those that "
                "fill the same slots: only then do the weights average 1."
            )
        if propensities.unknown:
            warnings.append(
                f"{propensities.unknown:,} impressions have no propensity, and inverse propensity left them out: this "
                "is harmless only if their clicks are like those of the others."
            )
    return _evaluation(fit, by_model, by_propensity, warnings, level, as_filled)


def _rates(
    fit: Fit, lists: IntArray, chances: FloatArray, propensities: LoggedPropensities | None, level: float
) -> tuple[Rate, ByPropensity | None]:
    """By the model, and by propensity where it is known; the model knows nothing of slots that were never filled."""
    known = fit.filled.sets.any(axis=0)
    by_model = expected_rate(fit.estimate, np.where(known, lists, EMPTY), chances, level)
    if (lists[:, ~known] != EMPTY).any():
        by_model = Rate(math.nan, by_model.low, 1.0)
    if propensities is None:
        return by_model, None
    return by_model, inverse_propensity(propensities, lists, chances, level, fit.odds)


def _closest(by_model: Rate, weighted: ByPropensity | None) -> Rate:
    weighed = None if weighted is None else weighted.doubly_robust or weighted.self_normalised
    # no impression may have shown any of the lists
    return by_model if weighed is None or math.isnan(weighed.click_rate) else weighed


def _left_out(fit: Fit) -> list[str]:
    """Whether impressions or clicks were left out of all these rates."""
    warnings = [f"{fit.withheld}. Do not rely on these rates."] if fit.withheld else []
    if not fit.tally.multi_click or fit.tally.rule != "drop":
        return warnings
    share = percent(fit.tally.multi_click / fit.impressions)
    return [
        *warnings,
        f"{share} of the impressions have clicks on several items and were left out, so these rates are too low. "
        "Name the column with the order or time of the clicks, and the first click counts.",
    ]


def _lists(fit: Fit, target: Any) -> tuple[IntArray, FloatArray]:
    mixture = target if isinstance(target, Mapping) else {tuple(target): 1.0}
    if not mixture:
        raise InvalidInput("a mixture must have at least one ranking, got none")
    numbers = {id: number for number, id in enumerate(fit.item_ids)}
    lists = np.full((len(mixture), fit.slots), EMPTY)
    for row, ranking in enumerate(mixture):
        if isinstance(ranking, str) or not 0 < len(ranking) <= fit.slots:
            comma = "" if isinstance(target, Mapping) else ". If a comma is part of a name, put it into double quotes"
            raise InvalidRanking(f"a ranking has 1 to {fit.slots} items, got {len(ranking)}: {ranking!r}{comma}")
        twice = [id for id in ranking if id is not None and ranking.count(id) > 1]
        if twice:
            raise InvalidRanking(f"a ranking holds an item once, got {twice[0]!r} {ranking.count(twice[0])} times")
        for slot, id in enumerate(ranking):
            if id is not None and id not in numbers:
                raise UnknownName("item", str(id), fit.item_ids[:1000])
            lists[row, slot] = EMPTY if id is None else numbers[id]
        validation.ranking_of(lists[row], slots=fit.slots, items=len(fit.item_ids), may_be_empty=True)
    chances = validation.positive_vector("probabilities", list(mixture.values()), each="ranking")
    if not math.isclose(chances.sum(), 1.0, rel_tol=1e-6):
        raise InvalidInput(f"probabilities must add up to 1, got {chances.sum():g}")
    return lists, chances / chances.sum()


def _model_warnings(fit: Fit, lists: IntArray, rate: Rate) -> list[str]:
    warnings = []
    row, slot = np.nonzero(lists != EMPTY)
    unfilled = [f"slot {slot + 1}" for slot in np.unique(slot) if not fit.tally.showings[slot].any()]
    if unfilled:
        warnings.append(f"The log never filled {and_more(unfilled, len(unfilled))}: there are no data on it.")
    pairs = np.unique(np.column_stack([slot, lists[row, slot]]), axis=0)
    shown = fit.tally.showings.sum(axis=0)[pairs[:, 1]]
    never = [fit.item_ids[item] for item in dict.fromkeys(pairs[shown == 0, 1].tolist())]
    if never:
        warnings.append(f"The log never showed {and_more(never[:LISTED], len(never))}: there are no data on it.")
    unseen = pairs[(fit.tally.showings[pairs[:, 0], pairs[:, 1]] == 0) & (shown > 0)]
    if len(unseen):
        places = [f"{fit.item_ids[item]} in slot {slot + 1}" for slot, item in unseen[:LISTED]]
        warnings.append(
            f"The log never showed {and_more(places, len(unseen))}: the estimate rests on the model alone: "
            "on the item in other slots and the slot with other items."
        )
    slot_parts, item_parts = fit.compared
    clicks = fit.tally.clicks
    silent = (clicks.sum(axis=1) == 0)[pairs[:, 0]] | (clicks.sum(axis=0) == 0)[pairs[:, 1]]
    apart = pairs[(slot_parts[pairs[:, 0]] != item_parts[pairs[:, 1]]) & (shown > 0) & ~silent]
    if len(apart):
        places = [f"{fit.item_ids[item]} in slot {slot + 1}" for slot, item in apart[:LISTED]]
        warnings.append(
            f"The log itself does not determine how {and_more(places, len(apart))} would do: too few data in "
            "several slots. Let some items change places for a while to find out."
        )
    if not fit.estimate.uncertainty.at_rest:
        warnings.append("The estimate did not converge; do not rely on its numbers.")
    if math.isnan(rate.click_rate):
        warnings.append("The fitted model cannot answer: only the lower end of the interval means something.")
    elif rate.high > TOO_WIDE * rate.low:
        warnings.append(f"The interval, {100 * rate.low:.2g} % to {100 * rate.high:.2g} %, is too wide to be useful.")
    return warnings


def _policy(
    fit: Fit,
    policy: str | PolicySpec,
    propensities: LoggedPropensities | None,
    level: float,
    rounds: int,
    replications: int,
    seed: int,
) -> Evaluation:
    # here, as they take long to import, and nothing else that is asked of a log needs them
    from slotwise.policies.policy_registry import parse
    from slotwise.simulation import simulate

    users = fit.model()
    chosen = parse(policy) if isinstance(policy, str) else policy
    (run,) = simulate(users, chosen, rounds=rounds, replications=replications, seed=seed, progress=False).values()
    # regret is in expected clicks, which vary less than the clicks themselves
    rates = float(reward(users, best_ranking(users))) - run.final_regret / rounds
    middle = float(rates.mean())
    clicks = np.asarray(sum(tally.clicks for tally in run.tallies), np.float64)
    model_error = fit.shrunken.log_error_of(clicks / clicks.sum()) if clicks.any() else math.nan
    simulation_error = run.standard_error / rounds / (middle * (1.0 - middle)) if replications > 1 else 0.0
    rate = around(middle, math.hypot(model_error, simulation_error), level)
    warnings = [
        f"A policy that learns was simulated on the fitted model, from scratch, for {rounds:,} rounds: this is the "
        "expectation of the model, without the log itself.",
        *_left_out(fit),
    ]
    if propensities is not None:
        warnings.append(
            "Inverse propensity does not apply to a policy that learns: its lists depend on clicks that the log "
            "does not have."
        )
    if not fit.estimate.identifiable:
        warnings.append("The log does not determine every slot and item; the others are from the prior.")
    # users of the model see every slot filled
    return _evaluation(fit, rate, None, warnings, level, None if fit.filled.is_partial else rate)


def _evaluation(
    fit: Fit,
    by_model: Rate,
    by_propensity: ByPropensity | None,
    warnings: Sequence[str],
    level: float,
    as_filled: Rate | None,
) -> Evaluation:
    rates = fit.click_rate_of_log, fit.click_rate
    return Evaluation(by_model, by_propensity, tuple(warnings), level, *rates, fit.tally.counted, fit.filled, as_filled)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
