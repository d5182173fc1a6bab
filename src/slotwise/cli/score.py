"""`slotwise score`: how well a stored fit predicts another log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli.fit import as_table, show_cleaning
from slotwise.cli.log_options import LogOptions
from slotwise.cli.options import AsJson, example, takes_options
from slotwise.cli.screen import say, screen, telling

#: placements in the table; all of them are in the JSON
LISTED = 20


@example("slotwise score january.json february.parquet", "slotwise score fit.json clicks.csv --placement query")
@takes_options
def score(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="What `slotwise fit … --save FIT` has written.")],
    source: LogOptions,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For whom an impression was, as the fit was told: each segment is predicted by its own fit.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how well a stored fit predicts another log.

    Prints the log-likelihood per impression of what was clicked, beside that under simple models of the same first
    log: items only, slots only, all alike. Higher is better; 0 is the best there is.
    """
    from slotwise.logs import load_fits, score
    from slotwise.logs.fitting.wording import count_of

    rule: Any = source.multi_click
    stored = load_fits(fit)
    with telling() as tell:
        found = score(stored, source.source(), segment=segment or (), multi_click=rule, progress=tell)
    if as_json:
        print(json.dumps(found.to_json(), allow_nan=False))
        return
    console = screen()
    say(console, found.in_words())
    console.print(f"\n{found.total.impressions:,} impressions. Log-likelihood per impression, higher is better:")
    rows = []
    for model, value in found.total.log_likelihood.items():
        error = found.total.standard_error[model]
        away = value - next(iter(found.total.log_likelihood.values()))
        rows.append((model, f"{value:.4f}", f"{away:+.4f} ± {error:.4f}" if error else ""))
    console.print(as_table(("model", "log-likelihood", "difference ± standard error"), rows))
    if found.sampled:
        console.print("From a random sample of the impressions.")
    if found.total.new_items:
        say(console, f"{_count(found.total.new_items, 'item')} new to the fit, predicted as new items are.")
    new = sum(not one.known for one in found.placements)
    if new:
        say(console, f"{_count(new, 'placement')} new to the fit, predicted like the others on average.")
    if len(found.placements) > 1:
        heads = ("placement", "impressions", *next(iter(found.placements)).log_likelihood)
        every = [
            (str(one.placement), f"{one.impressions:,}", *(f"{value:.4f}" for value in one.log_likelihood.values()))
            for one in found.placements[:LISTED]
        ]
        console.print()
        console.print(as_table(heads, every))
        if len(found.placements) > LISTED:
            more = count_of(len(found.placements) - LISTED, "more placement")
            console.print(f"and {more}; --json has them all")
    show_cleaning(found.cleaning)


def _count(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"
