"""`slotwise backup`: a copy of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, needing_the_service


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
