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


def _funnel(path: Path) -> Path:
    """Write UBI events of two documents: one is clicked more often, the other is purchased."""
    rng = np.random.default_rng(2)
    events: list[object] = []
    for page in range(200):
        events.append({"query_id": str(page), "user_query": "tea"})
        for slot, (item, clicked, bought) in enumerate((("cheap", 0.4, 0.05), ("good", 0.3, 0.6))):
            attributes = {"object": {"object_id": item}, "position": {"ordinal": slot}}
            steps = ["impression"]
            if rng.random() < clicked:
                steps += ["click", "purchase"] if rng.random() < bought else ["click"]
            events += [{"action_name": step, "query_id": str(page), "event_attributes": attributes} for step in steps]
    path.write_text("\n".join(map(json.dumps, events)))
    return path


def test_by_value_purchases_count_more(tmp_path: Path) -> None:
    events, out = str(_funnel(tmp_path / "ubi.ndjson")), tmp_path / "list.csv"
    given = ("judge", events, "--format", "ubi", "--to", "full", "--rating", "relevance", "--out", str(out))
    orders = []
    for options in ((), ("--by", "value"), ("--by", "value", "--weights", "click=1,purchase=50")):
        done = slotwise(*given, *options, "--report", str(tmp_path / "report"))
        assert done.returncode == 0, done.stderr
        orders.append([line.split(",")[1] for line in out.read_text().splitlines()[1:]])
        assert ("Weights of events: click " in done.stdout) == bool(options)
        assert ("expected value" in (tmp_path / "report" / "judgements.html").read_text()) == bool(options)
    assert orders == [["cheap", "good"], ["good", "cheap"], ["good", "cheap"]]


def test_values_and_features_of_other_logs(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [
        f"{page},{slot},{'ab'[slot - 1]},{int(rng.random() < 0.5)},{slot * 2}" for page in range(50) for slot in (1, 2)
    ]
    log, out = tmp_path / "log.csv", tmp_path / "list.csv"
    log.write_text("impression,slot,item,clicked,margin\n" + "\n".join(rows))
    (tmp_path / "features.csv").write_text("item,colour\na,red\nb,blue\n")
    given = ("judge", str(log), "--out", str(out))
    features = ("--features", str(tmp_path / "features.csv"))
    done = slotwise(*given, "--by", "value", "--value", "margin", *features, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["by"] == "value"
    for options, message in (
        (("--by", "value"), "weights are of events"),
        (("--value", "margin"), "for --by value"),
        (("--by", "sales"), "by must be"),
        (("--by", "value", "--value", "nothing"), "no column 'nothing'"),
        (("--features", str(tmp_path / "none.csv")), "there is no file"),
    ):
        refused = slotwise(*given, *options)
        assert refused.returncode == 2, options
        assert message in refused.stderr
