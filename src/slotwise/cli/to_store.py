"""`slotwise fit --to-store`: live placements that begin with what a log has counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.cli.screen import screen
from slotwise.cli.service_store import needing_the_service
from slotwise.errors import InvalidInput

if TYPE_CHECKING:
    from slotwise.logs import Fit
    from slotwise.service.store.contract import Portable

#: placements named on the screen
NAMED = 10


def start_from(found: Sequence[Fit], url: str, name: str | None, segment: Sequence[str], *, quiet: bool) -> None:
    """Start a live placement from each fit, with the segments of these columns; none, if one of them cannot be."""
    if name is not None and len(found) > 1:
        raise InvalidInput(f"name is for a log of one placement, got {name!r} for {len(found)}")
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
        screen().print(f"\nStarted in the store, with all that was counted{by}: {listed}{more}", soft_wrap=True)


def _portable(one: Fit, name: str, segment: Sequence[str]) -> Portable:
    from slotwise.service.worker.segments import OTHER
    from slotwise.service.worker.warm_start import Counted, from_counts

    first = [item for item in one.best().items if item is not None]
    if not segment:
        return from_counts(name, [Counted(one.tally, one.showings, one.item_ids)], first)
    parts = []
    for part in one.segments.values():
        given = zip(segment, part.segment, strict=True)
        context = {key: value for key, value in given if value not in ("", OTHER)}
        parts.append(Counted(part.tally, part.showings, part.item_ids, context))
    values = {key: sorted({part.context[key] for part in parts if key in part.context}) for key in segment}
    return from_counts(name, parts, first, {key: listed for key, listed in values.items() if listed})
