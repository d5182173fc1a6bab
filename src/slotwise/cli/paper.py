"""`slotwise paper`: the paper's experiments, reproduced."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from slotwise.experiments.findings import QUICK_REPLICATIONS, Plan
from slotwise.experiments.paper import run
from slotwise.problems import REPLICATIONS


def paper(
    problem: Annotated[
        list[str] | None, typer.Option(help="a, b or c; may be given several times. All by default.")
    ] = None,
    replications: Annotated[
        int | None, typer.Option(help=f"{REPLICATIONS}, as in the paper; fewer if --quick.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for one per core.")] = -1,
    out: Annotated[Path, typer.Option(help="Folder for figures, tables and the report.")] = Path("results/paper"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the horizon, few replications: to try it out.")
    ] = False,
) -> None:
    """Reproduce the paper: regret of seven policies on three problems, its claims and its bounds.

    A run that was interrupted goes on from the replications that are in the folder.
    """
    fewest = QUICK_REPLICATIONS if quick else REPLICATIONS
    plan = Plan(
        problems=tuple(dict.fromkeys(problem)) if problem else Plan.problems,
        replications=fewest if replications is None else replications,
        jobs=jobs,
        out=out,
        seed=seed,
        quick=quick,
    )
    try:
        found = run(plan)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; the same command goes on from what is in {out}", err=True)
        raise
    console = Console(soft_wrap=True, highlight=False)
    for claim, verdicts in found.verdicts:
        console.print(f"[bold]{escape(claim.statement)}[/bold]")
        for verdict in verdicts:
            word = "[green]reproduced    [/green]" if verdict.reproduced else "[yellow]not reproduced[/yellow]"
            console.print(f"  ({verdict.problem}) {word} {escape(verdict.evidence)}")
    console.print(f"\n{found.seconds:.0f} seconds. Read {out / 'report.html'}")
