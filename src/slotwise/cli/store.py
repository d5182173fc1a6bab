"""`slotwise compact`, `backup`, `export` and `import`: a service's store, while it is running or not."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise import checks
from slotwise.errors import InvalidInput, MissingExtra
from slotwise.files import replacing

if TYPE_CHECKING:
    from slotwise.service.store import Store

DAY = 86_400.0
#: decisions dropped in one transaction; the service writes in between
AT_ONCE = 2_000

StoreUrl = Annotated[str, typer.Option("--store", envvar="SLOTWISE_STORE", help="sqlite:///FILE or postgresql://…")]


@contextmanager
def _opened(url: str) -> Iterator[Store]:
    try:
        from slotwise.service.store import open_existing
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("slotwise"):
            raise
        raise MissingExtra("the service", "serve") from None
    store = open_existing(url)
    try:
        yield store
    finally:
        store.close()


def compact(
    store: StoreUrl,
    older_than: Annotated[float, typer.Option(help="Days since their deadline.")],
) -> None:
    """Drop final decisions that are older than so many days; what was learned from them stays.

    A late outcome of a dropped decision is answered as unknown.
    """
    before = time.time() - checks.positive_number("older_than", older_than) * DAY
    dropped = 0
    with _opened(store) as opened:
        while count := opened.compact(before, AT_ONCE):
            dropped += count
    typer.echo(f"dropped {dropped:,} decisions")


def backup(
    file: Annotated[Path, typer.Argument(help="The copy; must not exist.")],
    store: StoreUrl,
) -> None:
    """Copy a store in SQLite into a file, as of one moment, while the service goes on."""
    with _opened(store) as opened:
        if not hasattr(opened, "backup"):
            raise InvalidInput("backup copies a store in SQLite; for PostgreSQL use pg_dump --schema=slotwise")
        opened.backup(file)
    typer.echo(f"copied to {file}")


def export(
    placement: Annotated[str, typer.Argument(help="Its name.")],
    store: StoreUrl,
    out: Annotated[Path | None, typer.Option(help="The file; stdout by default.")] = None,
) -> None:
    """Write a placement as JSON: its definition, its tally and its counters, without pending decisions."""
    with _opened(store) as opened:
        from slotwise.service.worker.placement_file import to_text

        text = to_text(opened.carry_out(placement))
    if out is None:
        typer.echo(text)
        return
    with replacing(out) as file:
        file.write(text.encode())


def import_(
    file: Annotated[Path, typer.Argument(help="What `slotwise export` wrote.")],
    store: StoreUrl,
    name: Annotated[str | None, typer.Option(help="Another name for it.")] = None,
) -> None:
    """Add an exported placement to a store that has none of that name; a running service takes it up by itself."""
    with _opened(store) as opened:
        from slotwise.service.worker.definition import checked_name
        from slotwise.service.worker.placement_file import from_file

        placement = from_file(file)
        if name is not None:
            placement = dataclasses.replace(placement, name=checked_name(name))
        opened.carry_in(placement)
    typer.echo(f"imported {placement.name}")
