"""`slotwise decisions`, `compact`, `backup`, `export` and `import`: the commands on the store of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import StoreUrl, example, needing_the_service
from slotwise.cli.shared.console import progress_bar
from slotwise.core.io import replacing


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


@example("slotwise backup copy.db --store sqlite:///slotwise.db")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; must not exist.")],
    store: StoreUrl,
) -> None:
    """Copy a store in SQLite to a file, while the service runs.

    The copy is the store as of one moment.
    """
    with needing_the_service():
        from slotwise.service.runtime.store_maintenance import back_up_store
    back_up_store(store, file)
    typer.echo(f"copied to {file}")


@example("slotwise export home --store sqlite:///slotwise.db --out home.json")
def export(
    placement: Annotated[str, typer.Argument(metavar="PLACEMENT", help="Its name.")],
    store: StoreUrl,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The file; stdout by default.")] = None,
) -> None:
    """Write one placement of a store as JSON.

    Its definition, its tally and its counters, without pending decisions.
    """
    with needing_the_service():
        from slotwise.service.runtime.store_maintenance import export_placement
    text = export_placement(store, placement)
    if out is None:
        typer.echo(text)
        return
    with replacing(out) as file:
        file.write(text.encode())


@example("slotwise import home.json --store sqlite:///slotwise.db")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that `slotwise export` wrote.")],
    store: StoreUrl,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name for the placement.")] = None,
) -> None:
    """Add an exported placement to a store.

    The store must not have a placement of that name. A running service picks it up.
    """
    with needing_the_service():
        from slotwise.service.runtime.store_maintenance import import_placement
    typer.echo(f"imported {import_placement(store, file, name)}")
