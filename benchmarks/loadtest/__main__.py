"""`python -m benchmarks.loadtest`: a load test by simulated visitors, which checks the service's counts."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.loadtest import run_loadtest
from benchmarks.loadtest.loadtest_run import DEFAULT_WINDOW
from slotwise.cli import reporting_errors
from slotwise.cli.shared.command_options import AsJson, example
from slotwise.click_models import MNL
from slotwise.client import ClientError
from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.environments import problem
from slotwise.policies.policy_registry import parse

MISCOUNTED_EXIT = 1


@example(
    "python -m benchmarks.loadtest http://127.0.0.1:8000 --problem a --rounds 2000",
    "python -m benchmarks.loadtest http://127.0.0.1:8000 --placement home --rounds 500",
)
def loadtest(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the service: http://127.0.0.1:8000")],
    problem_name: Annotated[
        str | None,
        typer.Option("--problem", metavar="NAME", help="The visitors' tastes: a to k, or FILE.json."),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An existing placement, which learns from the visitors."),
    ] = None,
    users: Annotated[int, typer.Option(metavar="N", help="Concurrent visitors, each with its own connection.")] = 32,
    rounds: Annotated[int, typer.Option(metavar="N", help="Number of decisions.")] = 10_000,
    rate: Annotated[float | None, typer.Option(metavar="N", help="Maximum number of decisions per second.")] = None,
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit, without the wait for the last deadlines.")
    ] = 60.0,
    window: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help=f"Window of a decision; by default {DEFAULT_WINDOW:g}."),
    ] = None,
    policy: Annotated[str | None, typer.Option(metavar="ID", help="Policy id; by default the default one.")] = None,
    replications: Annotated[int, typer.Option(metavar="N", help="Number of simulations to compare with.")] = 40,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", envvar="SLOTWISE_SERVER_KEY", help="API key of the service.")
    ] = None,
    alike: Annotated[bool, typer.Option("--alike", help="Use no segments and no item features.")] = False,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="Allow a service on another machine.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the visitors; the service has its own.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run a load test, and check the service's counts.

    Simulated visitors with the tastes of a problem request decisions, click, stay silent, and report twice, late or
    with conflicts. The exit code is 1 if the service's counts differ from the visitors'. They use a temporary
    placement, or an existing one with --placement; then their tastes are drawn from the seed, unless --problem names a
    problem with the same number of slots and items.
    """
    if problem_name is None and placement is None:
        raise InvalidInput("--problem or --placement must be given")
    if replications < 1:
        raise InvalidInput(f"replications must be at least 1, got {replications}")
    try:
        report = run_loadtest(
            url,
            None if problem_name is None else _tastes(problem_name),
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
    summary = report.summary()
    for name, simulation in (("simulated", report.simulated), ("simulated_with_lag", report.simulated_with_lag)):
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


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(loadtest)


def main() -> None:
    """Run `python -m benchmarks.loadtest`."""
    with reporting_errors():
        app(sys.argv[1:], prog_name="python -m benchmarks.loadtest")


def _tastes(problem_name: str) -> MNL:
    chosen = problem(problem_name, of_mnl=True)
    if chosen.goal is not None:
        raise InvalidInput(f"a load test is about clicks, but {problem_name} has values or constraints")
    users: MNL = chosen.users
    return users


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
        table.add_row("retried", f"{summary['repeated']:,} with the same idempotency key, each with the same decision")
    table.add_row("errors", _errors(summary))
    table.add_row("regret", f"{summary['regret']:,.1f}")
    if summary["simulated"] is not None:
        table.add_row("  simulated", _simulated(summary["simulated"], "outcomes known immediately"))
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
    verdict = {True: "yes, the counts are the visitors'", False: "NO", None: "unknown"}
    table.add_row("exactly once", verdict[summary["exactly_once"]])
    for line in [*(summary["differences"] or [])[:20], *summary["notes"]]:
        table.add_row("", line)
    return table


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in counts.items())


def _errors(summary: dict[str, Any]) -> str:
    parts = [f"{count:,} × {status}" for status, count in summary["unexpected"].items()]
    if summary["renewed"]:
        parts.append(f"{summary['renewed']:,} retried after the window, which made new decisions")
    if summary["unanswered"]:
        parts.append(f"{summary['unanswered']:,} requests unanswered")
    if summary["missed"]:
        parts.append(f"{summary['missed']:,} reports arrived after the window")
    return ", ".join(parts) or "none"


def _simulated(regret: dict[str, float], how: str) -> str:
    return f"{regret['mean']:,.1f}, 5–95 % {regret['low']:,.1f}–{regret['high']:,.1f}, {how}"


if __name__ == "__main__":
    main()
