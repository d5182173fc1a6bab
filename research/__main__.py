"""`python -m research`: list the studies, or run one and write its tables and figures into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from research import studies
from research.changing_pages.plan import OURS, PARTS, PLAIN
from research.leaderboard.leaderboard_environments import KINDS
from research.log_truths.parts import PARTS as LOG_PARTS
from slotwise.cli import reporting_errors
from slotwise.cli.shared.command_options import Cluster, Jobs, example, known_ids
from slotwise.core import validation
from slotwise.simulation.cluster import on_cluster


@example("python -m research calibration --quick --out results/calibration")
@known_ids("Parts of changing-pages", PARTS)
@known_ids("Parts of leaderboard", KINDS)
@known_ids("Parts of log-truths", LOG_PARTS)
@known_ids("Studies", studies.STUDIES)
def study(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One of those listed above; without it they are listed.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write tables and figures into this folder; results/NAME by default."),
    ] = None,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small part of the study, to try it out.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="For log-truths: as many logs as its note states; an hour or more.")
    ] = False,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="For alternatives, changing-pages, exploration, leaderboard or log-truths: only this part; may be "
            "repeated.",
        ),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For changing-pages: replications of each row; each part has its own default. For exploration: "
            "problems of each set, with one run each. For leaderboard and "
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
            help="For changing-pages: 2 by default, because constants were chosen on 1. For leaderboard, contextual "
            "and logs: 1 by default.",
        ),
    ] = None,
    few: Annotated[bool, typer.Option("--few", help=f"For changing-pages: only {OURS} and {PLAIN}.")] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For changing-pages and leaderboard: also write this note.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For logs: a click log to compare models on, instead of simulated ones."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For log-truths: real logs, yandex/sessions.txt and clara2/pages.tsv; optional. For judgements: "
            "clara2/pages.tsv, clara2/labels.tsv and yandex/sessions.txt.",
        ),
    ] = None,
) -> None:
    """Run a study and write its tables and figures.

    policies and leaderboard take about half an hour each, changing-pages some hours. If one of them is interrupted, the
    same command continues from the finished parts in the folder.
    """
    if name is None:
        typer.echo("\n".join(f"{id:15} {studies.summary(id)}" for id in studies.STUDIES))
        return
    validation.one_of("name", name, list(studies.STUDIES))
    folder = Path("results") / name if out is None else out
    try:
        with on_cluster(cluster):
            studies.write(
                name,
                folder,
                jobs=jobs,
                quick=quick,
                parts=part or None,
                replications=replications,
                rounds=rounds,
                few=few or None,
                full=full or None,
                seed=seed,
                page=page,
                log=log,
                data=data,
            )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; what is in {folder} is kept", err=True)
        raise
    typer.echo(f"Read {folder / 'tables.md'}")


def main(arguments: list[str] | None = None) -> None:
    """Run `python -m research` with these arguments, by default those of the process."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(study)
    with reporting_errors():
        app(sys.argv[1:] if arguments is None else arguments, prog_name="python -m research")


if __name__ == "__main__":
    main()
