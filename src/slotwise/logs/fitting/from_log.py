"""From a click log to fits: count it, estimate, and say how likely the log is under the estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from slotwise.belief import posterior
from slotwise.errors import InvalidInput, UnknownName
from slotwise.estimate import Estimate, estimators
from slotwise.estimate import estimator as registered
from slotwise.estimate.pooled import POOLED
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impressions import impressions_by_placement
from slotwise.logs.counting.normalisers import log_normalisers
from slotwise.logs.counting.tallies import LogTally, tally_by_placement
from slotwise.logs.fitting.by_default import Pooling, assembled, fit_pooled
from slotwise.logs.fitting.by_rule import with_each_rule
from slotwise.logs.fitting.fit import Fit
from slotwise.logs.fitting.pooled import Bias
from slotwise.logs.fitting.wholes import Whole, by_placement, gathered
from slotwise.logs.reading.columns import Columns, Strata
from slotwise.logs.reading.item_features import Row
from slotwise.logs.reading.options import LogOptions, apart
from slotwise.typing import FloatArray

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
    segment: str | Sequence[str]
    time: str | None
    multi_click: MultiClick | None
    each_rule: bool
    sample: int | None
    progress: Callable[[str, float | None], None] | None


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
    (5, array([1.  , 1.34]), -5.21)
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
    segment: str | Sequence[str] = (),
    time: str | None = None,
    multi_click: MultiClick | None = None,
    each_rule: bool = False,
    sample: int | None = SAMPLE,
    progress: Callable[[str, float | None], None] | None = None,
    **options: Unpack[LogOptions],
) -> list[Fit]:
    """Fit every placement of a log, in order of their names, from one pass over it.

    By default placements are pooled as far as the data say; `bias` says whether they share what their slots are worth,
    have their own, or what predicts better, and `position_bias` what they are worth if that is known. `features` are
    what is known of items by their names, numbers and text: those of which little was seen are then expected where
    their features say, as far as the log shows that features say anything.

    `segment` names the column or columns that say for whom an impression was: every fit then has `segments` too, pooled
    as far as the data say. `time` names the column that says when: every fit then has `changes`, and where clicks of
    long ago foretell later ones worse than recent ones do, older impressions count for less, with a half-life that is
    found from the log.

    With `each_rule`, every fit says in `by_rule` what would be shown and expected if the first of several clicks
    counted, the last, or none of them: where there are such and their order is known, the log is read and fitted again
    under each rule, unless it is long.

    `sample` bounds the impressions whose whole lists are kept in memory; maximum likelihood and inverse propensity need
    all of them. `progress` is told what is being done, and the share of it that is done, None if that is not known.
    The rest name columns, like the fields of `slotwise.logs.Columns`, or are the options of `slotwise.logs.read`.
    """
    columns, reading = apart(columns, options)
    strata = Strata((segment,) if isinstance(segment, str) else tuple(segment), time)
    if estimator not in ESTIMATOR_NAMES:
        raise UnknownName("estimator", estimator, ESTIMATOR_NAMES)
    if position_bias is not None and estimator != POOLED:
        raise InvalidInput(f"position_bias is for the estimator {POOLED}, got it with {estimator!r}")
    if features is not None and estimator != POOLED:
        raise InvalidInput(f"features are for the estimator {POOLED}, got them with {estimator!r}")
    if any(strata) and estimator != POOLED:
        raise InvalidInput(f"segment and time are for the estimator {POOLED}, got them with {estimator!r}")
    tell = progress or (lambda _step, _share: None)
    tell("looking the log over", None)
    # inverse propensity uses only the few impressions that showed the very list: all of them are needed
    lists_needed = estimator != POOLED and registered(estimator).needs == "rankings"
    every = lists_needed or bool(columns.propensity or columns.item_propensity)
    at_most = None if every else sample
    with clean_log(
        source,
        columns,
        multi_click,
        sample=at_most,
        strata=strata,
        told=lambda share: tell("reading the log", share),
        **reading,
    ) as log:
        tell("counting", None)
        counted = tally_by_placement(log)
        tell("reading whole lists", None)
        if estimator == POOLED and _mostly_clicked(list(counted.values())):
            at_most = None
        impressions, sampled = impressions_by_placement(log, counted, at_most)
        tell("estimating", None)
        segments = gathered(counted, impressions, log.strata)
        pages = by_placement(segments)
        if estimator == POOLED:
            how = Pooling(bias, position_bias, features, by_lists=not sampled)
            found = fit_pooled(pages, segments, log.strata, how)
        else:
            found = [
                assembled(one, sampled, estimator=estimator, estimate=_estimate(estimator, one, sampled))
                for one in pages.values()
            ]
        tell("how likely the log is", None)
        likelihoods = _log_likelihoods(log, counted, pages, found)
    found = [replace(one, log_likelihood=likelihoods[one.placement]) for one in found]
    if not each_rule:
        return found
    again = partial(
        fits,
        source,
        columns,
        estimator=estimator,
        bias=bias,
        position_bias=position_bias,
        features=features,
        time=time,
        sample=sample,
        progress=lambda _step, _share: tell("fitting again under the other rules for several clicks", None),
        **reading,
    )
    return with_each_rule(found, lambda rule: again(multi_click=rule))


def _mostly_clicked(counted: Sequence[LogTally]) -> bool:
    """Whether passes say so little that a sample of the lists will not do."""
    total, clicked = (sum(getattr(one, name) for one in counted) for name in ("counted", "clicked"))
    return bool(total <= MOST_LISTS and clicked > MOSTLY_CLICKED * total)


def _estimate(estimator: str, one: Whole, sampled: bool) -> Estimate:
    if estimator == SHRUNKEN:
        return posterior(one.tally).estimate
    chosen = registered(estimator)
    return chosen.estimate(one.tally if sampled and chosen.needs == "tally" else one.rankings)


def _log_likelihoods(
    log: CleanLog, counted: Mapping[str | None, LogTally], pages: Mapping[str | None, Whole], found: Sequence[Fit]
) -> dict[str | None, float]:
    """Σ_kj N_kj log γ_kj - Σ log(1 + S) over all impressions, of each placement."""
    factors: dict[str | None, tuple[FloatArray, FloatArray]] = {}
    of_wholes = [one.likelihood_factors() for one in found]
    for one, (alpha, bias) in zip(found, of_wholes, strict=True):
        factors |= pages[one.placement].factors(alpha, bias)
    sums = log_normalisers(log, counted, factors)
    likelihoods = {}
    for one, (alpha, bias) in zip(found, of_wholes, strict=True):
        with np.errstate(divide="ignore"):
            odds = np.log(np.outer(bias, alpha))
        clicks = one.tally.clicks
        silence = sum(sums[name] for name in pages[one.placement].names)
        likelihoods[one.placement] = float((clicks * np.where(clicks > 0, odds, 0.0)).sum() - silence)
    return likelihoods
