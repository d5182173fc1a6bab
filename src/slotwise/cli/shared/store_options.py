"""What the commands on a service's store share; the service may be running or not."""

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
    """Say which extra is missing, if what the block imports is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("slotwise"):
            raise
        raise MissingExtra("the service", "serve") from None
