"""Scores of a fit on another log: the log-likelihood of its clicks, compared with simple models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import FloatArray
from slotwise.estimators.likelihoods.list_likelihood import log_likelihoods
from slotwise.logs.counting.cleaning import clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impressions import impressions_by_placement
from slotwise.logs.counting.log_tallies import tally_by_placement
from slotwise.logs.counting.strata import LogStratum
from slotwise.logs.fitting.default_fit import name_of
from slotwise.logs.fitting.fit_file import StoredFit
from slotwise.logs.reading.columns import Columns, Strata
from slotwise.logs.reading.log_source import LogOptions, LogSource

#: the model itself, then the simple ones, by the names in the table
MODELS = ("the fit", "items only", "slots only", "all alike")
#: a difference is beyond chance if it is more than this many standard errors
CLEAR = 2.0
#: whole lists of more impressions are sampled
SAMPLE = 1_000_000


@dataclass(frozen=True)
class PlacementScore:
    """One placement of the other log."""

    placement: str | None
    impressions: int
    #: items that the fit does not know, and whether it knows the placement at all
    new_items: int
    is_known: bool
    #: the mean log-likelihood per impression, by model
    log_likelihood: dict[str, float]
    #: the standard error of the difference to the model of the same place, over impressions
    standard_error: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "impressions": self.impressions,
            "new_items": self.new_items,
            "known": self.is_known,
            "log_likelihood": self.log_likelihood,
            "standard_error": self.standard_error,
        }


@dataclass(frozen=True)
class Scores:
    """A log, scored: every placement, those with most impressions first, and all of them together."""

    placements: tuple[PlacementScore, ...]
    total: PlacementScore
    sampled: bool
    #: the number of rows or impressions that each cleaning rule applied to
    cleaning: Mapping[str, int]
    #: impressions with a click, and items, counted in each placement
    clicked: int
    items: int

    def in_words(self) -> str:
        """Return whether the fit predicts this log better than the simple models do."""
        return f"Does the fit hold for this log? {self._answer()}"

    def _answer(self) -> str:
        if not self.clicked:
            return "Undecided: this log has no click. Are the clicks missing?"
        if self.total.new_items == self.items:
            return "Undecided: the fit knows none of its items. Is it the fit of this page?"
        ours, *others = MODELS
        best = max(others, key=lambda model: self.total.log_likelihood[model])
        ahead = self.total.log_likelihood[ours] - self.total.log_likelihood[best]
        sure = CLEAR * self.total.standard_error[best]
        return (
            f"Yes: it predicts these clicks better than “{best}”, the best of the simple models, beyond chance."
            if ahead > sure
            else f"No: “{best}” of the first log predicts these clicks better, beyond chance. Fit this log instead."
            if ahead < -sure
            else f"Undecided: “{best}” of the first log predicts these clicks as well, within chance."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            **self.total.to_dict(),
            "sampled": self.sampled,
            "cleaning": {rule: count for rule, count in self.cleaning.items() if count},
            "placements": {str(placement.placement): placement.to_dict() for placement in self.placements},
        }


def score(
    fits: Sequence[StoredFit],
    source: object,
    columns: Columns | None = None,
    *,
    segment: str | Sequence[str] = (),
    multi_click: MultiClick | None = None,
    sample: int | None = SAMPLE,
    progress: Callable[[str, float | None], None] | None = None,
    **options: Unpack[LogOptions],
) -> Scores:
    """Score another log; unknown placements and items are predicted as new ones.

    Parameters
    ----------
    fits
        The fits of a file, from `slotwise.logs.load_fits`.
    source, columns, options
        The log, as `slotwise.logs.fit_placements` takes it.
    segment
        The columns of the segment: every impression is predicted by the fit of its segment, or of all if the fit does
        not have it.
    multi_click
        Which of several clicks counts: "first", "last" or "drop".
    sample
        The maximum number of impressions to score; None for all.
    progress
        Called with each step and the completed share of it, None if that is unknown.

    Returns
    -------
    Scores
        The log-likelihood per impression, by placement and in total.
    """
    log_source = LogSource.of(source, columns, **options)
    strata = Strata((segment,) if isinstance(segment, str) else tuple(segment), None)
    if any(strata) and not any(each.segments for each in fits):
        raise InvalidInput(f"the fit has no segments: fit it with segment too, got {' and '.join(strata.segment)}")
    by_name = {each.placement: each for each in fits}
    if log_source.columns.placement is None and set(by_name) != {None}:
        raise InvalidInput("the fit is of several placements: name the column of the log that has them (placement)")
    tell = progress or (lambda _step, _share: None)
    tell("looking the log over", None)
    with clean_log(
        log_source, multi_click, strata=strata, progress=lambda share: tell("reading the log", share)
    ) as log:
        counted = tally_by_placement(log)
        tell("reading whole lists", None)
        impressions, sampled = impressions_by_placement(log, counted, sample)
    usual = _usual(fits)
    scored = []
    for name, each in counted.items():
        part = LogStratum(name, (), 0) if log.strata is None else log.strata.stratum(name)
        model = by_name.get(part.placement, usual)
        label = " / ".join(filter(None, [part.placement, name_of(part.segment)])) if part.segment else name
        is_known = part.placement in by_name
        best = model.segments.get(name_of(part.segment), model)
        scored.append(_scored(label, impressions[name].rankings, each.item_ids, best, is_known=is_known))
    scored.sort(key=lambda each: -each[0].impressions)
    return Scores(
        tuple(each for each, _ in scored),
        _together(scored),
        sampled,
        log.counts,
        clicked=sum(each.clicked for each in counted.values()),
        items=sum(len(each.item_ids) for each in counted.values()),
    )


#: Σ and Σ of squares of the difference to the fit, over impressions, by model
Sums = dict[str, tuple[float, float]]


def _scored(
    name: str | None, seen: Rankings, ids: Sequence[str], model: StoredFit, *, is_known: bool
) -> tuple[PlacementScore, Sums]:
    counts = np.column_stack([seen.clicks, seen.passes])
    happened = counts > 0
    times, total = counts[happened], seen.rounds
    values = {
        which: np.column_stack(log_likelihoods(seen, odds))[happened]
        for which, odds in zip(MODELS, _odds(model, ids, seen.slots), strict=True)
    }
    base = values[MODELS[0]]
    sums = {
        which: (float(times @ (value - base)), float(times @ (value - base) ** 2)) for which, value in values.items()
    }
    sums["log-likelihood"] = float(times @ base), 0.0
    new = sum(id not in model.numbers for id in ids)
    return _summed(name, total, sums, new_items=new, is_known=is_known), sums


def _together(scored: Sequence[tuple[PlacementScore, Sums]]) -> PlacementScore:
    sums = {
        which: (sum(each[which][0] for _, each in scored), sum(each[which][1] for _, each in scored))
        for which in (*MODELS, "log-likelihood")
    }
    every = [each for each, _ in scored]
    return _summed(
        None,
        sum(each.impressions for each in every),
        sums,
        new_items=sum(each.new_items for each in every),
        is_known=all(each.is_known for each in every),
    )


def _summed(name: str | None, total: int, sums: Sums, *, new_items: int, is_known: bool) -> PlacementScore:
    count = max(1, total)
    ours = sums["log-likelihood"][0] / count
    means = {which: ours + sums[which][0] / count for which in MODELS}
    errors = {
        which: float(np.sqrt(max(0.0, sums[which][1] / count - (sums[which][0] / count) ** 2) / count))
        for which in MODELS
    }
    return PlacementScore(name, total, new_items, is_known, means, errors)


def _odds(model: StoredFit, ids: Sequence[str], slots: int) -> tuple[FloatArray, ...]:
    """γ of every slot and item under each of `MODELS`."""
    numbers = np.array([model.numbers.get(id, -1) for id in ids], np.int64)
    there = numbers >= 0
    alpha = np.where(there, model.attractiveness[numbers], model.unseen)
    by_item = np.where(there, model.item_odds[numbers], model.common_odds)
    bias, by_slot = _longer(model.position_bias, slots), _longer(model.slot_odds, slots)
    return (
        np.outer(bias, alpha),
        np.outer(np.ones(slots), by_item),
        np.outer(by_slot, np.ones(len(ids))),
        np.full((slots, len(ids)), model.common_odds),
    )


def _longer(values: FloatArray, slots: int) -> FloatArray:
    """For more slots than are known the last one's value."""
    return np.pad(values, (0, max(0, slots - len(values))), mode="edge")[:slots]


def _usual(fits: Sequence[StoredFit]) -> StoredFit:
    """Return the prediction for a placement that is new to the fit: the average of the others."""
    slots = max(len(fit.position_bias) for fit in fits)
    weights = np.array([max(1, fit.impressions) for fit in fits], np.float64)

    def mean(values: Sequence[FloatArray]) -> FloatArray:
        rows = np.log([np.maximum(_longer(value, slots), 1e-12) for value in values])
        return np.asarray(np.exp(weights @ rows / weights.sum()))

    common = float(mean([np.full(slots, fit.common_odds) for fit in fits])[0])
    return StoredFit(
        None,
        0,
        ("",),
        np.ones(1),
        mean([fit.position_bias for fit in fits]),
        float(mean([np.full(slots, fit.unseen) for fit in fits])[0]),
        mean([fit.slot_odds for fit in fits]),
        np.full(1, common),
        common,
    )
