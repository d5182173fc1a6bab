from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from slotwise.logs import Columns, LogSource, choose_click_model, fit_placements
from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_choice import one_click_sets
from slotwise.logs.reporting.report_page import write_report
from tests.logs.evaluation.test_click_model_fits import TRUE
from tests.logs.synthetic_clicks import drawn_sets


def _log(id: str, impressions: int, seed: int) -> tuple[pa.Table, ClickSets]:
    sets = drawn_sets(TRUE[id], impressions, np.random.default_rng(seed))
    rows = [row for row, times in enumerate(sets.times) for _ in range(times)]
    shown = [[f"item {item}" for item in sets.shown[row]] for row in rows]
    clicked = [[f"item {item}" for item in sets.shown[row][sets.clicks[row]]] for row in rows]
    return pa.table({"items": shown, "clicked": clicked}), sets


def test_the_log_is_not_read_again_if_all_impressions_have_one_click() -> None:
    log, sets = _log("mnl", 4_000, 1)
    found = fit_placements(log, Columns())
    compared = choose_click_model(found, LogSource.of("no such file, as the log is not read again.csv"))
    assert compared is not None
    assert compared.describing() == "mnl"
    assert compared.in_a_sentence().startswith("“Multinomial logit” describes the click, ")
    assert found[0].rankings is not None
    kept = one_click_sets(found[0], found[0].rankings)
    assert kept.impressions == sets.impressions == 4_000
    assert kept.rankings.clicks.sum() == sets.rankings.clicks.sum()
    assert sorted(kept.rankings.passes.tolist()) == sorted(sets.rankings.passes.tolist())


def test_all_clicks_are_read_again_if_some_impressions_have_several(tmp_path: Path) -> None:
    log, _ = _log("ubm", 6_000, 2)
    found = fit_placements(log, Columns())
    compared = choose_click_model(found, LogSource.of(log))
    assert compared is not None
    assert compared.several > 0.05
    assert compared.describing() == "ubm"
    sentence = compared.in_a_sentence()
    assert "“User browsing” describes all clicks together" in sentence
    page = write_report(found, tmp_path, described=compared).read_text()
    assert "How do people click?" in page
    assert "“User browsing” describes all clicks together" in page


def test_a_handful_of_impressions_has_no_click_model() -> None:
    log = pa.table({"items": [["tea", "milk"]], "clicked": [["tea"]]})
    assert choose_click_model(fit_placements(log), LogSource.of(log)) is None


@pytest.mark.parametrize("clicked", [[], ["a"], ["a", "b"]])
def test_logs_without_information_do_no_harm(clicked: list[str]) -> None:
    log = pa.table({"items": [["a", "b"]] * 40, "clicked": pa.array([clicked] * 40, pa.list_(pa.string()))})
    found = fit_placements(log)
    compared = choose_click_model(found, LogSource.of(log))
    assert compared is None or compared.in_a_sentence()
