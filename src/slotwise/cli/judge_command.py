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
    "slotwise judge http://localhost:9200 --format ubi --by value --out list.csv",
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
    by: Annotated[
        str,
        typer.Option(metavar="WHAT", help="clicks, or value for the expected value of a document in slot 1."),
    ] = "clicks",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="EVENTS",
            help="With --by value, what events are worth, as in click=1,cart=3,purchase=10; or learned, the default: "
            "the share of documents with the event that are purchased.",
        ),
    ] = None,
    value: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="With --by value, the value of a click, in other logs.")
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Features of documents: a table with the column --item and others, of numbers or text. Estimates of "
            "rarely shown documents are shrunk toward the prediction from features.",
        ),
    ] = None,
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

    A search server takes its user from SLOTWISE_SEARCH_USER and SLOTWISE_SEARCH_PASSWORD, or SLOTWISE_SEARCH_API_KEY.
    """
    from slotwise import judgements, logs

    if log.multi_click is not None:
        raise InvalidInput("--multi-click is for slotwise fit: judge counts all clicks of a page")
    validation.one_of("by", by, judgements.MEASURES)
    validation.whole_number("max-grade", max_grade, at_least=3, at_most=4)
    if by == "clicks" and (weights or value):
        raise InvalidInput("--weights and --value are for --by value")
    options = judgements.FileOptions(rating, min_confidence, header, index)
    known = None if features is None else logs.read_features(features, log.item)
    of_events = None
    if by == "value" and value is None:
        of_events = logs.EventValues.of_text(weights or "learned")
    with progress_bar() as tell:
        tell("reading")
        source = log.source(value=value, values=of_events, progress=lambda share: tell("reading", share))
        tell("counting")
        judged = judgements.judge_counts(judgements.count_cells(source), max_grade, by, known)
        tell("writing")
        written = judgements.write_judgements(judged, out, to, options)
        summary = judgements.JudgementSummary(judged, min_confidence, source.weights)
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
                *([] if not source.weights else [f"Weights of events: {summary.weights_text()}."]),
                *logs.cleaning_text(judged.counts.cleaning),
            ]
        )
    note(f"Judgements: {out}", quiet=as_json)
    if page is not None:
        note(f"Report: {page}", quiet=as_json)
