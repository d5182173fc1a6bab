"""From a click log to fits: count it, estimate, and say how likely the log is under the estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from slotwise.belief import posterior
from slotwise.errors import InvalidInput, UnknownName
from slotwise.estimate import Estimate, estimators
from slotwise.estimate import estimator as registered
from slotwise.estimate.pooled import POOLED
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impressions import Impressions, impressions_by_placement
from slotwise.logs.counting.normalisers import Factors, log_normalisers
from slotwise.logs.counting.tallies import LogTally, tally_by_placement
from slotwise.logs.fitting.fit import Fit
from slotwise.logs.fitting.inverse_propensity import Logged
from slotwise.logs.fitting.pooled import Bias, pool_placements
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.item_features import Row
from slotwise.logs.reading.options import LogOptions, apart
from slotwise.rankings import Rankings
from slotwise.tally import Tally
from slotwise.typing import EMPTY

#: whole lists are kept for at most this many impressions, for what a tally cannot say
SAMPLE = 200_000
#: maximum a posteriori with priors learned from the log: it has an answer for every slot and item
SHRUNKEN = "maximum-a-posteriori"
ESTIMATOR_NAMES = (POOLED, *(entry.id for entry in estimators() if entry.position_bias == "unknown"))
#: lists are all read, not sampled, where so large a part of at most so many impressions has a click: passes say little
MOSTLY_CLICKED, MOST_LISTS = 0.5, 2_000_000


class FitOptions(LogOptions, total=False):
    """The options of `fits`."""

    estimator: str
    bias: Bias
    position_bias: Sequence[float] | None
    features: Mapping[str, Row] | None
    multi_click: MultiClick | None
    sample: int | None
    progress: Callable[[str], None] | None


def fit(source: Any, columns: Columns | None = None, **options: Unpack[FitOptions]) -> Fit:
    """Fit a log of one placement; `options` are those of `fits`.

    >>> import pyarrow as pa
    >>> log = pa.table({
    ...     "impression": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    ...     "slot": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2],
    ...     "item": ["tea", "milk", "milk", "tea", "tea", "milk", "milk", "tea", "tea", "milk"],
    ...     "clicked": [1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
    ... })
    >>> fitted = fit(log)
    >>> fitted.impressions, fitted.estimate.position_bias.round(2), round(fitted.log_likelihood, 2)
    (5, array([1.  , 1.34]), -5.15)
    """
    placement = options.get("placement", columns and columns.placement)
    if placement is not None:
        raise InvalidInput(f"a log with placements has a fit for each: use fits, got placement={placement!r}")
    (found,) = fits(source, columns, **options)
    return found


def fits(
    source: Any,
    columns: Columns | None = None,
    *,
    estimator: str = POOLED,
    bias: Bias = "auto",
    position_bias: Sequence[float] | None = None,
    features: Mapping[str, Row] | None = None,
    multi_click: MultiClick | None = None,
    sample: int | None = SAMPLE,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[LogOptions],
) -> list[Fit]:
    """Fit every placement of a log, in order of their names, from one pass over it.

    By default placements are pooled as far as the data say; `bias` says whether they share what their slots are worth,
    have their own, or what predicts better, and `position_bias` what they are worth if that is known. `features` are
    what is known of items by their names, numbers and text: those of which little was seen are then expected where
    their features say, as far as the log shows that features say anything. `sample` bounds
    the impressions whose whole lists are kept in memory; maximum likelihood and inverse propensity need all of them.
    `progress` is told what is being done. The rest name columns, like the fields of `slotwise.logs.Columns`, or are the
    options of `slotwise.logs.read`.
    """
    columns, reading = apart(columns, options)
    if estimator not in ESTIMATOR_NAMES:
        raise UnknownName("estimator", estimator, ESTIMATOR_NAMES)
    if position_bias is not None and estimator != POOLED:
        raise InvalidInput(f"position_bias is for the estimator {POOLED}, got it with {estimator!r}")
    if features is not None and estimator != POOLED:
        raise InvalidInput(f"features are for the estimator {POOLED}, got them with {estimator!r}")
    progress = progress or (lambda _: None)
    progress("looking the log over")
    # inverse propensity uses only the few impressions that showed the very list: all of them are needed
    lists_needed = estimator != POOLED and registered(estimator).needs == "rankings"
    every = lists_needed or bool(columns.propensity or columns.item_propensity)
    at_most = None if every else sample
    with clean_log(source, columns, multi_click, sample=at_most, **reading) as log:
        progress("counting")
        counted = tally_by_placement(log)
        progress("reading whole lists")
        if estimator == POOLED and _mostly_clicked(list(counted.values())):
            at_most = None
        impressions, sampled = impressions_by_placement(log, counted, at_most)
        progress("estimating")
        lists = {name: one.rankings for name, one in impressions.items()}
        if estimator == POOLED:
            made = _pooled(counted, lists, sampled, bias, position_bias, features)
        else:
            made = {
                name: {"estimate": _estimate(estimator, one, lists[name], sampled)} for name, one in counted.items()
            }
        found = [
            _fit(one, impressions[name], lists[name], sampled, estimator=estimator, **made[name])
            for name, one in counted.items()
        ]
        progress("how likely the log is")
        factors = {one.placement: one.likelihood_factors() for one in found}
        likelihoods = _log_likelihoods(log, counted, factors)
    return [replace(one, log_likelihood=likelihood) for one, likelihood in zip(found, likelihoods, strict=True)]


def _mostly_clicked(counted: Sequence[LogTally]) -> bool:
    """Whether passes say so little that a sample of the lists will not do."""
    total, clicked = (sum(getattr(one, name) for one in counted) for name in ("counted", "clicked"))
    return bool(total <= MOST_LISTS and clicked > MOSTLY_CLICKED * total)


def _pooled(
    counted: Mapping[str | None, LogTally],
    lists: Mapping[str | None, Rankings],
    sampled: bool,
    bias: Bias,
    position_bias: Sequence[float] | None,
    features: Mapping[str, Row] | None,
) -> dict[str | None, dict[str, Any]]:
    """By placement: its estimate, what the log compares, and whether its slots are its own."""
    seen: list[Tally | Rankings] = [counted[name] if sampled else lists[name] for name in counted]
    ids = [one.item_ids for one in counted.values()]
    known = None if position_bias is None else np.asarray(position_bias, np.float64)
    found, choice = pool_placements(seen, list(lists.values()), ids, bias=bias, position_bias=known, features=features)
    told = choice.in_words(len(seen))
    return {
        name: {"estimate": estimate, "parts": parts, "unseen": unseen, "shared_slots": told}
        for name, estimate, parts, unseen in zip(counted, found.estimates, found.parts, found.unseen, strict=True)
    }


def _fit(counted: LogTally, impressions: Impressions, rankings: Rankings, sampled: bool, **made: Any) -> Fit:
    return Fit(
        placement=counted.placement,
        item_ids=counted.item_ids,
        tally=counted,
        showings=counted.showings,
        rankings=rankings,
        impressions=counted.impressions,
        no_click=counted.no_click,
        multi_click=counted.multi_click,
        log_likelihood=None,
        cleaning=counted.cleaning,
        sampled=sampled,
        counted=counted.counted,
        clicked=counted.clicked,
        logged=_logged(impressions),
        **made,
    )


def _logged(impressions: Impressions) -> Logged | None:
    """The impressions whose propensities are known; None if the log has none."""
    found, shown = impressions.propensity, impressions.shown
    if found is None:
        return None
    known = ~np.isnan(found) if found.ndim == 1 else ((shown == EMPTY) | ~np.isnan(found)).all(axis=1)
    weight = impressions.weight
    unknown = int((~known).sum() if weight is None else weight[~known].sum())
    kept = None if weight is None else weight[known]
    return Logged(shown[known], impressions.clicked[known], found[known], kept, unknown)


def _estimate(estimator: str, counted: Tally, rankings: Rankings, sampled: bool) -> Estimate:
    if estimator == SHRUNKEN:
        return posterior(counted).estimate
    chosen = registered(estimator)
    return chosen.estimate(counted if sampled and chosen.needs == "tally" else rankings)


def _log_likelihoods(log: CleanLog, counted: Mapping[str | None, LogTally], factors: Factors) -> list[float]:
    """Σ_kj N_kj log γ_kj - Σ log(1 + S) over all impressions, of each placement."""
    sums = log_normalisers(log, counted, factors)
    likelihoods = []
    for name, one in counted.items():
        alpha, bias = factors[name]
        with np.errstate(divide="ignore"):
            odds = np.log(np.outer(bias, alpha))
        likelihoods.append(float((one.clicks * np.where(one.clicks > 0, odds, 0.0)).sum() - sums[name]))
    return likelihoods
