"""`slotwise fit`: what slots and items are worth, from a click log."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from slotwise.logs import Columns, Fit

#: items named for a placement on the screen; all of them are in the files and in the JSON
NAMED = 10

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


def fit(
    log: Log,
    impression: Impression = "impression",
    slot: Slot = "slot",
    item: Item = "item",
    clicked: Clicked = "clicked",
    placement: Placement = None,
    order: Order = None,
    propensity: Propensity = None,
    multi_click: MultiClicks = None,
    estimator: Estimator = "scaling",
    out: Annotated[Path | None, typer.Option(help="Write report.html, figures and tables into this folder.")] = None,
    table: TableName = None,
    engine: Engine = "duckdb",
    master: Master = None,
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Estimate what slots and items are worth, from a click log."""
    from slotwise.logs import RULES, Columns, write_report

    columns = Columns(impression, slot, item, clicked, placement, order, propensity)
    found = fitted(
        log, columns, estimator, multi_click=multi_click, table=table, engine=engine, master=master, memory=memory
    )
    cleaning = {rule: count for rule, count in found[0].cleaning.items() if count}
    if as_json:
        from slotwise.logs.fitted import as_json as objects

        print(json.dumps(objects(found) | {"cleaning": cleaning}, allow_nan=False))
    else:
        _show(found, cleaning, RULES)
    if out is not None:
        with telling() as tell:
            tell("writing the report")
            page = write_report(found, out, source=log.rsplit("/", 1)[-1], rules=RULES)
        if not as_json:
            Console().print(f"\nReport: {page}", soft_wrap=True, highlight=False)


def fitted(log: str, columns: Columns, estimator: str, **options: Any) -> list[Fit]:
    """Every placement of a log, with word on stderr of what is being done."""
    from slotwise.logs import fits

    with telling() as tell:
        return fits(log, columns, estimator=estimator, progress=tell, **options)


@contextlib.contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """A line on stderr, if that is a screen, that says what is being done; gone at the end."""
    console = Console(stderr=True)
    with console.status("") if console.is_terminal else contextlib.nullcontext() as status:
        yield (lambda step: status.update(f"{step} …")) if status is not None else (lambda _: None)


def _show(found: list[Fit], cleaning: dict[str, int], rules: Any) -> None:
    console = Console()
    if len(found) > 1:
        console.print(_summary(found))
    else:
        _show_one(console, found[0])
    rows = {rule: count for rule, count in cleaning.items() if rule != "rows"}
    if rows:
        console.print("\nIn the log:", highlight=False)
        for rule, count in rows.items():
            console.print(f"  {count:>12,}  {rules[rule]}", highlight=False, soft_wrap=True)


def _show_one(console: Console, one: Fit) -> None:
    from slotwise.logs.diagnosis import Diagnosis

    for line in Diagnosis(one).in_words():
        console.print(line, highlight=False)
    slots = _table("slot", "position bias", "95 % interval", "shown", "clicks")
    for slot, bias, low, high, shown, clicks in one.slot_rows():
        slots.add_row(str(slot), _number(bias), _interval(low, high), f"{shown:,}", f"{clicks:,}")
    items = _table("item", "attractiveness", "95 % interval", "shown", "clicks")
    rows = sorted(one.item_rows(), key=lambda row: -(row[1] if row[1] is not None else -1.0))
    for id, worth, low, high, shown, clicks in rows[:NAMED]:
        items.add_row(id, _number(worth), _interval(low, high), f"{shown:,}", f"{clicks:,}")
    console.print()
    console.print(slots)
    console.print()
    console.print(items)
    if len(rows) > NAMED:
        console.print(f"and {len(rows) - NAMED:,} more items", highlight=False)


def _summary(found: list[Fit]) -> Table:
    summary = _table("placement", "impressions", "items", "click rate", "slots compared", "best list begins with")
    for one in sorted(found, key=lambda one: -one.impressions):
        best = ", ".join(str(item) for item in one.best().items[:3])
        known = "yes" if one.estimate.identifiable else "not all"
        row = (f"{one.impressions:,}", f"{len(one.item_ids):,}", f"{one.click_rate:.1%}", known, best)
        summary.add_row(str(one.placement), *row)
    return summary


def _table(*heads: str) -> Table:
    table = Table(box=None, header_style="bold")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if 0 < place < 5 else "left", overflow="fold")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _interval(low: float | None, high: float | None) -> str:
    return f"{_number(low)} to {_number(high) if high is not None else '∞'}"
