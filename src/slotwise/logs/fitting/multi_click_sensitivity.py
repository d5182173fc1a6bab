"""Sensitivity of a fit to the rule for several clicks: the fit is repeated under each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slotwise.core.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.fitting.fit_log import FitSettings, Progress, fit_log
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.recommendation import RuleOutcome
from slotwise.logs.reading.columns import Strata
from slotwise.logs.reading.log_source import LogSource

#: a longer log is not read again for it
MAX_READ_AGAIN = 1_000_000


def fit_under_each_rule(
    fits: Sequence[Fit], source: LogSource, settings: FitSettings, progress: Progress | None = None
) -> list[Fit]:
    """Return the fits with `by_rule` filled, if impressions have several clicks in a known order.

    The log is read and fitted again under each other rule, unless it has more than `MAX_READ_AGAIN` impressions.
    """
    if not any(_is_ordered(fit) for fit in fits) or sum(fit.impressions for fit in fits) > MAX_READ_AGAIN:
        return list(fits)
    answers: dict[str | None, dict[MultiClick, RuleOutcome]] = {fit.placement: {} for fit in fits}
    for rule in MULTI_CLICK:
        if progress is not None:
            progress("fitting again under the other rules for several clicks", None)
        for fit in fits if rule == fits[0].tally.rule else _fitted(source, settings, rule):
            if fit.placement in answers and not fit.withheld:
                answers[fit.placement][rule] = _answer(fit)
    return [replace(fit, by_rule=answers[fit.placement]) for fit in fits]


def _answer(fit: Fit) -> RuleOutcome:
    best = fit.best()
    return RuleOutcome(best.items, best.rate, fit.estimate.position_bias)


def _is_ordered(fit: Fit) -> bool:
    """Whether it has several clicks in a known order."""
    has_order = fit.tally.rule == "drop" or fit.tally.cleaning.get(f"multi_click_{fit.tally.rule}", 0) > 0
    return fit.tally.ordered and has_order and fit.tally.multi_click > 0


def _fitted(source: LogSource, settings: FitSettings, rule: MultiClick) -> list[Fit]:
    # segments are not compared between rules, so they need not be fitted
    without_segments = Strata(time=settings.strata.time)
    try:
        return fit_log(source, replace(settings, multi_click=rule, strata=without_segments, recommend="always"))
    except InvalidInput:
        # every click is one of several, so "drop" leaves nothing to count
        return []
