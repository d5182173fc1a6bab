"""The report on judgements."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from slotwise.judgements import JudgementSummary, judge_counts, write_judgement_report
from tests.judgements.simulated_search import search_log


def test_an_underplaced_document_is_found() -> None:
    counts, _, _ = search_log(np.random.default_rng(1), queries=100, pages=30, noise=0.3)
    cell = int(np.argmax(counts.shown[2]))
    clicks = counts.clicks.copy()
    clicks[2, cell] = counts.shown[2, cell]
    found = JudgementSummary(judge_counts(replace(counts, clicks=clicks))).underplaced()[0]
    assert found[:2] == (counts.queries[counts.query[cell]], counts.documents[cell])


def test_ndcg_lies_in_its_interval_and_rises_with_the_order() -> None:
    rng = np.random.default_rng(2)
    good, bad = (
        JudgementSummary(judge_counts(search_log(rng, queries=100, pages=30, noise=noise)[0])) for noise in (0.2, 5.0)
    )
    for summary in (good, bad):
        middle, low, high = summary.ndcg
        assert 0.0 < low <= middle <= high <= 1.0
    assert good.ndcg[1] > bad.ndcg[2]
    assert good.coverage == 1.0
    assert 0.0 < replace(good, min_confidence=0.9).coverage < 1.0


def test_the_page_and_its_tables(tmp_path: Path) -> None:
    counts, _, _ = search_log(np.random.default_rng(3), queries=30, pages=10, noise=0.5)
    summary = JudgementSummary(judge_counts(replace(counts, cleaning={"duplicate_rows": 7})))
    page = write_judgement_report(summary, tmp_path / "report", "<shop>").read_text()
    assert "Judgements from &lt;shop&gt;" in page
    assert "7 rows that repeat another one" in page
    rows = list(csv.DictReader((tmp_path / "report" / "queries.csv").read_text().splitlines()))
    assert len(rows) == 30
    assert all(float(row["ndcg_low"]) <= float(row["ndcg"]) <= float(row["ndcg_high"]) for row in rows)
