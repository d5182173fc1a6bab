"""`slotwise drive`: visitors of known tastes put a service under load, and what it made of them."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from slotwise.drive import drive as run_drive
from slotwise.errors import InvalidInput
from slotwise.policies import default_policy
from slotwise.policies.registry import parse
from slotwise.problems import problem

COUNTED_WRONG = 1


def drive(
    url: Annotated[str, typer.Argument(help="Where the service is: http://127.0.0.1:8000")],
    problem_name: Annotated[
        str, typer.Option("--problem", help="The visitors: a, b or c of the paper, d to k, or FILE.json.")
    ],
    users: Annotated[int, typer.Option(help="Visitors at once, each with a connection.")] = 32,
    rounds: Annotated[int, typer.Option(help="Decisions.")] = 10_000,
    rate: Annotated[float | None, typer.Option(help="Decisions a second, at most.")] = None,
    seconds: Annotated[float, typer.Option(help="At most so long, before the last deadlines.")] = 60.0,
    window: Annotated[float, typer.Option(help="Seconds until a decision is counted.")] = 0.5,
    policy: Annotated[str | None, typer.Option(help="A policy's id; the default one if not given.")] = None,
    replications: Annotated[int, typer.Option(help="Of the simulations to compare with.")] = 40,
    key: Annotated[str | None, typer.Option(envvar="SLOTWISE_SERVER_KEY", help="The service's key.")] = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Also a service on another machine.")] = False,
    seed: Annotated[int, typer.Option(help="Of the visitors; the service has its own randomness.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Put a service under load, and check what it counted and learned.

    Visitors decide, click, stay silent, report twice, late and in contradiction. The exit code is 1 if the service
    counted anything else than what they were told.
    """
    chosen = problem(problem_name, of_mnl=True)
    if chosen.goal is not None:
        raise InvalidInput(f"visitors click, and {problem_name} has values or constraints")
    wanted = parse(policy) if policy is not None else default_policy()
    if replications < 1:
        raise InvalidInput(f"replications must be at least 1, got {replications}")
    found = run_drive(
        url,
        chosen.users,
        policy=wanted,
        visitors=users,
        rounds=rounds,
        rate=rate,
        seconds=seconds,
        window=window,
        key=key,
        anywhere=anywhere,
        seed=seed,
    )
    summary = found.summary()
    for name, simulation in (("simulated", found.simulated), ("simulated_with_lag", found.simulated_with_lag)):
        try:
            regrets = simulation(replications, seed)
            summary[name] = None if regrets is None else vars(regrets)
        except KeyboardInterrupt:
            summary[name] = None
    if as_json:
        print(json.dumps(summary, allow_nan=False))
    else:
        Console().print(_table(summary))
    if summary["exactly_once"] is False:
        raise typer.Exit(COUNTED_WRONG)


def _table(found: dict[str, Any]) -> Table:
    table = Table(
        title=f"{found['rounds']:,} lists shown in {found['seconds']:.1f} s, ended by {found['ended_by']}; "
        f"placement {found['placement']}, {found['policy']}",
        title_justify="left",
        box=None,
        show_header=False,
    )
    table.add_column(style="bold")
    table.add_column()
    table.add_row(
        "throughput",
        f"{found['decisions_per_second']:,.0f} decisions/s, {found['requests_per_second']:,.0f} requests/s, "
        f"{found['users']} users",
    )
    for kind, times in found["milliseconds"].items():
        table.add_row(f"to {kind}", ", ".join(f"{name} {value:.1f} ms" for name, value in times.items()))
    table.add_row("decisions", _counted(found["decisions"]))
    table.add_row("reports", _counted(found["reports"]))
    table.add_row("trouble", _trouble(found))
    table.add_row("regret", f"{found['regret']:,.1f}")
    table.add_row("  simulated", _simulated(found["simulated"], "outcomes known at once"))
    if found["lag"] is not None:
        lag = found["lag"]
        late = f"outcomes known {lag['rounds']:,} rounds late, every {lag['every']:,}"
        table.add_row("  simulated", _simulated(found["simulated_with_lag"], late))
    if found["ending"] is not None:
        ending = found["ending"]
        which = "the best list" if ending["is_best"] else f"{ending['worth']:.1%} of the best list's clicks"
        table.add_row(
            "in the end",
            f"{', '.join(ending['list'])} in {ending['share']:.0%} of the last {ending['rounds']:,}: {which}; "
            f"all of them {ending['mean_worth']:.1%}",
        )
    verdict = {True: "yes, tally and counts are the visitors'", False: "NO", None: "cannot be told"}
    table.add_row("exactly once", verdict[found["exactly_once"]])
    for difference in (found["differences"] or [])[:20]:
        table.add_row("", difference)
    return table


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())


def _trouble(found: dict[str, Any]) -> str:
    parts = [f"{count:,} × {status}" for status, count in found["unexpected"].items()]
    if found["unanswered"]:
        parts.append(f"{found['unanswered']:,} requests unanswered")
    if found["missed"]:
        parts.append(f"{found['missed']:,} reports that arrived after the window")
    return ", ".join(parts) or "none"


def _simulated(found: dict[str, float] | None, how: str) -> str:
    if found is None:
        return f"–, {how}"
    return f"{found['mean']:,.1f}, 5–95 % {found['low']:,.1f}–{found['high']:,.1f}, {how}"
