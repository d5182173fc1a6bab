"""`slotwise study`: the comparisons behind the pages in `docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise import checks
from slotwise.cli.options import Jobs, example, known_ids
from slotwise.experiments import studies


@example("slotwise study calibration --quick --out results/calibration")
@known_ids("Studies", studies.STUDIES)
def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of those listed above.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where tables and figures go; results/NAME by default."),
    ] = None,
    jobs: Jobs = -1,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small part of it, to try it out.")] = False,
) -> None:
    """Write the tables and figures of the studies in docs.

    The study of policies takes most of an hour; if it is interrupted, the same command continues from what is in the
    folder.
    """
    checks.one_of("name", name, list(studies.STUDIES))
    folder = Path("results") / name if out is None else out
    try:
        studies.write(name, folder, jobs=jobs, quick=quick)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what is in {folder} is kept", err=True)
        raise
    typer.echo(f"Read {folder / 'tables.md'}")
