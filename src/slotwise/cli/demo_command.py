"""`slotwise demo`: a synthetic shop on a real service."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli.shared.command_options import example, needing_the_service


@example("slotwise demo", "slotwise demo --no-browser --port 8080 --minutes 60")
def demo(
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65_535, show_default=False, help="By default any that is free.")
    ] = 0,
    minutes: Annotated[
        float,
        typer.Option(metavar="MINUTES", min=0.01, max=10_080, help="Stop once no page has been open for this long."),
    ] = 10.0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, if there is a desktop.")
    ] = True,
) -> None:
    """Watch a simulated shop learn from its visitors.

    Starts a real service on a temporary store, and simulated visitors that use it over HTTP. The page shows the list
    over time, the estimates next to the true values, and the regret. You change the visitors, their tastes and how
    visible the slots are.
    """
    with needing_the_service():
        from slotwise.demo.demo_server import run
    run(port, minutes=minutes, browser=browser, say=lambda text: print(text, flush=True))
