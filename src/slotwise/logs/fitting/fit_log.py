"""One pass over a click log: count it, estimate, and compute the log-likelihood of the log under the estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput, UnknownName
from slotwise.core.types import FloatArray
from slotwise.estimators import Estimate, estimators
from slotwise.estimators import estimator as registered
from slotwise.estimators.pooled import POOLED
from slotwise.logs.counting.cleaning import CleanLog, clean_log
from slotwise.logs.counting.cleaning_rules import MultiClick
from slotwise.logs.counting.impressions import impressions_by_placement
from slotwise.logs.counting.log_partition import log_normalisers
from slotwise.logs.counting.log_tallies import LogTally, tally_by_placement
from slotwise.logs.fitting.default_fit import Pooling, assembled, fit_pooled
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.placement_counts import PlacementCounts, by_placement, gathered
from slotwise.logs.fitting.placement_pooling import Bias
from slotwise.logs.fitting.recommendation import RECOMMEND, Recommend
from slotwise.logs.reading.columns import Columns, Strata
from slotwise.logs.reading.feature_file import Row
from slotwise.logs.reading.log_source import LogSource
from slotwise.posterior import fit_posterior

#: whole lists are kept for at most this many impressions
SAMPLE = 200_000
#: maximum a posteriori with priors learned from the log: it has an answer for every slot and item
SHRUNKEN = "maximum-a-posteriori"
ESTIMATOR_NAMES = (POOLED, *(entry.id for entry in estimators() if entry.position_bias == "unknown"))
#: above this share of impressions with a click, passes are few: all lists are read, up to this many impressions
MOSTLY_CLICKED, MAX_LISTS = 0.5, 2_000_000
#: placements that are fitted by default: in about two minutes and 4 GB of memory
MAX_PLACEMENTS = 100_000
#: receives the step that begins, and the completed share of it, None if unknown
Progress = Callable[[str, float | None], None]
NO_STRATA = Strata()


@dataclass(frozen=True)
class FitSettings:
    """How a log is fitted: the options of `slotwise.logs.fit_placements`, checked."""

    estimator: str = POOLED
    bias: Bias = "auto"
    position_bias: Sequence[float] | None = None
    features: Mapping[str, Row] | None = None
    strata: Strata = NO_STRATA
    multi_click: MultiClick | None = None
    sample: int | None = SAMPLE
    max_placements: int = MAX_PLACEMENTS
    recommend: Recommend = "auto"

    def __post_init__(self) -> None:
        validation.whole_number("max_placements", self.max_placements, at_least=1)
        validation.one_of("recommend", self.recommend, RECOMMEND)
        if self.estimator not in ESTIMATOR_NAMES:
            raise UnknownName("estimator", self.estimator, ESTIMATOR_NAMES)
        if self.estimator == POOLED:
            return
        if self.position_bias is not None:
            raise InvalidInput(f"position_bias is for the estimator {POOLED}, got it with {self.estimator!r}")
        if self.features is not None:
            raise InvalidInput(f"features are for the estimator {POOLED}, got them with {self.estimator!r}")
        if any(self.strata):
            raise InvalidInput(f"segment and time are for the estimator {POOLED}, got them with {self.estimator!r}")

    def sample_size(self, columns: Columns) -> int | None:
        """Return how many impressions to keep whole lists of; None for all of them.

        Inverse propensity uses only the few impressions that showed the very list, so it needs all of them.
        """
        needs_lists = self.estimator != POOLED and registered(self.estimator).needs == "rankings"
        return None if needs_lists or columns.propensity or columns.item_propensity else self.sample


def fit_log(source: LogSource, settings: FitSettings, progress: Progress | None = None) -> list[Fit]:
    """Fit every placement of a log, in order of their names, from one pass over it."""
    tell = progress or (lambda _step, _share: None)
    tell("looking the log over", None)
    at_most = settings.sample_size(source.columns)
    with clean_log(
        source,
        settings.multi_click,
        sample=at_most,
        strata=settings.strata,
        progress=lambda share: tell("reading the log", share),
        placements=settings.max_placements,
    ) as log:
        tell("counting", None)
        counted = tally_by_placement(log)
        tell("reading whole lists", None)
        if settings.estimator == POOLED and _mostly_clicked(list(counted.values())):
            at_most = None
        impressions, sampled = impressions_by_placement(log, counted, at_most)
        tell("estimating", None)
        segments = gathered(counted, impressions, log.strata)
        pages = by_placement(segments)
        if settings.estimator == POOLED:
            how = Pooling(settings.bias, settings.position_bias, settings.features, by_lists=not sampled)
            fits = fit_pooled(pages, segments, log.strata, how)
        else:
            fits = [
                assembled(
                    page, sampled, estimator=settings.estimator, estimate=_estimate(settings.estimator, page, sampled)
                )
                for page in pages.values()
            ]
        tell("how likely the log is", None)
        likelihoods = _log_likelihoods(log, counted, pages, fits)
    return [
        replace(
            fit,
            log_likelihood=likelihoods[fit.placement],
            recommend=settings.recommend,
            segments={name: replace(part, recommend=settings.recommend) for name, part in fit.segments.items()},
        )
        for fit in fits
    ]


def _mostly_clicked(counted: Sequence[LogTally]) -> bool:
    """Return whether passes are too few to estimate from a sample of the lists."""
    total, clicked = (sum(getattr(tally, name) for tally in counted) for name in ("counted", "clicked"))
    return bool(total <= MAX_LISTS and clicked > MOSTLY_CLICKED * total)


def _estimate(estimator: str, page: PlacementCounts, sampled: bool) -> Estimate:
    if estimator == SHRUNKEN:
        return fit_posterior(page.tally).estimate
    chosen = registered(estimator)
    return chosen.estimate(page.tally if sampled and chosen.needs == "tally" else page.rankings)


def _log_likelihoods(
    log: CleanLog,
    counted: Mapping[str | None, LogTally],
    pages: Mapping[str | None, PlacementCounts],
    fits: Sequence[Fit],
) -> dict[str | None, float]:
    """Σ_kj N_kj log γ_kj - Σ log(1 + S) over all impressions, of each placement."""
    factors: dict[str | None, tuple[FloatArray, FloatArray]] = {}
    of_wholes = [fit.likelihood_factors() for fit in fits]
    for fit, (alpha, bias) in zip(fits, of_wholes, strict=True):
        factors |= pages[fit.placement].factors(alpha, bias)
    sums = log_normalisers(log, counted, factors)
    likelihoods = {}
    for fit, (alpha, bias) in zip(fits, of_wholes, strict=True):
        with np.errstate(divide="ignore"):
            odds = np.log(np.outer(bias, alpha))
        clicks = fit.tally.clicks
        silence = sum(sums[name] for name in pages[fit.placement].names)
        likelihoods[fit.placement] = float((clicks * np.where(clicks > 0, odds, 0.0)).sum() - silence)
    return likelihoods
