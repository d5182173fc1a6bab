"""`slotwise decisions`: the decisions of a store and their outcomes, as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.console import progress_bar
from slotwise.cli.shared.store_options import StoreUrl, needing_the_service


@example("slotwise decisions --store sqlite:///shop.db --out log --since 2026-11-01")
def decisions(
    store: StoreUrl,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write, a file for each day (UTC).")],
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Issued from then on: 2026-11-01 or 2026-11-01T12:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Issued before then.")] = None,
    placement: Annotated[str | None, typer.Option(metavar="NAME", help="Of this placement only.")] = None,
) -> None:
    """Write decisions and their outcomes as Parquet files.

    One row for each decision with a final outcome. `slotwise fit` and `slotwise evaluate` read the folder. A day
    that was written before is replaced. The service may be running.
    """
    with needing_the_service():
        from slotwise.service.runtime.store_maintenance import export_decisions
    with progress_bar() as tell:
        done = export_decisions(store, out, since=since, until=until, placement=placement, progress=tell)
    left = f"; {done.pending:,} are not final yet and were left out" if done.pending else ""
    typer.echo(f"wrote {done.decisions:,} decisions into {done.files:,} files{left}")
