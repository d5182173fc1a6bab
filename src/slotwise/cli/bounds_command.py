"""`slotwise bounds`: the paper's bounds on the regret of a problem, and the hardest problem of its size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from slotwise import theory as proven
from slotwise.cli.shared.command_options import AsJson, LogitProblemName, example
from slotwise.core.errors import InvalidInput
from slotwise.core.io import replacing
from slotwise.environments import problem


@example("slotwise bounds --problem c --rounds 10000")
def bounds(
    problem_name: LogitProblemName,
    rounds: Annotated[int | None, typer.Option(metavar="N", help="Horizon; by default the problem's.")] = None,
    hard_instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the lower bound's hardest problem of this size into this file; simulate takes it as --problem.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate bounds on regret for a problem.

    The paper's Propositions 1 to 3: a lower bound for every policy, and upper bounds for two policies.
    """
    chosen = problem(problem_name, of_mnl=True)
    if chosen.goal is not None:
        raise InvalidInput(f"the bounds are about clicks, but {problem_name} has values or constraints")
    horizon = chosen.rounds if rounds is None else rounds
    limits = proven.compute_regret_bounds(chosen.users, horizon)
    if hard_instance is not None:
        users = proven.hardest_problem(chosen.users, horizon)
        content = {"position_bias": users.position_bias.tolist(), "attractiveness": users.attractiveness.tolist()}
        with replacing(hard_instance) as file:
            file.write(json.dumps(content).encode())
    if as_json:
        print(json.dumps(limits._asdict()))
        return
    sizes = f"{chosen.users.items} items, {chosen.users.slots} slots"
    table = Table(title=f"Regret in {horizon:,} rounds, {sizes}", title_justify="left", box=None)
    table.add_column("bound")
    table.add_column("value", justify="right")
    table.add_row("the lower bound's shape, without its constant: √(JTS₂/S)", f"{limits.lower_bound_shape:,.0f}")
    lower = limits.lower_bound
    table.add_row("Proposition 2, any policy: at least", "–" if lower is None else f"{lower:,.1f}")
    table.add_row("Proposition 1, epoch-ucb: at most", f"{limits.upper_bound_known_bias:,.0f}")
    table.add_row(
        "Proposition 3, epoch-ucb-upb: at most, if its constant is 1",
        f"{limits.upper_bound_unknown_bias_with_constant_1:,.0f}",
    )
    Console().print(table)
    if limits.lower_bound_asks_for:
        print(f"Proposition 2 does not apply: {limits.lower_bound_asks_for}")
