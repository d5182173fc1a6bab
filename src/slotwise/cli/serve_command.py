"""`slotwise serve`: the learner over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example, needing_the_service


@example("slotwise serve --store sqlite:///slotwise.db --port 8000")
def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in a TOML file.")] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="sqlite:///FILE or postgresql://…; sqlite:///slotwise.db by default."),
    ] = None,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="127.0.0.1 by default.")] = None,
    port: Annotated[int | None, typer.Option(metavar="PORT", help="8000 by default; 0 for any that is free.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; 1 by default.")] = None,
) -> None:
    """Serve placements over HTTP, durably.

    Every option can also be set in the file, or in the environment as SLOTWISE_STORE and so on. The key that requests
    must carry can only be set there, as SLOTWISE_SERVER_KEY.
    """
    with needing_the_service():
        from slotwise.service.http import server
    given = {"config": config, "store": store, "host": host, "port": port, "workers": workers}
    # workers are processes of their own, and read their settings again
    os.environ.update({f"SLOTWISE_{name.upper()}": str(value) for name, value in given.items() if value is not None})
    server.run()
