"""`slotwise import`: an exported placement, added to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, needing_the_service


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
