"""`slotwise fit`: what slots and items are worth, from a click log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from slotwise.cli.log_options import ESTIMATOR_IDS, FitOptions, LogOptions
from slotwise.cli.options import AsJson, example, known_ids, takes_options
from slotwise.cli.screen import Unbroken, say, screen, telling
from slotwise.cli.to_store import start_from
from slotwise.errors import InvalidInput

if TYPE_CHECKING:
    from slotwise.logs import Fit
    from slotwise.logs.fitting.model_comparison import Comparison

#: items of a placement, and placements, on the screen; all of them are in the files and in the JSON
NAMED, LISTED = 10, 20


@example(
    "slotwise fit clicks.parquet --out report",
    "slotwise fit 'logs/*.csv.gz' --placement query --order click_time --json",
    "slotwise fit clicks.parquet --to-store sqlite:///slotwise.db --name home",
    "slotwise fit clicks.parquet --click-model compare --problem-out page.json",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def fit(
    source: FitOptions,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write report.html, figures and tables into this folder.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the fit in this file, for slotwise score.")
    ] = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For whom an impression was, such as a device. Each segment is fitted too, drawn to the others as far "
            "as they are alike. Repeat it for several columns.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="When an impression was. Says whether tastes changed, when and of which items, and finds from the log "
            "how fast what was seen is out of date.",
        ),
    ] = None,
    to_store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Start live placements from the log, in this store: sqlite:///FILE or postgresql://…"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What the placement is called there; by default as in the log, where it has any."
        ),
    ] = None,
    click_model: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Fit models of all clicks instead, and say which describes the page: compare, or mnl, pbm, cascade, "
            "dcm or ubm, which the log must then identify.",
        ),
    ] = None,
    problem_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write users of the click model, or of the one that describes the page, as a problem for slotwise "
            "simulate.",
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="PLACEMENT", help="Whose users, where the log has several placements.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate what slots and items are worth, from a click log.

    Prints the position bias of every slot (how many clicks an item gets there, relative to slot 1) and the
    attractiveness of the items (clicks on an item in slot 1 per impression without a click), with 95 % intervals.
    """
    from slotwise.logs import RULES, save_fits, write_report

    if to_store is not None and name is None and source.placement and not source.source().has_column(source.placement):
        # of a log of one placement, which has no such column, that is what the placement is to be called
        source, name = replace(source, placement=None), source.placement
    if (to_store is None) != (name is None) and not (name is None and source.placement):
        raise InvalidInput("--to-store needs the --name of the placement, where the log names none, and --name a store")
    if save is not None and not save.absolute().parent.is_dir():
        raise InvalidInput(f"--save must be a file in a folder that is there, got {str(save)!r}")
    if click_model is not None:
        if to_store is not None:
            raise InvalidInput("--to-store starts from the ordinary fit: leave out --click-model")
        if segment or time:
            raise InvalidInput("--segment and --time are for the ordinary fit: leave out --click-model")
        from slotwise.cli.click_models import fit_click_models

        fit_click_models(source, click_model, out=out, problem_out=problem_out, at=at, as_json=as_json)
        return
    if problem_out is not None or at is not None:
        raise InvalidInput("--problem-out and --at need a --click-model, such as compare")
    found = source.fits(segment=segment or (), time=time, each_rule=True)
    described = _described(source, found)
    cleaning = {rule: count for rule, count in found[0].tally.cleaning.items() if count}
    if as_json:
        from slotwise.logs.fitting.fit import as_json as as_objects

        models = {"click_models": None if described is None else described.to_json()}
        print(json.dumps(as_objects(found) | {"cleaning": cleaning} | models, allow_nan=False))
    else:
        _show(found)
        if described is not None:
            _show_described(described)
        show_cleaning(cleaning)
    if out is not None:
        with telling() as tell:
            tell("writing the report")
            page = write_report(found, out, source=source.source().name, rules=RULES, described=described)
        if not as_json:
            screen().print(f"\nReport: {page}", soft_wrap=True)
    if save is not None:
        save_fits(found, save)
        if not as_json:
            screen().print(f"\nSaved: {save}", soft_wrap=True)
    if to_store is not None:
        start_from(found, to_store, name, segment or (), quiet=as_json)


