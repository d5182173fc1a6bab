"""The commands, put together."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from slotwise.cli.bounds import bounds
from slotwise.cli.drive import drive
from slotwise.cli.evaluate import evaluate
from slotwise.cli.fit import fit
from slotwise.cli.paper import paper
from slotwise.cli.policies import policies
from slotwise.cli.serve import serve
from slotwise.cli.simulate import simulate
from slotwise.cli.store import backup, compact, export, import_
from slotwise.cli.study import study

app = typer.Typer(
    help="Rank things on a page, and learn from what is clicked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(paper)
app.command()(simulate)
app.command()(policies)
app.command()(bounds)
app.command()(study)
app.command()(serve)
app.command()(drive)
app.command()(compact)
app.command()(backup)
app.command()(export)
app.command("import")(import_)
app.command()(fit)
app.command()(evaluate)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("slotwise"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
