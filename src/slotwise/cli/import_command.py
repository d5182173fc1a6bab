"""`slotwise import`: an exported placement, added to a store."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import StoreUrl, opened


@example("slotwise import home.json --store sqlite:///slotwise.db")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `slotwise export` wrote.")],
    store: StoreUrl,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name for the placement.")] = None,
) -> None:
    """Add an exported placement to a store.

    The store must not have a placement of that name. A running service takes it up by itself.
    """
    with opened(store) as open_store:
        from slotwise.service.placements.export_format import from_file
        from slotwise.service.schemas.name_rules import checked_name

        placement = from_file(file)
        if name is not None:
            placement = dataclasses.replace(placement, name=checked_name(name))
        open_store.carry_in(placement)
    typer.echo(f"imported {placement.name}")
