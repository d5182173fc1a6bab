"""`slotwise fit`: position bias and attractiveness from a click log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.click_models_command import fit_click_models
from slotwise.cli.shared.command_options import AsJson, example, known_ids, needing_the_service, takes_options
from slotwise.cli.shared.console import note, progress_bar, show
from slotwise.cli.shared.log_options import ESTIMATOR_IDS, FitArguments
from slotwise.core.errors import InvalidInput


@example(
    "slotwise fit clicks.parquet --out report",
    "slotwise fit 'logs/*.csv.gz' --placement query --order click_time --json",
    "slotwise fit clicks.parquet --to-store sqlite:///slotwise.db --name home",
    "slotwise fit clicks.parquet --click-model compare --problem-out page.json",
)
@known_ids("Estimators", ESTIMATOR_IDS)
@takes_options
def fit(
    log: FitArguments,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write report.html, figures and tables into this folder.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the fit to this file, for slotwise score.")
    ] = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="The segment of an impression, such as a device. Each segment is fitted too, partially pooled. "
            "Repeat it for several columns.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The time of an impression. Tests for drift, by item, and selects a half-life from the log.",
        ),
    ] = None,
    to_store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Start live placements from the counts, in this store: sqlite:///FILE or postgresql://…"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name of the placement there; by default its name in the log."),
    ] = None,
    click_model: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Fit models of all clicks instead, and choose the one that describes the page: compare, or mnl, "
            "pbm, cascade, dcm or ubm, which the log must then identify.",
        ),
    ] = None,
    problem_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write users of the click model, or of the chosen one, as a problem for slotwise simulate.",
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="PLACEMENT", help="The placement of these users, if the log has several.")
    ] = None,
    recommend: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="auto to recommend nothing if more than a tenth of the log is left out, or always.",
        ),
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Estimate position bias and attractiveness from a click log.

    Prints the position bias of every slot and the attractiveness of the items, with 95 % intervals. Position bias is
    clicks on an item in a slot, relative to slot 1. Attractiveness is clicks in slot 1 per impression without a click.
    """
    from slotwise import logs

    if to_store is not None and name is None and log.placement and not log.source().has_column(log.placement):
        # the log has one placement and no such column: --placement is the name of the live placement
        log, name = replace(log, placement=None), log.placement
    if (to_store is None) != (name is None) and not (name is None and log.placement):
        raise InvalidInput("--to-store needs --name unless the log names its placements, and --name needs --to-store")
    if save is not None and not save.absolute().parent.is_dir():
        raise InvalidInput(f"--save must be a file in an existing folder, got {str(save)!r}")
    if click_model is not None:
        if to_store is not None:
            raise InvalidInput("--to-store starts from the ordinary fit: leave out --click-model")
        if segment or time:
            raise InvalidInput("--segment and --time are for the ordinary fit: leave out --click-model")
        fit_click_models(log, click_model, out=out, problem_out=problem_out, at=at, as_json=as_json)
        return
    if problem_out is not None or at is not None:
        raise InvalidInput("--problem-out and --at need a --click-model, such as compare")
    with progress_bar() as tell:
        source = log.source()
        fits = log.fit_placements(source, tell, segment=segment or (), time=time, each_rule=True, recommend=recommend)
        tell("comparing click models")
        described = logs.choose_click_model(fits, source)
    if as_json:
        print(json.dumps(logs.report_dict(fits, described), allow_nan=False))
    else:
        show(logs.fit_text(fits, described))
    if out is not None:
        with progress_bar() as tell:
            tell("writing the report")
            page = logs.write_report(fits, out, source=source.name, described=described)
        note(f"Report: {page}", quiet=as_json)
    if save is not None:
        logs.save_fits(fits, save)
        note(f"Saved: {save}", quiet=as_json)
    if to_store is not None:
        with needing_the_service():
            from slotwise.service.placements.warm_start import start_placements
        note(start_placements(fits, to_store, name, segment or ()).in_words(), quiet=as_json)
