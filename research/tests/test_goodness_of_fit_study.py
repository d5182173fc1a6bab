from __future__ import annotations

import numpy as np
import pytest

from research.log_truths import goodness_of_fit
from research.log_truths.goodness_of_fit import Design, draw_log, rows, says_yes


def test_a_drawn_log_has_the_click_rate_of_its_design() -> None:
    """Within 5 standard errors: a false alarm of 6e-7."""
    rng = np.random.default_rng(1)
    design = Design("small", 3, 8, 0.4, spread=0.0, judgement=None)
    log = draw_log(rng, design, goodness_of_fit._model, impressions=2_000)
    assert log["clicked"].to_numpy().sum() == pytest.approx(800, abs=5 * np.sqrt(2_000 * 0.4 * 0.6))


def test_a_partly_filled_log_of_placements_is_judged() -> None:
    design = Design("small", 3, 8, 0.4, partly=True, placements=2)
    log = draw_log(np.random.default_rng(2), design, goodness_of_fit._model, impressions=1_000)
    assert says_yes(log, 2) in (False, True)


def test_rows_have_a_share_for_each_kind_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goodness_of_fit, "says_yes", lambda *_: True)
    monkeypatch.setattr(goodness_of_fit, "draw_log", lambda *_: None)
    found = rows(quick=True, progress=lambda *_: None)
    assert len(found) == len(goodness_of_fit.OWN) + 12
    assert {row.value for row in found} == {f"1.00 ({goodness_of_fit.FEW_LOGS} logs)"}
