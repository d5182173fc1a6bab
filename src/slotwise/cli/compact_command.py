"""`slotwise compact`: a store without its old decisions."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, opened
from slotwise.core import validation

DAY = 86_400.0
#: decisions dropped in one transaction; the service writes in between
AT_ONCE = 2_000


@example("slotwise compact --store sqlite:///slotwise.db --older-than 30")
def compact(
    store: StoreUrl,
    older_than: Annotated[float, typer.Option(metavar="DAYS", help="Days since the deadline of a decision.")],
    merge_after: Annotated[
        float, typer.Option(metavar="DAYS", help="Days after which counts by hour are merged into counts by day.")
    ] = 7.0,
) -> None:
    """Drop old decisions and merge old hours; what was learned stays.

    Old hours become days, and every sum stays as it is. Only decisions whose outcome is final are dropped. An outcome
    that arrives for one of them later is answered as unknown. The service may be running.
    """
    before = time.time() - validation.positive_number("older_than", older_than) * DAY
    until = time.time() - validation.positive_number("merge_after", merge_after) * DAY
    dropped = merged = 0
    with opened(store) as open_store:
        while count := open_store.compact(before, AT_ONCE):
            dropped += count
        while count := open_store.merge_hours(until, AT_ONCE):
            merged += count
    typer.echo(f"dropped {dropped:,} decisions, merged the hours of {merged:,} days")
