"""`slotwise drive`: visitors with known tastes put a service under load, and its counts are checked."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from slotwise.cli.shared.command_options import AsJson, example
from slotwise.client import ClientError
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.environments import problem
from slotwise.loadtest import drive as run_drive
from slotwise.loadtest.loadtest_run import DEFAULT_WINDOW
from slotwise.policies.policy_registry import parse

MISCOUNTED_EXIT = 1


@example(
    "slotwise drive http://127.0.0.1:8000 --problem a --rounds 2000",
    "slotwise drive http://127.0.0.1:8000 --placement home --rounds 500",
)
def drive(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the service is: http://127.0.0.1:8000")],
    problem_name: Annotated[
        str | None, typer.Option("--problem", metavar="NAME", help="The tastes of the visitors: a to k, or FILE.json.")
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An existing placement, which learns from the visitors and stays."),
    ] = None,
    users: Annotated[
        int, typer.Option(metavar="N", help="Visitors at a time, each with a connection of their own.")
    ] = 32,
    rounds: Annotated[int, typer.Option(metavar="N", help="Decisions to ask for.")] = 10_000,
    rate: Annotated[float | None, typer.Option(metavar="N", help="Decisions per second, at most.")] = None,
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit, not counting the wait for the last deadlines.")
    ] = 60.0,
    window: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help=f"Until a decision is counted; by default {DEFAULT_WINDOW:g}."),
    ] = None,
    policy: Annotated[str | None, typer.Option(metavar="ID", help="A policy's id; by default the default one.")] = None,
    replications: Annotated[int, typer.Option(metavar="N", help="Simulations to compare with.")] = 40,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", envvar="SLOTWISE_SERVER_KEY", help="The service's key.")
    ] = None,
    alike: Annotated[bool, typer.Option("--alike", help="Use no segments and no item features.")] = False,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Allow a service on another machine.")] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the visitors; the service has its own randomness.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Put a service under load, and check what it counted.

    Simulated visitors with the tastes of a problem ask for decisions, click, stay silent, and report twice, late or in
    contradiction to themselves. The exit code is 1 if the service counted anything else than they reported.
    They use a temporary placement, or with --placement an existing one; then their tastes are drawn from the seed,
    unless a problem of the same size is named.
    """
    if problem_name is None and placement is None:
        raise InvalidInput("--problem or --placement must be given")
    tastes = None
    if problem_name is not None:
        chosen = problem(problem_name, of_mnl=True)
        if chosen.goal is not None:
            raise InvalidInput(f"visitors click, and {problem_name} has values or constraints")
        tastes = chosen.users
    if replications < 1:
        raise InvalidInput(f"replications must be at least 1, got {replications}")
    try:
        session = run_drive(
            url,
            tastes,
            placement=placement,
            policy=None if policy is None else parse(policy),
            visitors=users,
            rounds=rounds,
            rate=rate,
            seconds=seconds,
            window=window,
            key=key,
            anywhere=anywhere,
            segments=not alike,
            seed=seed,
        )
    except ClientError as error:
        raise SlotwiseError(str(error)) from error
    summary = session.summary()
    for name, simulation in (("simulated", session.simulated), ("simulated_with_lag", session.simulated_with_lag)):
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
        raise typer.Exit(MISCOUNTED_EXIT)


def _table(summary: dict[str, Any]) -> Table:
    table = Table(
        title=f"{summary['rounds']:,} lists shown in {summary['seconds']:.1f} s, ended by {summary['ended_by']}; "
        f"placement {summary['placement']}, {summary['policy']}",
        title_justify="left",
        box=None,
        show_header=False,
    )
    table.add_column(style="bold")
    table.add_column()
    table.add_row(
        "throughput",
        f"{summary['decisions_per_second']:,.0f} decisions/s, {summary['requests_per_second']:,.0f} requests/s, "
        f"{summary['users']} users",
    )
    for kind, times in summary["milliseconds"].items():
        table.add_row(f"to {kind}", ", ".join(f"{name} {value:.1f} ms" for name, value in times.items()))
    table.add_row("decisions", _listed(summary["decisions"]))
    for segment, counts in summary["segments"].items():
        table.add_row(f"  {segment}", _listed(counts))
    table.add_row("reports", _listed(summary["reports"]))
    if summary["repeated"]:
        table.add_row("asked again", f"{summary['repeated']:,} by their key, each the same decision as before")
    table.add_row("trouble", _trouble(summary))
    table.add_row("regret", f"{summary['regret']:,.1f}")
    if summary["simulated"] is not None:
        table.add_row("  simulated", _simulated(summary["simulated"], "outcomes known at once"))
    if summary["lag"] is not None and summary["simulated_with_lag"] is not None:
        lag = summary["lag"]
        late = f"outcomes known {lag['rounds']:,} rounds late, every {lag['every']:,}"
        table.add_row("  simulated", _simulated(summary["simulated_with_lag"], late))
    if summary["ending"] is not None:
        ending = summary["ending"]
        which = "the best list" if ending["is_best"] else f"{ending['worth']:.1%} of the best list's clicks"
        table.add_row(
            "in the end",
            f"{', '.join(ending['list'])} in {ending['share']:.0%} of the last {ending['rounds']:,}: {which}; "
            f"all of them {ending['mean_worth']:.1%}",
        )
    verdict = {True: "yes, tally and counts are the visitors'", False: "NO", None: "unknown"}
    table.add_row("exactly once", verdict[summary["exactly_once"]])
    for line in [*(summary["differences"] or [])[:20], *summary["notes"]]:
        table.add_row("", line)
    return table


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())


def _trouble(summary: dict[str, Any]) -> str:
    parts = [f"{count:,} × {status}" for status, count in summary["unexpected"].items()]
    if summary["renewed"]:
        parts.append(f"{summary['renewed']:,} asked again after the window, which made new decisions")
    if summary["unanswered"]:
        parts.append(f"{summary['unanswered']:,} requests unanswered")
    if summary["missed"]:
        parts.append(f"{summary['missed']:,} reports that arrived after the window")
    return ", ".join(parts) or "none"


def _simulated(regrets: dict[str, float], how: str) -> str:
    return f"{regrets['mean']:,.1f}, 5–95 % {regrets['low']:,.1f}–{regrets['high']:,.1f}, {how}"
