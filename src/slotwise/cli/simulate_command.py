"""`slotwise simulate`: policies on a problem, and their regret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from slotwise.cli.shared.command_options import AsJson, Cluster, Jobs, ProblemName, Seed, example
from slotwise.cli.shared.console import progress_bar
from slotwise.core.errors import InvalidInput, UnwritableFile
from slotwise.core.io import replacing
from slotwise.environments import REPLICATIONS, problem
from slotwise.simulation import Results
from slotwise.simulation import simulate as run_simulation
from slotwise.simulation.cluster import on_cluster

PICTURES = (".png", ".svg", ".pdf")


@example(
    "slotwise simulate --problem a --policy thompson-sampling --rounds 1000",
    "slotwise simulate --problem b --policy toprank --plot b.png",
    "slotwise simulate --problem shop --policy thompson-sampling --rounds 5000",
    "slotwise simulate --problem cascade --policy toprank --rounds 5000",
)
def simulate(
    problem_name: ProblemName,
    policy: Annotated[
        list[str],
        typer.Option("--policy", metavar="ID", help="A policy's id, or ID:option=value; may be repeated."),
    ],
    rounds: Annotated[
        int | None, typer.Option(metavar="N", help="Rounds per replication; by default the problem's.")
    ] = None,
    replications: Annotated[int, typer.Option(metavar="N", help="Independent repetitions.")] = REPLICATIONS,
    seed: Seed = 0,
    jobs: Jobs = -1,
    cluster: Cluster = None,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw regret into this file: .png, .svg or .pdf.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every recorded number into this file.")
    ] = None,
) -> None:
    """Simulate policies on a problem and report their regret.

    Regret is the expected number of clicks that a policy loses against the best list, summed over the rounds. `slotwise
    policies` lists the policies. FILE.json holds position_bias and attractiveness and, for a goal other than clicks,
    values, pin, exclude, groups, max_per_group and may_be_empty. A changing environment has segments, delay, arrivals,
    departures, churn, drift, walk, cycle and features; `--problem shop` has all of them. Users of another click model
    have "model" and its parameters, and may click several times.
    """
    chosen = problem(problem_name)
    for file in (plot, parquet):
        if file is not None and not file.absolute().parent.is_dir():
            raise UnwritableFile(f"there is no folder {file.parent} to write {file.name} into")
    if plot is not None and plot.suffix not in PICTURES:
        raise InvalidInput(f"plot must end in {', '.join(PICTURES)}, got {plot}")
    with on_cluster(cluster), progress_bar() as tell:
        tell("simulating; the first run on a machine compiles for up to a minute")
        results = run_simulation(
            chosen.users,
            policy,
            goal=chosen.goal,
            rounds=chosen.rounds if rounds is None else rounds,
            replications=replications,
            seed=seed,
            jobs=jobs,
        )
    if as_json:
        print(json.dumps(results.to_dict(), allow_nan=False))
    else:
        Console().print(_table(results))
    # after printing: a file that cannot be written must not lose the numbers
    if plot is not None:
        with replacing(plot) as picture:
            results.plot().savefig(picture, format=plot.suffix[1:], dpi=160)
    if parquet is not None:
        results.to_parquet(parquet)


def _table(results: Results) -> Table:
    (first, *headings), *rows = results.table()
    table = Table(title=results.title, title_justify="left", box=None, header_style="bold")
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    return table
