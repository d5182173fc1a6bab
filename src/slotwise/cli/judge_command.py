"""`slotwise judge`: relevance judgements from a click log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import AsJson, example, takes_options
from slotwise.cli.shared.console import note, progress_bar, show
from slotwise.cli.shared.log_options import LogArguments
from slotwise.core import validation
from slotwise.core.errors import InvalidInput


@example(
    "slotwise judge clicks.parquet --placement query --out judgements.csv",
    "slotwise judge ubi.ndjson --format ubi --to opensearch --out list.json",
)
@takes_options
def judge(
    log: LogArguments,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the judgement list to this file.")],
    to: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="csv (query,docid,rating), full (csv with relevance, interval, pages, clicks and confidence), quepid, "
            "opensearch (Search Relevance Workbench), elasticsearch (_rank_eval) or trec (qrels).",
        ),
    ] = "csv",
    rating: Annotated[
        str,
        typer.Option(metavar="KIND", help="grade, from 0 to --max-grade, or relevance, from 0 to 1."),
    ] = "grade",
    max_grade: Annotated[int, typer.Option(metavar="N", help="The highest grade, 3 or 4.")] = 3,
    min_confidence: Annotated[
        float, typer.Option(metavar="P", help="Leave out documents whose grade has a smaller probability.")
    ] = 0.0,
    header: Annotated[bool, typer.Option("--header/--no-header", help="Begin CSV with a line of heads.")] = True,
    index: Annotated[str | None, typer.Option(metavar="NAME", help="The index of the documents, in elasticsearch.")] = (
        None
    ),
    report: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write judgements.html and tables into this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write relevance judgements from a click log, for a search engine.

    The queries are the placements of the log. Relevance is the probability of a click in slot 1, from clicks and from
    the place that the page gave the document. The highest grade is a relevance above half of the best of the query;
    each further halving is one grade less.
    """
    from slotwise import judgements, logs

    if log.multi_click is not None:
        raise InvalidInput("--multi-click is for slotwise fit: judge counts all clicks of a page")
    validation.whole_number("max-grade", max_grade, at_least=3, at_most=4)
    options = judgements.FileOptions(rating, min_confidence, header, index)
    with progress_bar() as tell:
        source = log.source()
        tell("counting")
        judged = judgements.judge_counts(judgements.count_cells(source), max_grade)
        tell("writing")
        written = judgements.write_judgements(judged, out, to, options)
        summary = judgements.JudgementSummary(judged, min_confidence)
        page = None if report is None else judgements.write_judgement_report(summary, report, source.name)
    numbers = summary.to_dict() | {"judgements": written}
    if as_json:
        print(json.dumps(numbers, allow_nan=False))
    else:
        middle, low, high = summary.ndcg
        show(
            [
                f"{written:,} judgements of {numbers['queries']:,} queries, from {numbers['pages']:,} pages and "
                f"{numbers['clicks']:,} clicks. They cover {summary.coverage:.0%} of the traffic; the mean probability "
                f"of a grade is {summary.confidence:.2f}.",
                f"NDCG@10 of the pages as they are shown: {middle:.3f} ({low:.3f} to {high:.3f}). "
                f"Underplaced documents: {numbers['underplaced']:,}.",
                *logs.cleaning_text(judged.counts.cleaning),
            ]
        )
    note(f"Judgements: {out}", quiet=as_json)
    if page is not None:
        note(f"Report: {page}", quiet=as_json)
