"""The study of adjusted intervals: its visitors, and its table."""

from __future__ import annotations

import numpy as np
import pytest

from research.adjusted_uplift import CASES, Traffic, looks, run, table


@pytest.mark.parametrize("traffic", [Traffic(0.5, by_segment=0.354), Traffic(0.5, by_hour=0.354)])
def test_segment_and_hour_explain_half_of_the_variance(traffic: Traffic) -> None:
    rates = traffic.rates()
    total = rates.mean() * (1.0 - rates.mean())
    assert rates.var() / total == pytest.approx(traffic.explained(), rel=1e-3)
    assert traffic.explained() == pytest.approx(0.5, abs=0.005)


def test_effects_are_averages_until_the_look() -> None:
    effects = [look.effect for look in looks(Traffic(0.2, uplift=0.04, hours=24), seed=3)]
    assert effects == sorted(effects)
    assert 0.02 <= effects[0] < effects[-1] < 0.04


def test_an_adjusted_interval_is_narrower_if_segments_differ() -> None:
    found = run(Traffic(0.5, by_segment=0.354, hours=24), experiments=3)
    assert found.width < 0.8 * found.width_unadjusted
    assert np.isfinite(found.width)


def test_the_table_has_a_row_for_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("research.adjusted_uplift.CASES", {name: CASES[name] for name in [*CASES][:2]})
    assert table(experiments=1).count("\n| nothing explained") == 2
