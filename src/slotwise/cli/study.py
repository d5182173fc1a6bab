"""`slotwise study`: the comparisons behind the pages in `docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise import checks
from slotwise.cli.options import Jobs, example, known_ids
from slotwise.experiments import studies
from slotwise.experiments.leaderboard_kinds import KINDS
from slotwise.experiments.lived_plan import OURS, PARTS, PLAIN


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
        list[str] | None,
        typer.Option(metavar="PART", help="For lived or leaderboard: only this part; may be repeated."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For lived: how many of each row, by default as many as its part needs. For leaderboard and "
            "contextual: 20 by default.",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", help="For leaderboard and contextual: 5,000 by default.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For lived: 2 by default, as constants were chosen on 1. For leaderboard, contextual and "
            "logs: 1 by default.",
        ),
    ] = None,
    few: Annotated[bool, typer.Option("--few", help=f"For lived: only {OURS}, and {PLAIN} beside it.")] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For lived and leaderboard: also write this page.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For logs: a click log to compare models on, in place of invented ones."),
    ] = None,
) -> None:
    """Write the tables and figures of the studies in docs.

    The studies of policies and of the leaderboard take about half an hour each, and lived some hours; if one of them is
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
