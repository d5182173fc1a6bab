"""`slotwise paper`: the paper's experiments, reproduced."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from slotwise.cli.shared.command_options import Cluster, Jobs, Seed, example
from slotwise.environments import REPLICATIONS
from slotwise.paper.paper_tables import QUICK_REPLICATIONS, Plan
from slotwise.paper.reproduction import run
from slotwise.simulation.cluster import on_cluster


@example("slotwise paper --quick --problem a --out results/quick")
def paper(
    problem: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="a, b or c; may be repeated. All of them by default.")
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help=f"{REPLICATIONS} by default, as in the paper; fewer with --quick.")
    ] = None,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where figures, tables and the report go.")] = Path(
        "results/paper"
    ),
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A tenth of the horizon and few replications, to try it out.")
    ] = False,
) -> None:
    """Reproduce the paper: regret, its claims and its bounds.

    Seven policies on three problems. Regret is the number of expected clicks that a policy loses against the best
    list, added up over the rounds. An interrupted run continues from the replications in the folder.
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
        with on_cluster(cluster):
            results = run(plan)
    except KeyboardInterrupt:
        typer.echo(f"interrupted; the same command continues from what is in {out}", err=True)
        raise
    console = Console(soft_wrap=True, highlight=False)
    for claim, verdicts in results.verdicts:
        console.print(f"[bold]{escape(claim.statement)}[/bold]")
        for verdict in verdicts:
            word = "[green]reproduced    [/green]" if verdict.reproduced else "[yellow]not reproduced[/yellow]"
            console.print(f"  ({verdict.problem}) {word} {escape(verdict.evidence)}")
    console.print(f"\n{results.seconds:.0f} seconds. Read {out / 'report.html'}")
