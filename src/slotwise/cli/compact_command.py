"""`slotwise compact`: a store without its old decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, needing_the_service


@example("slotwise compact --store sqlite:///slotwise.db --older-than 30")
def compact(
    store: StoreUrl,
    older_than: Annotated[float, typer.Option(metavar="DAYS", help="Days since the deadline of a decision.")],
    merge_after: Annotated[
        float, typer.Option(metavar="DAYS", help="Days after which counts by hour are merged into counts by day.")
    ] = 7.0,
) -> None:
    """Drop old decisions and merge old hours; all counts stay.

    Old hours become days, and every sum stays as it is. Only decisions whose outcome is final are dropped. An outcome
    that arrives for one of them later is answered as unknown. The service may be running.
    """
    with needing_the_service():
        from slotwise.service.runtime.store_maintenance import compact_store
    done = compact_store(store, older_than, merge_after)
    typer.echo(f"dropped {done.decisions:,} decisions, merged the hours of {done.days:,} days")