def _described(source: LogOptions, found: list[Fit]) -> Comparison | None:
    """Click models compared on the log, which is read again where some impressions have several clicks."""
    from slotwise.logs import choose_click_model

    with telling() as tell:
        tell("comparing click models")
        return choose_click_model(found, source.source())


def _show_described(described: Comparison) -> None:
    console = screen()
    console.print()
    say(console, f"How do people click? {described.in_a_sentence()}")
    say(console, "(--click-model compare has the numbers of all models, and --problem-out their users.)")


def _show(found: list[Fit]) -> None:
    console = screen()
    if len(found) > 1:
        _show_all(console, found)
    else:
        _show_one(console, found[0])


def _show_all(console: Console, found: list[Fit]) -> None:
    from slotwise.logs.reporting.all_placements import AllPlacements, begins_with, row_of

    every = AllPlacements.of(found)
    for line in every.in_words():
        say(console, line)
    console.print()
    heads = ("placement", "impressions", "click rate", "expected of its list", "its list begins with")
    listed = every.placements[:LISTED]
    console.print(as_table(heads, [(*row_of(one), Unbroken(begins_with(one))) for one in listed]))
    if len(listed) < len(found):
        more = len(found) - len(listed)
        console.print(f"and {more:,} more {'placement' if more == 1 else 'placements'}; --json and --out have them all")


def show_cleaning(counts: Mapping[str, int]) -> None:
    """What was found in the log, and what was done about it."""
    from slotwise.logs import RULES

    console = screen()
    found = {RULES[rule]: count for rule, count in counts.items() if count and rule != "rows"}
    if found:
        console.print("\nIn the log:")
    for words, count in found.items():
        console.print(f"  {count:>12,}  {words}", soft_wrap=True)


def _show_one(console: Console, one: Fit) -> None:
    from slotwise.logs.reporting import tables
    from slotwise.logs.reporting.placement import PlacementReport
    from slotwise.logs.reporting.segments import segment_rows

    report = PlacementReport(one)
    for line in report.in_words():
        say(console, line)
    console.print(
        "\nWhat each slot is worth: clicks on an item there, relative to the same item in slot 1 (the slot's position "
        "bias)."
    )
    console.print(as_table(("slot", "position bias", "95 % interval", "shown", "clicks"), tables.slots(one)))
    console.print(
        "\nWhich items people want: clicks on an item in slot 1, per impression without a click (the item's "
        "attractiveness)."
    )
    console.print(as_table(("item", "attractiveness", "95 % interval", "shown", "clicks"), tables.items(one)[:NAMED]))
    if len(one.item_ids) > NAMED:
        more = len(one.item_ids) - NAMED
        console.print(f"and {more:,} more {'item' if more == 1 else 'items'}")
    if one.segments:
        console.print("\nFor whom:")
        columns = ("segment", "impressions", "click rate", "expected of its list", "its list begins with")
        console.print(as_table(columns, [(*row[:-1], Unbroken(row[-1])) for row in segment_rows(one)]))
    console.print(f"\n{report.heading_of_list}:")
    heads = ("item", "slot", "attractiveness", "95 % interval", "shown", "in this slot")
    console.print(as_table(heads, ([row[1], row[0], *row[2:]] for row in tables.best_list(report))))
    console.print("\nWhat this log cannot say:")
    for sentence in report.limits:
        say(console, f"- {sentence}")


def as_table(heads: Sequence[str], rows: Iterable[Sequence[str | Unbroken]]) -> Table:
    """A table for the screen: the first column and lists to the left, numbers to the right."""
    table = Table(box=None, header_style="bold")
    every = list(rows)
    for place, head in enumerate(heads):
        is_text = place == 0 or any(isinstance(row[place], Unbroken) for row in every)
        table.add_column(head, justify="left" if is_text else "right", overflow="fold")
    for row in every:
        table.add_row(*row)
    return table
