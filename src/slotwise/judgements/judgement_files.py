"""Judgement lists in the files that search tools import."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from slotwise.core import validation
from slotwise.core.errors import InvalidInput
from slotwise.core.io import replacing
from slotwise.judgements.relevance import DEPTH, Judgements

HEADS = ("query", "docid", "rating")
FULL_HEADS = (*HEADS, "relevance", "low", "high", "pages", "clicks", "confidence")
RATINGS = ("grade", "relevance")


class JudgedDocument(NamedTuple):
    """A line of a judgement list."""

    query: str
    document: str
    rating: int | float
    relevance: float
    low: float
    high: float
    pages: int
    clicks: int
    confidence: float


@dataclass(frozen=True)
class FileOptions:
    """How a judgement list is written.

    Parameters
    ----------
    rating
        "grade", a whole number from 0, or "relevance", the probability of a click in slot 1.
    min_confidence
        The minimum probability of a grade; documents below it are left out.
    header
        Whether CSV begins with a line of heads.
    index
        The name of the index, for Elasticsearch.
    """

    rating: str = "grade"
    min_confidence: float = 0.0
    header: bool = True
    index: str | None = None


def judged_documents(judged: Judgements, options: FileOptions) -> list[JudgedDocument]:
    """Return the documents that are known well enough, by query, the best first.

    Parameters
    ----------
    judged
        The judgements of a log.
    options
        The rating, and the minimum confidence.

    Raises
    ------
    InvalidInput
        If no document is known that well.
    """
    validation.one_of("rating", options.rating, RATINGS)
    least = options.min_confidence
    if not 0.0 <= least <= 1.0:
        raise InvalidInput(f"min-confidence must be a probability, got {least}")
    counts, (low, high) = judged.counts, judged.interval()
    order = np.lexsort((-judged.relevance, counts.query))
    used = order[judged.confidence[order] >= least]
    relevance = judged.relevance[used].round(6).tolist()
    columns = (
        [counts.queries[query] for query in counts.query[used].tolist()],
        [counts.documents[cell] for cell in used.tolist()],
        judged.grades[used].tolist() if options.rating == "grade" else relevance,
        relevance,
        low[used].round(6).tolist(),
        high[used].round(6).tolist(),
        judged.pages[used].astype(np.int64).tolist(),
        judged.clicks[used].astype(np.int64).tolist(),
        judged.confidence[used].round(4).tolist(),
    )
    rows = [JudgedDocument(*row) for row in zip(*columns, strict=True)]
    if not rows:
        best = float(judged.confidence.max())
        raise InvalidInput(f"no grade has the confidence {least:g}; the highest is {best:.2f}: lower min-confidence")
    return rows


def write_judgements(judged: Judgements, path: Path, to: str = "csv", options: FileOptions | None = None) -> int:
    """Write a judgement list, and return the number of its documents.

    Parameters
    ----------
    judged
        The judgements of a log.
    path
        The file to write; it is replaced.
    to
        One of `FILE_FORMATS`.
    options
        The rating, the minimum confidence, and details of a format.

    Returns
    -------
    int
        The number of judged documents.
    """
    validation.one_of("to", to, tuple(FILE_FORMATS))
    options = options or FileOptions()
    rows = judged_documents(judged, options)
    content = FILE_FORMATS[to](rows, options)
    with replacing(path) as file:
        file.write(content.encode())
    if to == "trec":
        lines = (f"{number}\t{query}\n" for number, (query, _) in enumerate(_by_query(rows), start=1))
        with replacing(path.with_name(f"{path.name}.topics.tsv")) as file:
            file.write("".join(lines).encode())
    return len(rows)


def _csv(rows: list[JudgedDocument], options: FileOptions, heads: tuple[str, ...] = HEADS) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if options.header:
        writer.writerow(heads)
    writer.writerows(row[: len(heads)] for row in rows)
    return text.getvalue()


def _full(rows: list[JudgedDocument], options: FileOptions) -> str:
    return _csv(rows, options, FULL_HEADS)


def _quepid(rows: list[JudgedDocument], options: FileOptions) -> str:
    """Quepid reads this header, and whole ratings."""
    _refuse_fractions(options, "Quepid")
    return _csv(rows, FileOptions())


def _opensearch(rows: list[JudgedDocument], options: FileOptions) -> str:  # noqa: ARG001
    """The body of PUT _plugins/_search_relevance/judgments: ratings are text there."""
    ratings = [
        {"query": query, "ratings": [{"docId": row.document, "rating": f"{row.rating:.3f}"} for row in group]}
        for query, group in _by_query(rows)
    ]
    return _json(
        {
            "name": "slotwise",
            "description": "Judgements from clicks by slotwise",
            "type": "IMPORT_JUDGMENT",
            "judgmentRatings": ratings,
        }
    )


def _elasticsearch(rows: list[JudgedDocument], options: FileOptions) -> str:
    """The body of POST INDEX/_rank_eval: put the search that is to be measured into each request."""
    _refuse_fractions(options, "Elasticsearch")
    if options.index is None:
        raise InvalidInput("ratings of Elasticsearch name an index: give --index")
    requests = [
        {
            "id": query,
            "request": {"query": {"multi_match": {"query": query}}},
            "ratings": [{"_index": options.index, "_id": row.document, "rating": row.rating} for row in group],
        }
        for query, group in _by_query(rows)
    ]
    return _json({"requests": requests, "metric": {"dcg": {"k": DEPTH, "normalize": True}}})


def _trec(rows: list[JudgedDocument], options: FileOptions) -> str:
    """Lines `topic 0 document grade`; topics are numbers, and their queries are in a file of their own."""
    _refuse_fractions(options, "TREC")
    lines = []
    for number, (_, group) in enumerate(_by_query(rows), start=1):
        for row in group:
            if len(row.document.split()) != 1:
                raise InvalidInput(f"qrels are separated by blanks, got the document {row.document!r}")
            lines.append(f"{number} 0 {row.document} {row.rating}\n")
    return "".join(lines)


def _refuse_fractions(options: FileOptions, tool: str) -> None:
    if options.rating != "grade":
        raise InvalidInput(f"ratings of {tool} are whole numbers: use --rating grade, got {options.rating}")


def _by_query(rows: list[JudgedDocument]) -> Any:
    return ((query, list(group)) for query, group in groupby(rows, key=attrgetter("query")))


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


#: by name, the function that returns the content of a file
FILE_FORMATS: dict[str, Callable[[list[JudgedDocument], FileOptions], str]] = {
    "csv": _csv,
    "full": _full,
    "quepid": _quepid,
    "opensearch": _opensearch,
    "elasticsearch": _elasticsearch,
    "trec": _trec,
}
