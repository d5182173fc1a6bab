"""Options of the commands that work on the store of a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from slotwise.core.errors import MissingExtra

StoreUrl = Annotated[
    str,
    typer.Option("--store", metavar="URL", envvar="SLOTWISE_STORE", help="sqlite:///FILE or postgresql://…"),
]


@contextmanager
def needing_the_service() -> Iterator[None]:
    """Raise an error that names the missing extra, if an import in the block fails."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("slotwise"):
            raise
        raise MissingExtra("the service", "serve") from None
