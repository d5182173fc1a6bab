"""Files of judgement lists, compared with the examples of the tools' documentation."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.judgements import CellCounts, FileOptions, Judgements, judge_counts, write_judgements

#: an example of https://docs.opensearch.org/latest/search-plugins/search-relevance/judgments/
OPENSEARCH: dict[str, Any] = {
    "name": "Imported Judgments",
    "description": "Judgments generated outside SRW",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "B077ZJXCTS", "rating": "3.000"}]}],
}
#: an example of https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html
ELASTICSEARCH: dict[str, Any] = {
    "requests": [
        {
            "id": "amsterdam_query",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [{"_index": "my-index-000001", "_id": "doc1", "rating": 0}],
        }
    ],
    "metric": {"dcg": {"k": 20, "normalize": False}},
}


@pytest.fixture
def judged() -> Judgements:
    """Two queries, one with a comma and a quote."""
    shown = np.array([[40.0, 0.0, 40.0, 0.0], [0.0, 40.0, 0.0, 40.0]])
    clicks = np.array([[20.0, 0.0, 8.0, 0.0], [0.0, 3.0, 0.0, 9.0]])
    queries = ('red "dress", long', "tea")
    return judge_counts(
        CellCounts(queries, np.array([40.0, 40.0]), np.array([0, 0, 1, 1]), ("a", "b", "é", "d"), shown, clicks, {})
    )


def _like(example: Any, value: Any) -> bool:
    """Return whether a value has the fields and types of the example, all the way down."""
    if isinstance(example, dict):
        return (
            isinstance(value, dict)
            and example.keys() == value.keys()
            and all(_like(example[k], value[k]) for k in value)
        )
    if isinstance(example, list):
        return isinstance(value, list) and all(_like(example[0], each) for each in value)
    return type(example) is type(value)


def _read(judged: Judgements, path: Path, to: str, **options: Any) -> str:
    assert write_judgements(judged, path, to, FileOptions(**options)) == 4
    return path.read_text()


@pytest.mark.parametrize("to", ["csv", "quepid"])
def test_csv_has_query_docid_and_rating(judged: Judgements, tmp_path: Path, to: str) -> None:
    rows = list(csv.reader(_read(judged, tmp_path / "list.csv", to).splitlines()))
    assert rows[:2] == [["query", "docid", "rating"], ['red "dress", long', "a", "3"]]
    assert len(rows) == 5


def test_csv_without_header(judged: Judgements, tmp_path: Path) -> None:
    assert not _read(judged, tmp_path / "list.csv", "csv", header=False).startswith("query")


def test_full_has_intervals_around_relevance(judged: Judgements, tmp_path: Path) -> None:
    for row in csv.DictReader(_read(judged, tmp_path / "list.csv", "full", rating="relevance").splitlines()):
        assert float(row["low"]) < float(row["relevance"]) < float(row["high"])
        assert row["rating"] == row["relevance"]
        assert row["pages"] == "40"


def test_opensearch(judged: Judgements, tmp_path: Path) -> None:
    body = json.loads(_read(judged, tmp_path / "list.json", "opensearch"))
    assert _like(OPENSEARCH, body)
    assert body["type"] == "IMPORT_JUDGMENT"
    assert {each["docId"] for each in body["judgmentRatings"][1]["ratings"]} == {"é", "d"}


def test_elasticsearch(judged: Judgements, tmp_path: Path) -> None:
    body = json.loads(_read(judged, tmp_path / "list.json", "elasticsearch", index="shop"))
    request = {"query": {"multi_match": {"query": "tea"}}}
    assert body["requests"][1]["request"] == request
    for each in body["requests"]:
        each["request"] = ELASTICSEARCH["requests"][0]["request"]
    assert _like(ELASTICSEARCH, body)


def test_trec_has_four_columns_and_a_file_of_topics(judged: Judgements, tmp_path: Path) -> None:
    lines = _read(judged, tmp_path / "qrels", "trec").splitlines()
    assert lines[0].split() == ["1", "0", "a", "3"]
    assert all(len(line.split()) == 4 for line in lines)
    assert (tmp_path / "qrels.topics.tsv").read_text().splitlines() == ['1\tred "dress", long', "2\ttea"]


@pytest.mark.parametrize(
    ("to", "options", "message"),
    [
        ("elasticsearch", {}, "--index"),
        ("quepid", {"rating": "relevance"}, "whole numbers"),
        ("csv", {"min_confidence": 1.5}, "probability"),
        ("csv", {"min_confidence": 1.0}, "lower min-confidence"),
        ("xml", {}, "to must be csv or full"),
    ],
)
def test_errors_leave_no_file(judged: Judgements, tmp_path: Path, to: str, options: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        write_judgements(judged, tmp_path / "list", to, FileOptions(**options))
    assert list(tmp_path.iterdir()) == []


def test_min_confidence_leaves_out_what_is_not_known(judged: Judgements, tmp_path: Path) -> None:
    limit = float(np.sort(judged.confidence)[2])
    assert write_judgements(judged, tmp_path / "list", "csv", FileOptions(min_confidence=limit)) == 2
