"""Which click model describes a log: compared on all of its clicks, or on the lists that its fits kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.rankings import Rankings
from slotwise.core.types import NO_CLICK
from slotwise.logs.counting.click_sets import ClickSets, click_sets
from slotwise.logs.evaluation.click_model_comparison import ModelComparison, combined, compare_each, fit_click_model
from slotwise.logs.fitting.fit_log import Progress
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reading.columns import Columns
from slotwise.logs.reading.log_source import LogOptions, LogSource

#: maximum number of placements that models are compared on, those with the most impressions
MAX_PLACEMENTS = 20
#: a longer log is not read a second time for its several clicks
MAX_READ_AGAIN = 1_000_000
#: placements that an error names
MAX_NAMED = 5


@dataclass(frozen=True, eq=False)
class ClickModelComparison:
    """Click models compared on impressions held out: on each placement, and on all of them together.

    Parameters
    ----------
    overall
        The comparison on all placements together.
    placements
        The comparison on each placement.
    clicks
        All clicks of each placement.
    """

    overall: ModelComparison
    placements: Sequence[ModelComparison]
    clicks: Sequence[ClickSets]

    def require(self, model: str) -> None:
        """Raise if the log of any placement cannot identify a model."""
        for sets in self.clicks:
            fit_click_model(model, sets)

    def problem(self, model: str | None = None, placement: str | None = None) -> dict[str, Any]:
        """Return the users of a placement as a problem for `slotwise simulate`.

        They choose by `model`, or by the one that describes the placement.
        """
        sets = self._clicks_of(placement)
        if model is None:
            (own,) = (each for each in self.placements if each.placement == sets.placement)
            model = own.describing()
        return fit_click_model(model, sets).problem()

    def _clicks_of(self, placement: str | None) -> ClickSets:
        if len(self.clicks) == 1 and placement is None:
            return self.clicks[0]
        for sets in self.clicks:
            if sets.placement is not None and sets.placement == placement:
                return sets
        largest = sorted(self.clicks, key=lambda sets: -sets.impressions)[:MAX_NAMED]
        names = ", ".join(str(sets.placement) for sets in largest)
        raise InvalidInput(f"--problem-out is of one placement: name it with --at, such as {names}; got {placement!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; of each placement too, if the log has several."""
        if len(self.placements) == 1 and self.placements[0].placement is None:
            return self.overall.to_dict()
        by_placement = {str(each.placement): each.to_dict() for each in self.placements}
        return self.overall.to_dict() | {"placements": by_placement}


def compare_click_models(
    source: object, columns: Columns | None = None, *, progress: Progress | None = None, **options: Unpack[LogOptions]
) -> ClickModelComparison:
    """Compare click models on all clicks of a log.

    Parameters
    ----------
    source, columns, options
        The log, as `slotwise.logs.fit_placements` takes it.
    progress
        Called with each step.

    Returns
    -------
    ClickModelComparison
        The log-likelihood of each click model on impressions held out.
    """
    tell = progress or (lambda _step, _share: None)
    tell("reading all clicks", None)
    clicks = click_sets(source, columns, **options)
    tell("comparing click models", None)
    comparisons = compare_each(clicks)
    overall = comparisons[0] if len(comparisons) == 1 else combined(comparisons)
    return ClickModelComparison(overall, comparisons, clicks)


def choose_click_model(fits: Sequence[Fit], source: LogSource) -> ModelComparison | None:
    """Compare click models on impressions held out; None if there are too few, or too much of the log is left out.

    If impressions have several clicks and the log is not too long, it is read again with all of its clicks. Otherwise
    models are compared on the clicks that the fits counted, at most one an impression.

    Parameters
    ----------
    fits
        The fits of a log.
    source
        The log of the fits.

    Returns
    -------
    ModelComparison or None
        The comparison on all placements together.
    """
    largest = sorted([fit for fit in fits if not fit.withheld], key=lambda fit: -fit.impressions)[:MAX_PLACEMENTS]
    has_several = any(fit.tally.multi_click for fit in largest)
    if has_several and sum(fit.impressions for fit in fits) <= MAX_READ_AGAIN:
        names = {fit.placement for fit in largest}
        sets = [each for each in click_sets(source) if each.placement in names]
    else:
        sets = [one_click_sets(fit, fit.rankings) for fit in largest if fit.rankings is not None]
    comparisons = [each for each in compare_each(sets) if each.models]
    if not comparisons:
        return None
    return comparisons[0] if len(comparisons) == 1 else combined(comparisons)


def one_click_sets(fit: Fit, rankings: Rankings) -> ClickSets:
    """The impressions whose lists a fit kept, with the one click that it counted."""
    row, slot = np.nonzero(rankings.clicks)
    passed = np.flatnonzero(rankings.passes)
    first = np.concatenate([slot, np.full(len(passed), NO_CLICK)])
    return ClickSets(
        fit.placement,
        tuple(fit.item_ids),
        rankings.shown[np.concatenate([row, passed])],
        first[:, None] == np.arange(rankings.shown.shape[1]),
        first,
        np.concatenate([rankings.clicks[row, slot], rankings.passes[passed]]),
    )
