"""`slotwise study`: the comparisons behind the pages in `docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise import checks
from slotwise.experiments import studies


def study(
    name: Annotated[str, typer.Argument(help="policies, estimators or calibration.")],
    out: Annotated[Path | None, typer.Option(help="Folder for tables and figures; results/NAME by default.")] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for one per core.")] = -1,
    quick: Annotated[bool, typer.Option("--quick", help="A small part of it: to try it out.")] = False,
) -> None:
    """Compare policies, compare estimators, or calibrate the samplers: the tables and figures of the pages in docs.

    The study of policies takes most of an hour; interrupted, it goes on from what is in the folder.
    """
    checks.one_of("name", name, list(studies.STUDIES))
    folder = Path("results") / name if out is None else out
    try:
        studies.write(name, folder, jobs=jobs, quick=quick)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what is in {folder} is kept", err=True)
        raise
    typer.echo(f"Read {folder / 'tables.md'}")
