from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from slotwise.cli.shared.command_options import example, known_ids, takes_options


@dataclass(frozen=True)
class Drink:
    kind: Annotated[str, typer.Argument(help="What it is.")]
    sugar: Annotated[int, typer.Option(help="Spoons of it.")] = 1


@example("bar tea --sugar 2 --twice")
@known_ids("Kinds", ["tea", "half-caffeinated-coffee"] * 5)
@takes_options
def order(drink: Drink, twice: Annotated[bool, typer.Option("--twice", help="Two of them.")] = False) -> None:
    """Order a drink."""
    print(drink, twice)


app = typer.Typer(rich_markup_mode=None)
app.command()(order)


def test_a_record_of_options_is_given_field_by_field() -> None:
    assert CliRunner().invoke(app, ["tea"]).output == "Drink(kind='tea', sugar=1) False\n"
    assert CliRunner().invoke(app, ["tea", "--sugar", "3", "--twice"]).output == "Drink(kind='tea', sugar=3) True\n"
    refused = CliRunner().invoke(app, ["tea", "--sugar", "much"])
    assert refused.exit_code == 2
    assert "--sugar" in refused.output


def test_help_has_the_fields_the_ids_and_the_example() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).output
    assert "Spoons of it.  [default: 1]" in shown
    assert "\n  Example:\n    bar tea --sugar 2 --twice\n" in shown
    listed = shown.partition("Kinds:\n")[2].partition("\n\n")[0].split()
    assert set(listed) <= {"tea,", "half-caffeinated-coffee,", "half-caffeinated-coffee"}
