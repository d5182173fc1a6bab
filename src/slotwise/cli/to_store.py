"""`slotwise fit --to-store`: live placements that begin with what a log has counted."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from slotwise.cli.screen import screen
from slotwise.cli.service_store import needing_the_service
from slotwise.errors import InvalidInput

if TYPE_CHECKING:
    from slotwise.logs import Fit
    from slotwise.logs.fitting.changes import Changes
    from slotwise.service.store.carrying import Portable

#: placements named on the screen
NAMED = 10
HOUR = 3_600.0


def start_from(found: Sequence[Fit], url: str, name: str | None, segment: Sequence[str], *, quiet: bool) -> None:
    """Start a live placement from each fit, with the segments of these columns; none, if one of them cannot be."""
    if name is not None and len(found) > 1:
        raise InvalidInput(f"name is for a log of one placement, got {name!r} for {len(found)}")
    _refuse_numbers(found[0].changes)
    with needing_the_service():
        from slotwise.service.store import open_store
    made = [_portable(one, name or str(one.placement), segment) for one in found]
    store = open_store(url)
    try:
        there = {version.placement for version in store.versions()}
        for placement in made:
            if placement.name in there:
                raise InvalidInput(
                    f"there is a placement {placement.name!r} in this store already: give another --name"
                )
        for placement in made:
            store.carry_in(placement)
    finally:
        store.close()
    if not quiet:
        listed = ", ".join(placement.name for placement in made[:NAMED])
        more = f" and {len(made) - NAMED:,} more" if len(made) > NAMED else ""
        by = f", by {' and '.join(segment)}" if segment else ""
        told = f"Started in the store, with all that was counted{by}: {listed}{more}{_fading_in_words(found)}"
        screen().print(f"\n{told}", soft_wrap=True)


def _portable(one: Fit, name: str, segment: Sequence[str]) -> Portable:
    from slotwise.service.worker.segments import OTHER
    from slotwise.service.worker.warm_start import Counted, from_counts

    first = [item for item in one.best().items if item is not None]
    periods = None if one.changes is None else one.changes.periods
    parts = []
    for part in one.segments.values() if segment else [one]:
        given = zip(segment, part.segment, strict=True)
        context = {key: value for key, value in given if value not in ("", OTHER)}
        for period, counted in part.by_period:
            when = None if periods is None or not math.isfinite(periods.width) else periods.at(period + 0.5)
            parts.append(Counted(counted, counted.showings, counted.item_ids, context, when))
    values = {key: sorted({part.context[key] for part in parts if key in part.context}) for key in segment}
    listed = {key: every for key, every in values.items() if every}
    return from_counts(name, parts, first, listed, _half_life_hours(one))


def _half_life_hours(one: Fit) -> float | None:
    """How fast the placement is to forget: as fast as the log says; None if not at all."""
    from slotwise.service.worker.definition import LONGEST_HALF_LIFE, SHORTEST_HALF_LIFE

    if one.changes is None or one.changes.half_life is None:
        return None
    hours = one.changes.half_life * one.changes.periods.width / HOUR
    return min(max(hours, SHORTEST_HALF_LIFE), LONGEST_HALF_LIFE)


def _refuse_numbers(changes: Changes | None) -> None:
    """A service forgets by the hour, so that it has to know when what was counted happened."""
    if changes is not None and not changes.periods.is_time:
        raise InvalidInput(
            "--to-store needs a --time of dates and times, or of seconds since 1970, got numbers from "
            f"{changes.periods.at(0):g} to {changes.periods.at(changes.periods.count):g}: leave --time out, or turn "
            "them into times"
        )


def _fading_in_words(found: Sequence[Fit]) -> str:
    """How fast the counts fade, and how much of them is left now; nothing if they do not."""
    half_life, changes = _half_life_hours(found[0]), found[0].changes
    if changes is None or half_life is None:
        return ""
    views = np.sum([one.changes.impressions for one in found if one.changes is not None], axis=0)
    ages = np.maximum(0.0, time.time() - changes.periods.at(np.arange(changes.periods.count) + 0.5)) / HOUR
    left = float(views @ 0.5 ** (ages / half_life))
    return (
        f". What is {changes.periods.length_in_words(half_life * HOUR / changes.periods.width)} older counts half as "
        f"much: of {views.sum():,} impressions as much is left as of {left:,.0f}"
    )
