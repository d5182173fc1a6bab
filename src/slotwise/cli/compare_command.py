"""`slotwise compare`: two rankings or judgement lists against a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli.shared.command_options import AsJson, example, takes_options
from slotwise.cli.shared.console import progress_bar, show
from slotwise.cli.shared.log_options import LogArguments

#: queries that are printed
MAX_QUERIES = 10


@example(
    "slotwise compare old.csv new.csv clicks.parquet --placement query",
    "slotwise compare old new pages.parquet --team ranker",
)
@takes_options
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A CSV file of query,docid,rating; with --team, a team.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    log: LogArguments,
    team: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The team of each item, in a log of interleaved pages (team draft)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two rankings or judgement lists on a click log.

    Prints the NDCG@10 of both against judgements from the log, and their difference with an interval, overall and per
    query. With --team, counts the interleaved pages that each team won, with a sign test.
    """
    from slotwise import judgements, logs

    with progress_bar() as tell:
        source = log.source()
        tell("comparing")
        if team is not None:
            result = judgements.compare_teams(source, team, first, second)
            texts: list[logs.Block] = [
                f"{second} won {result.second:,} pages and {first} won {result.first:,}; {result.ties:,} were ties.",
                f"The share of {second} is {result.share:.3f} ({result.low:.3f} to {result.high:.3f}), "
                f"p = {result.p_value:.2g}.",
            ]
            numbers = result.to_dict()
        else:
            old, new = (judgements.read_ranked_lists(Path(path)) for path in (first, second))
            judged = judgements.judge_counts(judgements.count_cells(source))
            found = judgements.compare_lists(judged, old, new)
            numbers = found.to_dict()
            texts = [
                f"NDCG@10 over {found.queries:,} queries ({found.traffic:.0%} of the pages): {found.first:.3f} of A "
                f"and {found.second:.3f} of B. The difference is {found.difference:+.3f} ({found.low:+.3f} to "
                f"{found.high:+.3f}). The log has shown {found.judged:.0%} of the compared documents.",
                logs.TextTable(
                    ("query", "pages", "A", "B", "95 % interval of B - A"),
                    [
                        (
                            row["query"],
                            f"{row['pages']:,}",
                            f"{row['first']:.3f}",
                            f"{row['second']:.3f}",
                            f"{row['low']:+.3f} to {row['high']:+.3f}",
                        )
                        for row in found.by_query[:MAX_QUERIES]
                    ],
                ),
            ]
    if as_json:
        print(json.dumps(numbers, allow_nan=False))
    else:
        show(texts)
