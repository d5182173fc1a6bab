"""`slotwise fit`: what slots and items are worth, from a click log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from slotwise.cli.log_options import ESTIMATOR_IDS, LogOptions
from slotwise.cli.options import AsJson, example, known_ids, takes_options
from slotwise.cli.screen import screen, telling

if TYPE_CHECKING:
    from slotwise.logs import Fit

#: items named for a placement on the screen; all of them are in the files and in the JSON
NAMED = 10
LAST = "best list begins with"


@example(
    "slotwise fit clicks.parquet --out report",
    "slotwise fit 'logs/*.csv.gz' --placement query --order click_time --json",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def fit(
    source: LogOptions,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write report.html, figures and tables into this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate what slots and items are worth, from a click log.

    Prints the position bias of every slot (how many clicks an item gets there, relative to slot 1) and the
    attractiveness of the items (clicks on an item in slot 1 per impression without a click), with 95 % intervals.
    """
    from slotwise.logs import RULES, write_report

    found = source.fits()
    cleaning = {rule: count for rule, count in found[0].cleaning.items() if count}
    if as_json:
        from slotwise.logs.fitting.fit import as_json as as_objects

        print(json.dumps(as_objects(found) | {"cleaning": cleaning}, allow_nan=False))
    else:
        _show(found)
        _show_cleaning({RULES[rule]: count for rule, count in cleaning.items() if rule != "rows"})
    if out is not None:
        with telling() as tell:
            tell("writing the report")
            page = write_report(found, out, source=source.name, rules=RULES)
        if not as_json:
            screen().print(f"\nReport: {page}", soft_wrap=True)


def _show(found: list[Fit]) -> None:
    console = screen()
    if len(found) > 1:
        console.print(_summary(found))
    else:
        _show_one(console, found[0])


def _show_cleaning(counts: dict[str, int]) -> None:
    console = screen()
    if counts:
        console.print("\nIn the log:")
    for words, count in counts.items():
        console.print(f"  {count:>12,}  {words}", soft_wrap=True)


def _show_one(console: Console, one: Fit) -> None:
    from slotwise.logs.reporting import tables
    from slotwise.logs.reporting.placement import PlacementReport

    report = PlacementReport(one)
    for line in report.in_words():
        console.print(line)
    console.print("\nWhat each slot is worth: clicks on an item there, relative to the same item in slot 1 (the slot's")
    console.print("position bias).")
    console.print(_table(("slot", "position bias", "95 % interval", "shown", "clicks"), tables.slots(one)))
    console.print("\nWhich items people want: clicks on an item in slot 1, per impression without a click (the item's")
    console.print("attractiveness).")
    console.print(_table(("item", "attractiveness", "95 % interval", "shown", "clicks"), tables.items(one)[:NAMED]))
    if len(one.item_ids) > NAMED:
        console.print(f"and {len(one.item_ids) - NAMED:,} more items")
    console.print("\nWhat slotwise would show:")
    heads = ("item", "slot", "attractiveness", "95 % interval", "shown", "in this slot")
    console.print(_table(heads, ([row[1], row[0], *row[2:]] for row in tables.best_list(report))))
    console.print("\nWhat this log cannot say:")
    for sentence in report.limits:
        console.print(f"- {sentence}")


def _summary(found: list[Fit]) -> Table:
    from slotwise.logs.reporting.placement import PlacementReport

    heads = ("placement", "impressions", "items", "click rate", "slots comparable", LAST)
    rows = []
    for one in sorted(found, key=lambda one: -one.impressions):
        best = "   ".join(f"{slot}. {item}" for slot, item in enumerate(one.best().items[:3], start=1))
        known = "yes" if PlacementReport(one).slots_comparable else "no"
        counts = (f"{one.impressions:,}", f"{len(one.item_ids):,}", f"{one.click_rate_of_log:.1%}")
        rows.append((str(one.placement), *counts, known, best))
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, header_style="bold")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if 0 < place < 6 and head != LAST else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
