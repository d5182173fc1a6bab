"""`slotwise export`: one placement of a store, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, needing_the_service
from slotwise.core.io import replacing


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
