"""Which model describes the page, for every fit: by the lists it kept, or by all clicks where some have several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.fitting.fit import Fit
from slotwise.logs.fitting.model_comparison import Comparison, combined, compare_each
from slotwise.rankings import Rankings
from slotwise.typing import NO_CLICK

#: placements that models are compared on, those with the most impressions: more take longer and tell no more
MOST_PLACEMENTS = 20
#: a longer log is not read a second time for its several clicks
MOST_READ_AGAIN = 1_000_000


def page_model(found: Sequence[Fit], read_clicks: Callable[[], list[ClickSets]]) -> Comparison | None:
    """Click models compared on impressions held out; None if there are too few.

    `read_clicks` reads all clicks of the log. It is called where some impressions have several and there are not too
    many; otherwise models are judged by the clicks that the fit counted, at most one an impression.
    """
    largest = sorted(found, key=lambda one: -one.impressions)[:MOST_PLACEMENTS]
    several = any(one.multi_click for one in largest)
    if several and sum(one.impressions for one in found) <= MOST_READ_AGAIN:
        wanted = {one.placement for one in largest}
        sets = [one for one in read_clicks() if one.placement in wanted]
    else:
        sets = [one_click_sets(one, one.rankings) for one in largest if one.rankings is not None]
    compared = [one for one in compare_each(sets) if one.models]
    if not compared:
        return None
    return compared[0] if len(compared) == 1 else combined(compared)


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


def in_a_sentence(compared: Comparison) -> str:
    """Which model describes the page: its first click, and all clicks where some impressions have several.

    What is said of several placements is said of the largest ones.
    """
    words = compared.in_words()
    return " ".join(words[: 2 if compared.several else 1])
