"""`slotwise fit --click-model`: which click model describes a page, and its users as a problem for `simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from slotwise.cli.log_options import LogOptions
from slotwise.cli.screen import say, screen, telling
from slotwise.errors import InvalidInput, UnknownName, UnwritableFile
from slotwise.files import replacing

if TYPE_CHECKING:
    from slotwise.logs.counting.click_sets import ClickSets
    from slotwise.logs.fitting.model_comparison import Comparison

COMPARE = "compare"
#: placements that are listed on the screen, those with the most impressions
LISTED = 20


def fit_click_models(
    source: LogOptions, wanted: str, *, out: Path | None, problem_out: Path | None, at: str | None, as_json: bool
) -> None:
    """Compare click models on a log, or fit one of them, and write down its users."""
    from slotwise.logs.counting.click_sets import click_sets
    from slotwise.logs.fitting.click_models import CLICK_MODELS
    from slotwise.logs.fitting.model_comparison import combined, compare_each, fit_click_model
    from slotwise.logs.reporting.click_models import write_click_models

    if wanted not in (COMPARE, *CLICK_MODELS):
        raise UnknownName("click model", wanted, [COMPARE, *CLICK_MODELS])
    if problem_out is not None and not problem_out.absolute().parent.is_dir():
        raise UnwritableFile(f"there is no folder {problem_out.parent} to write {problem_out.name} into")
    with telling() as tell:
        tell("reading all clicks")
        log = source.source()
        found = click_sets(log)
        chosen = _chosen(found, at) if problem_out is not None else None
        if wanted != COMPARE:
            for one in [chosen] if chosen is not None else found:
                fit_click_model(wanted, one)
        tell("comparing click models")
        comparisons = compare_each(found)
        together = comparisons[0] if len(comparisons) == 1 else combined(comparisons)
        problem = None
        if chosen is not None:
            own = next(one for one in comparisons if one.placement == chosen.placement)
            id = own.describing() if wanted == COMPARE else wanted
            problem = fit_click_model(id, chosen).problem()
    if as_json:
        print(json.dumps(_as_json(together, comparisons), allow_nan=False))
    else:
        _show(together, comparisons)
    if out is not None:
        page = write_click_models(together, comparisons, out, source=log.name)
        if not as_json:
            screen().print(f"\nReport: {page}", soft_wrap=True)
    if problem_out is not None and problem is not None:
        with replacing(problem_out) as file:
            file.write(json.dumps(problem).encode())
        if not as_json:
            told = f"\nUsers of {problem['model']}: slotwise simulate --problem {problem_out} --policy random-bound"
            screen().print(told, soft_wrap=True)


def _chosen(found: list[ClickSets], at: str | None) -> ClickSets:
    """The placement that a problem file is of."""
    if len(found) == 1 and at is None:
        return found[0]
    for one in found:
        if one.placement is not None and one.placement == at:
            return one
    named = ", ".join(str(one.placement) for one in sorted(found, key=lambda one: -one.impressions)[:5])
    raise InvalidInput(f"--problem-out is of one placement: name it with --at, such as {named}; got {at!r}")


def _as_json(together: Comparison, comparisons: list[Comparison]) -> dict[str, Any]:
    if len(comparisons) == 1 and comparisons[0].placement is None:
        return together.to_json()
    return together.to_json() | {"placements": {str(one.placement): one.to_json() for one in comparisons}}


def _show(together: Comparison, comparisons: list[Comparison]) -> None:
    from slotwise.logs.reporting.click_models import HEADS, PLACEMENT_HEADS, placement_rows, rows

    console = screen()
    for line in together.in_words():
        say(console, line)
    console.print(f"\nOn {together.held_out:,} impressions held out, fitted to {together.seen:,} others:")
    console.print(_table(HEADS, rows(together)))
    if len(comparisons) > 1:
        listed = placement_rows(comparisons)
        console.print("\nBy placement:")
        console.print(_table(PLACEMENT_HEADS, listed[:LISTED]))
        if len(listed) > LISTED:
            console.print(f"and {len(listed) - LISTED:,} more placements")


def _table(heads: tuple[str, ...], lines: list[list[str]]) -> Table:
    table = Table(box=None, header_style="bold")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table
