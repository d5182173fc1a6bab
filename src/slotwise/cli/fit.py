"""`slotwise fit`: what slots and items are worth, from a click log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from slotwise.cli.logs import (
    AsJson,
    Clicked,
    Engine,
    Estimator,
    Impression,
    Item,
    Log,
    Master,
    Memory,
    MultiClicks,
    Order,
    Placement,
    Propensity,
    Slot,
    TableName,
    fitted,
    name_of,
    screen,
    telling,
)

if TYPE_CHECKING:
    from slotwise.logs import Fit

#: items named for a placement on the screen; all of them are in the files and in the JSON
NAMED = 10


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
        from slotwise.logs.fitting.fit import as_json as objects

        print(json.dumps(objects(found) | {"cleaning": cleaning}, allow_nan=False))
    else:
        _show(found, cleaning, RULES)
    if out is not None:
        with telling() as tell:
            tell("writing the report")
            page = write_report(found, out, source=name_of(log), rules=RULES)
        if not as_json:
            screen().print(f"\nReport: {page}", soft_wrap=True)


def _show(found: list[Fit], cleaning: dict[str, int], rules: Any) -> None:
    console = screen()
    if len(found) > 1:
        console.print(_summary(found))
    else:
        _show_one(console, found[0])
    rows = {rule: count for rule, count in cleaning.items() if rule != "rows"}
    if rows:
        console.print("\nIn the log:")
        for rule, count in rows.items():
            console.print(f"  {count:>12,}  {rules[rule]}", soft_wrap=True)


def _show_one(console: Console, one: Fit) -> None:
    from slotwise.logs.reporting.placement import PlacementReport

    for line in PlacementReport(one).in_words():
        console.print(line)
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
        console.print(f"and {len(rows) - NAMED:,} more items")


def _summary(found: list[Fit]) -> Table:
    from slotwise.logs.reporting.placement import PlacementReport

    summary = _table("placement", "impressions", "items", "click rate", "slots comparable", "best list begins with")
    for one in sorted(found, key=lambda one: -one.impressions):
        best = ", ".join(str(item) for item in one.best().items[:3])
        known = "yes" if PlacementReport(one).slots_comparable else "no"
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
