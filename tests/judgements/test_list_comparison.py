"""Two rankings compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.judgements import compare_lists, compare_teams, judge_counts, read_ranked_lists
from slotwise.logs import LogSource
from tests.commands import slotwise
from tests.judgements.simulated_search import search_log


def test_the_better_order_wins() -> None:
    counts, relevance, _ = search_log(np.random.default_rng(1), queries=60, pages=40, noise=0.8)
    order = np.lexsort((-relevance, counts.query))
    best = {
        query: [counts.documents[cell] for cell in order if counts.query[cell] == number]
        for number, query in enumerate(counts.queries)
    }
    worst = {query: documents[::-1] for query, documents in best.items()}
    judged = judge_counts(counts)
    found = compare_lists(judged, worst, best)
    assert found.low > 0.1
    assert found.low < found.difference < found.high
    assert found.judged == found.traffic == 1.0
    assert compare_lists(judged, best, worst).difference == pytest.approx(-found.difference)
    same = compare_lists(judged, best, best)
    assert same.difference == same.low == same.high == 0.0
    unknown = compare_lists(judged, best, {"q000": ["new"], "q001": best["q001"]})
    assert unknown.queries == 2
    assert unknown.judged < 1.0
    assert unknown.difference < 0.0
    with pytest.raises(InvalidInput, match="no query in common"):
        compare_lists(judged, best, {"other": ["a"]})


def test_ranked_lists_are_read_with_and_without_heads(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("query,docid,rating\ntea,a,1\ntea,b,3\n")
    assert read_ranked_lists(path) == {"tea": ["b", "a"]}
    path.write_text("tea,a,1\ntea,b,1\n")
    assert read_ranked_lists(path) == {"tea": ["a", "b"]}
    for content in ("", "query,docid,rating\n", "tea,a\n", "tea,a,good\n"):
        path.write_text(content)
        with pytest.raises(InvalidInput, match="query,docid,rating"):
            read_ranked_lists(path)


def test_interleaved_pages_are_won_by_clicks() -> None:
    """Page 1 for b, page 2 a tie, page 3 for a and page 4 for b; a repeated click counts once."""
    rows = [
        (1, "x", "a", 0),
        (1, "y", "b", 1),
        (1, "y", "b", 1),
        (2, "x", "a", 1),
        (2, "y", "b", 1),
        (3, "x", "a", 1),
        (3, "y", "b", 0),
        (4, "x", "a", 1),
        (4, "y", "b", 1),
        (4, "z", "b", 1),
        (5, "x", "a", 0),
    ]
    names = ("impression", "item", "ranker", "clicked")
    log = LogSource.of(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    found = compare_teams(log, "ranker", "a", "b")
    assert (found.pages, found.first, found.second, found.ties) == (4, 1, 2, 1)
    assert found.p_value == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="no page was won"):
        compare_teams(log, "ranker", "c", "d")
    with pytest.raises(InvalidInput, match="no column 'team'"):
        compare_teams(log, "team", "a", "b")


def test_command(tmp_path: Path) -> None:
    _, _, log = search_log(np.random.default_rng(2), queries=10, pages=20, noise=0.8)
    pq.write_table(log, tmp_path / "log.parquet")
    given = (str(tmp_path / "log.parquet"), "--placement", "query", "--item", "items")
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    assert slotwise("judge", *given, "--out", str(first), "--rating", "relevance").returncode == 0
    rows = first.read_text().splitlines()
    second.write_text("\n".join(line.rpartition(",")[0] + f",{place}" for place, line in enumerate(rows[1:])))
    done = slotwise("compare", str(first), str(second), *given, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["high"] < 0.0
    assert "10 queries" in slotwise("compare", str(first), str(second), *given).stdout
