"""The app: every command, in the order in which help lists them."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand

from slotwise.cli.backup import backup
from slotwise.cli.bounds import bounds
from slotwise.cli.compact import compact
from slotwise.cli.decisions import decisions
from slotwise.cli.demo import demo
from slotwise.cli.drive import drive
from slotwise.cli.evaluate import evaluate
from slotwise.cli.export import export
from slotwise.cli.fit import fit
from slotwise.cli.import_ import import_
from slotwise.cli.options import AS_IT_IS
from slotwise.cli.paper import paper
from slotwise.cli.policies import policies
from slotwise.cli.score import score
from slotwise.cli.serve import serve
from slotwise.cli.simulate import simulate
from slotwise.cli.study import study

app = typer.Typer(
    help=f"""Rank things on a page, and learn from what is clicked.

{AS_IT_IS}Examples:
  slotwise simulate --problem a --policy random-bound --rounds 1000
  slotwise fit clicks.parquet --out report
  slotwise serve""",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS = (
    *(simulate, policies, bounds, paper, study),
    *(fit, score, evaluate),
    *(demo, serve, drive, decisions, compact, backup, export, import_),
)


class Command(TyperCommand):
    """A command whose help says of an argument what to put in, and not of which type of Python's it is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda **_: None  # type: ignore[method-assign]
        super().format_options(ctx, formatter)


for command in COMMANDS:
    app.command(command.__name__.rstrip("_"), cls=Command)(command)


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
