"""`slotwise simulate`: policies on a problem, and their regret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from slotwise.errors import InvalidInput, UnwritableFile
from slotwise.files import replacing
from slotwise.problems import REPLICATIONS, problem
from slotwise.simulate import Results
from slotwise.simulate import simulate as run_simulation

PICTURES = (".png", ".svg", ".pdf")


def simulate(
    problem_name: Annotated[
        str,
        typer.Option(
            "--problem",
            help="a, b or c of the paper, d to k, or FILE.json with position_bias, attractiveness and, "
            "if it is not for clicks, values, pinned, excluded, groups, at_most, may_be_empty.",
        ),
    ],
    policy: Annotated[
        list[str], typer.Option("--policy", help="A policy's id, or ID:option=value. May be given several times.")
    ],
    rounds: Annotated[int | None, typer.Option(help="Rounds per replication; by default the paper's.")] = None,
    replications: Annotated[int, typer.Option(help="Independent repetitions.")] = REPLICATIONS,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for one per core.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw regret into this file: .png, .svg or .pdf.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write every recorded number into this file.")] = None,
) -> None:
    """Simulate policies on a problem and report their regret."""
    chosen = problem(problem_name)
    for file in (plot, parquet):
        if file is not None and not file.absolute().parent.is_dir():
            raise UnwritableFile(f"there is no folder {file.parent} to write {file.name} into")
    if plot is not None and plot.suffix not in PICTURES:
        raise InvalidInput(f"plot must end in {', '.join(PICTURES)}, got {plot}")
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
        print(json.dumps(results.summary(), allow_nan=False))
    else:
        Console().print(_table(results))
    # after the numbers are out: a file that cannot be written must not lose them
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
