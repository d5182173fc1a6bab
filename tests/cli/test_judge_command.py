"""The command `slotwise judge`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.commands import slotwise
from tests.judgements.simulated_search import search_log


def test_a_log_becomes_a_judgement_list_and_a_report(tmp_path: Path) -> None:
    _, _, log = search_log(np.random.default_rng(1), queries=20, pages=20, noise=0.5)
    pq.write_table(log, tmp_path / "log.parquet")
    given = ("judge", str(tmp_path / "log.parquet"), "--placement", "query", "--item", "items")
    out, report = str(tmp_path / "list.csv"), tmp_path / "report"
    done = slotwise(*given, "--out", out, "--report", str(report), "--json")
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["queries"] == 20
    assert len(Path(out).read_text().splitlines()) == 1 + numbers["judgements"] == 1 + numbers["documents"]
    assert (report / "judgements.html").exists()
    done = slotwise(*given, "--out", out, "--min-confidence", "0.6")
    assert "20 queries" in done.stdout
    assert len(Path(out).read_text().splitlines()) < 1 + numbers["judgements"]
    refused = slotwise(*given, "--out", out, "--multi-click", "first")
    assert refused.returncode == 2
    assert "all clicks" in refused.stderr
