"""`slotwise score`: how well a stored fit predicts another log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise.cli.shared.command_options import AsJson, example, takes_options
from slotwise.cli.shared.console import progress_bar, show
from slotwise.cli.shared.log_options import LogArguments


@example("slotwise score january.json february.parquet", "slotwise score fit.json clicks.csv --placement query")
@takes_options
def score(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="The file that `slotwise fit … --save FIT` wrote.")],
    log: LogArguments,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The segment of an impression, as in the fit: each segment is predicted by its own fit.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well a stored fit predicts another log.

    Prints the log-likelihood of the clicks per impression, under the fit and under simple models of the first log.
    These are: items only, slots only, all alike. Higher is better; 0 is the maximum.
    """
    from slotwise import logs

    multi_click: Any = log.multi_click
    stored = logs.load_fits(fit)
    with progress_bar() as tell:
        scores = logs.score(stored, log.source(), segment=segment or (), multi_click=multi_click, progress=tell)
    if as_json:
        print(json.dumps(scores.to_dict(), allow_nan=False))
    else:
        show(logs.score_text(scores) + logs.cleaning_text(scores.cleaning))
