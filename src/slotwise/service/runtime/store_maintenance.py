"""Maintenance of a store, while a service runs or not: compact, back up, export and import placements and decisions."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.service.placements.export_format import from_file, to_text
from slotwise.service.reports.parquet_export import Exported, export
from slotwise.service.schemas.name_rules import checked_name
from slotwise.service.schemas.timestamps import seconds_of
from slotwise.service.storage import Store, open_existing

DAY = 86_400.0
#: decisions dropped in one transaction; the service writes in between
BATCH_SIZE = 2_000


class Compacted(NamedTuple):
    """The number of decisions that were dropped, and of days whose hours were merged."""

    decisions: int
    days: int


def compact_store(url: str, older_than: float, merge_after: float = 7.0) -> Compacted:
    """Drop final decisions and merge hourly counts into daily ones; sums do not change.

    Parameters
    ----------
    url
        The store: sqlite:///FILE or postgresql://…
    older_than
        Days since the deadline of a decision.
    merge_after
        Days after which hourly counts are merged.
    """
    before = time.time() - validation.positive_number("older_than", older_than) * DAY
    until = time.time() - validation.positive_number("merge_after", merge_after) * DAY
    decisions = days = 0
    with opened(url) as store:
        while count := store.compact(before, BATCH_SIZE):
            decisions += count
        while count := store.merge_hours(until, BATCH_SIZE):
            days += count
    return Compacted(decisions, days)


def back_up_store(url: str, file: Path) -> None:
    """Copy a store in SQLite, as of one moment, to a file that does not exist yet."""
    with opened(url) as store:
        if not hasattr(store, "backup"):
            raise InvalidInput("backup copies a store in SQLite; for PostgreSQL use pg_dump --schema=slotwise")
        store.backup(file)


def export_placement(url: str, placement: str) -> str:
    """Return one placement as JSON: its definition, tally and counters, without pending decisions."""
    with opened(url) as store:
        return to_text(store.carry_out(placement))


def import_placement(url: str, file: Path, name: str | None = None) -> str:
    """Add an exported placement to a store, under another name if given; return its name."""
    with opened(url) as store:
        placement = from_file(file)
        if name is not None:
            placement = dataclasses.replace(placement, name=checked_name(name))
        store.carry_in(placement)
    return placement.name


def export_decisions(
    url: str,
    folder: Path,
    *,
    since: str | None = None,
    until: str | None = None,
    placement: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Exported:
    """Write final decisions and their outcomes as Parquet, a file for each day (UTC).

    Parameters
    ----------
    url
        The store: sqlite:///FILE or postgresql://…
    folder
        The folder to write into; the file of a day is replaced.
    since, until
        The decisions issued from `since` on and before `until`: dates or times, UTC unless they name a zone.
    placement
        Only the decisions of this placement.
    progress
        Called with each step.
    """
    first = None if since is None else seconds_of("since", since)
    last = None if until is None else seconds_of("until", until)
    with opened(url) as store:
        return export(store, folder, since=first, until=last, placement=placement, report=progress)


@contextmanager
def opened(url: str) -> Iterator[Store]:
    """Yield a store that exists, and close it."""
    store = open_existing(url)
    try:
        yield store
    finally:
        store.close()
