"""`slotwise backup`: a copy of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, opened
from slotwise.core.errors import InvalidInput


@example("slotwise backup copy.db --store sqlite:///slotwise.db")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; must not exist.")],
    store: StoreUrl,
) -> None:
    """Copy a store in SQLite to a file, while the service runs.

    The copy is the store as of one moment.
    """
    with opened(store) as open_store:
        if not hasattr(open_store, "backup"):
            raise InvalidInput("backup copies a store in SQLite; for PostgreSQL use pg_dump --schema=slotwise")
        open_store.backup(file)
    typer.echo(f"copied to {file}")
