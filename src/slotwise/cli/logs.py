"""What the commands that read click logs share: their options, the reading, and the screen."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:
    from slotwise.logs import Columns, Fit

Log = Annotated[
    str,
    typer.Argument(
        metavar="LOG",
        help="Parquet or CSV (.gz, .zst): a file, a folder or a pattern in quotes; a .duckdb file; or postgresql://…",
    ),
]
Impression = Annotated[str, typer.Option(help="Column of the impression: one page view.")]
Slot = Annotated[str, typer.Option(help="Column of the slot, counted from 0 or 1.")]
Item = Annotated[str, typer.Option(help="Column of the item, or of the list of items in a log with a row a page view.")]
Clicked = Annotated[
    str, typer.Option(help="Column of the click: true or 1; or the clicked item where items are lists.")
]
Placement = Annotated[str | None, typer.Option(help="Column of the page, query or place; each is fitted by itself.")]
Order = Annotated[str | None, typer.Option(help="Column of the order or time of clicks.")]
Propensity = Annotated[str | None, typer.Option(help="Column of the probability with which the whole list was shown.")]
MultiClicks = Annotated[
    str | None,
    typer.Option(
        "--multi-click",
        help="Of several clicks count the first or the last, or drop the impression: first, last, drop. By default the "
        "first where --order is given, else drop.",
    ),
]
Estimator = Annotated[
    str,
    typer.Option(help="scaling, composite, maximum-likelihood, maximum-a-posteriori or algorithm-1."),
]
TableName = Annotated[str | None, typer.Option("--table", help="The table, of a database.")]
Engine = Annotated[str, typer.Option(help="duckdb, or spark for what outgrows this machine.")]
Master = Annotated[
    str | None, typer.Option(help="Address of the Spark cluster; by default Spark runs on this machine.")
]
Memory = Annotated[str | None, typer.Option(help="What DuckDB may use, such as 2GB; the rest goes to disk.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def name_of(log: str) -> str:
    """A log in a heading: the file, or the database without its secrets."""
    from slotwise.logs.reading.sources import hidden

    return hidden(log).rstrip("/").rsplit("/", 1)[-1]


def fitted(log: str, columns: Columns, estimator: str, **options: Any) -> list[Fit]:
    """Every placement of a log, with word on stderr of what is being done."""
    from slotwise.logs import fits

    with telling() as tell:
        return fits(log, columns, estimator=estimator, progress=tell, **options)


def screen(*, stderr: bool = False) -> Console:
    """What prints names as they are, whatever is in them."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


@contextlib.contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """A line on stderr, if that is a screen, that says what is being done; gone at the end."""
    console = screen(stderr=True)
    with console.status("") if console.is_terminal else contextlib.nullcontext() as status:
        yield (lambda step: status.update(f"{step} …")) if status is not None else (lambda _: None)
