"""`slotwise study`: the comparisons behind the pages in `docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise import checks
from slotwise.cli.options import Jobs, example, known_ids
from slotwise.experiments import studies
from slotwise.experiments.leaderboard_kinds import KINDS
from slotwise.experiments.lived_plan import PARTS


@example("slotwise study calibration --quick --out results/calibration", "slotwise study lived --part segments")
@known_ids("Parts of the study lived", PARTS)
@known_ids("Parts of the leaderboard", KINDS)
@known_ids("Studies", studies.STUDIES)
def study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of those listed above.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where tables and figures go; results/NAME by default."),
    ] = None,
    jobs: Jobs = -1,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small part of it, to try it out.")] = False,
    part: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="Of lived or leaderboard: this part only; may be repeated.")
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(help="Of lived: replications, or problems, per row, by part. Of leaderboard and contextual: 20."),
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="Of leaderboard and contextual: 5,000 by default.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of lived: 2 by default; constants were chosen on 1. Of leaderboard, contextual and logs: 1."
        ),
    ] = None,
    few: Annotated[
        bool, typer.Option("--few", help="Of lived: only random-bound, and posterior-sampling beside it.")
    ] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of lived and leaderboard: also write this page.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of logs: a click log to compare models on, not a made-up one.")
    ] = None,
) -> None:
    """Write the tables and figures of the studies in docs.

    The study of policies takes most of an hour, lived some hours, and the leaderboard half an hour; if one of them is
    interrupted, the same command continues from what is in the folder.
    """
    checks.one_of("name", name, list(studies.STUDIES))
    folder = Path("results") / name if out is None else out
    try:
        studies.write(
            name,
            folder,
            jobs=jobs,
            quick=quick,
            parts=part or None,
            replications=replications,
            rounds=rounds,
            few=few or None,
            seed=seed,
            page=page,
            log=log,
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what is in {folder} is kept", err=True)
        raise
    typer.echo(f"Read {folder / 'tables.md'}")
