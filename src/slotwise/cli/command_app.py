"""The Typer app with every command, in the order of its help."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand

from slotwise.cli.shared.command_options import AS_IT_IS

#: the module of each command, which has a function of its name
COMMANDS = {
    "demo": "slotwise.cli.demo_command",
    "serve": "slotwise.cli.serve_command",
    "fit": "slotwise.cli.fit_command",
    "judge": "slotwise.cli.judge_command",
    "compare": "slotwise.cli.compare_command",
    "score": "slotwise.cli.score_command",
    "evaluate": "slotwise.cli.evaluate_command",
    "decisions": "slotwise.cli.store_commands",
    "compact": "slotwise.cli.store_commands",
    "backup": "slotwise.cli.store_commands",
    "export": "slotwise.cli.store_commands",
    "import": "slotwise.cli.store_commands",
    "simulate": "slotwise.cli.simulate_command",
    "policies": "slotwise.cli.policies_command",
    "bounds": "slotwise.cli.bounds_command",
    "paper": "slotwise.cli.paper_command",
}
HELP = f"""Learn the best order of items on a page from clicks.

{AS_IT_IS}Examples:
  slotwise demo
  slotwise serve
  slotwise fit clicks.parquet --out report"""


class Command(TyperCommand):
    """A command whose help hides Python type names."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda **_: None  # type: ignore[method-assign]
        super().format_options(ctx, formatter)


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the app with these commands; modules of the others are not imported."""
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
