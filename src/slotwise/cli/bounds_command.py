"""`slotwise bounds`: the paper's bounds on the regret of a problem, and the hardest problem of its size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from slotwise import theory as proven
from slotwise.cli.shared.command_options import AsJson, LogitProblemName, example
from slotwise.core.errors import InvalidInput
from slotwise.core.files import replacing
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
        raise InvalidInput(f"the bounds are for clicks, and {problem_name} has values or constraints")
    horizon = chosen.rounds if rounds is None else rounds
    items, bias = chosen.users.items, chosen.users.position_bias
    found: dict[str, Any] = {
        "rounds": horizon,
        "lower_bound_shape": proven.lower_bound_shape(items, horizon, bias),
        "lower_bound": None,
        "lower_bound_asks_for": None,
        "upper_bound_known_bias": proven.upper_bound_known_bias(items, horizon, bias),
        "upper_bound_unknown_bias_with_constant_1": proven.upper_bound_unknown_bias(items, horizon, bias),
    }
    try:
        found["lower_bound"] = proven.lower_bound(items, horizon, bias)
        gap = proven.hardest_gap(items, horizon, bias)
    except InvalidInput as unmet:
        found["lower_bound_asks_for"] = str(unmet)
        gap = 0.25
    if hard_instance is not None:
        users = proven.hard_instance(items, bias, gap)
        content = {"position_bias": bias.tolist(), "attractiveness": users.attractiveness.tolist()}
        with replacing(hard_instance) as file:
            file.write(json.dumps(content).encode())
    if as_json:
        print(json.dumps(found))
        return
    table = Table(
        title=f"Regret in {horizon:,} rounds, {items} items, {len(bias)} slots", title_justify="left", box=None
    )
    table.add_column("bound")
    table.add_column("value", justify="right")
    table.add_row("the lower bound's shape, without its constant: √(JTS₂/S)", f"{found['lower_bound_shape']:,.0f}")
    lower = found["lower_bound"]
    table.add_row("Proposition 2, any policy: at least", "–" if lower is None else f"{lower:,.1f}")
    table.add_row("Proposition 1, epoch-ucb: at most", f"{found['upper_bound_known_bias']:,.0f}")
    table.add_row(
        "Proposition 3, epoch-ucb-upb: at most, were its constant 1",
        f"{found['upper_bound_unknown_bias_with_constant_1']:,.0f}",
    )
    Console().print(table)
    if found["lower_bound_asks_for"]:
        print(f"Proposition 2 does not apply: {found['lower_bound_asks_for']}")
