"""`slotwise demo`: a shop that is made up, to watch the service learn."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example
from slotwise.cli.shared.store_options import needing_the_service


@example("slotwise demo", "slotwise demo --no-browser --port 8080 --minutes 60")
def demo(
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65_535, show_default=False, help="By default any that is free.")
    ] = 0,
    minutes: Annotated[
        float,
        typer.Option(metavar="MINUTES", min=0.01, max=10_080, help="Stop once no page has been open for so long."),
    ] = 10.0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, where there is a desktop.")
    ] = True,
) -> None:
    """Watch a shop learn what its visitors like.

    A real service is started, on a store that is thrown away at the end, and simulated visitors use it over HTTP. The
    page shows how the list settles, what was learned beside what is true, and what was lost on the way; you change who
    comes, what they like and how visible the slots are.
    """
    with needing_the_service():
        from slotwise.demo.demo_server import run
    run(port, minutes=minutes, browser=browser, say=lambda text: print(text, flush=True))
