"""Which model describes the page, for every fit: by the lists it kept, or by all clicks where some have several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.logs.counting.click_sets import ClickSets, click_sets
from slotwise.logs.fitting.fit import Fit
from slotwise.logs.fitting.model_comparison import Comparison, combined, compare_each
from slotwise.logs.reading.log_source import LogSource
from slotwise.rankings import Rankings
from slotwise.typing import NO_CLICK

#: placements that models are compared on, those with the most impressions: more take longer and tell no more
MOST_PLACEMENTS = 20
#: a longer log is not read a second time for its several clicks
MOST_READ_AGAIN = 1_000_000


def choose_click_model(fits: Sequence[Fit], source: LogSource) -> Comparison | None:
    """Compare click models on impressions held out; None if there are too few.

    If impressions have several clicks and the log is not too long, it is read again with all of its clicks. Otherwise
    models are compared on the clicks that the fits counted, at most one an impression.
    """
    largest = sorted(fits, key=lambda fit: -fit.impressions)[:MOST_PLACEMENTS]
    has_several = any(fit.tally.multi_click for fit in largest)
    if has_several and sum(fit.impressions for fit in fits) <= MOST_READ_AGAIN:
        names = {fit.placement for fit in largest}
        sets = [each for each in click_sets(source) if each.placement in names]
    else:
        sets = [one_click_sets(fit, fit.rankings) for fit in largest if fit.rankings is not None]
    comparisons = [each for each in compare_each(sets) if each.models]
    if not comparisons:
        return None
    return comparisons[0] if len(comparisons) == 1 else combined(comparisons)


def one_click_sets(one: Fit, rankings: Rankings) -> ClickSets:
    """The impressions whose lists a fit kept, with the one click that it counted."""
    row, slot = np.nonzero(rankings.clicks)
    passed = np.flatnonzero(rankings.passes)
    first = np.concatenate([slot, np.full(len(passed), NO_CLICK)])
    return ClickSets(
        one.placement,
        tuple(one.item_ids),
        rankings.shown[np.concatenate([row, passed])],
        first[:, None] == np.arange(rankings.shown.shape[1]),
        first,
        np.concatenate([rankings.clicks[row, slot], rankings.passes[passed]]),
    )
