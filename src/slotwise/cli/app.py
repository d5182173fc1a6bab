"""The app: every command, in the order in which help lists them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand

from slotwise.cli.options import AS_IT_IS

#: the module of each command, which has a function of its name
COMMANDS = {
    "simulate": "slotwise.cli.simulate",
    "policies": "slotwise.cli.policies",
    "bounds": "slotwise.cli.bounds",
    "paper": "slotwise.cli.paper",
    "fit": "slotwise.cli.fit",
    "score": "slotwise.cli.score",
    "evaluate": "slotwise.cli.evaluate",
    "demo": "slotwise.cli.demo",
    "serve": "slotwise.cli.serve",
    "drive": "slotwise.cli.drive",
    "decisions": "slotwise.cli.decisions",
    "compact": "slotwise.cli.compact",
    "backup": "slotwise.cli.backup",
    "export": "slotwise.cli.export",
    "import": "slotwise.cli.import_",
}
HELP = f"""Rank things on a page, and learn from what is clicked.

{AS_IT_IS}Examples:
  slotwise simulate --problem a --policy random-bound --rounds 1000
  slotwise fit clicks.parquet --out report
  slotwise serve"""


class Command(TyperCommand):
    """A command whose help says of an argument what to put in, and not of which type of Python's it is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda **_: None  # type: ignore[method-assign]
        super().format_options(ctx, formatter)


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """With these commands; what the others need is not imported."""
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in names:
        # `import` is a keyword of Python
        function = "import_" if name == "import" else name
        app.command(name, cls=Command)(getattr(import_module(COMMANDS[name]), function))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("slotwise"))
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
