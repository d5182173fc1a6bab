"""Drift over the time of a log: tastes that change, and tastes that do not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from slotwise.estimators.diagnostics import DRIFT_LEVEL
from slotwise.logs import fit
from tests.logs.strata import CHANGE, drawn


def test_a_change_is_found_with_its_items_and_its_day() -> None:
    made = drawn(1, 8_000, change=True)
    found = fit(made.log, time="at")
    assert found.changes is not None
    assert found.changes.half_life is not None
    assert found.changes.moved[0].item == "item 2"
    assert {one.item for one in found.changes.moved} <= {"item 2", "item 3"}
    for one in found.changes.moved:
        item = int(one.item.split()[1])
        assert abs(one.period - CHANGE) <= 2
        np.testing.assert_allclose([one.before, one.after], [made.before[0, item], made.after[0, item]], rtol=0.5)
    words = found.changes.in_words()
    assert "Did tastes change? Yes" in words
    assert "March 2026" in words
    # the estimate is of the end of the log, and not of all of it
    forgets, remembers = (
        np.log(one.estimate.attractiveness[2:4] / made.after[0, 2:4]) for one in (found, fit(made.log))
    )
    assert np.abs(forgets).mean() < 0.7 * np.abs(remembers).mean()


@pytest.mark.parametrize("seed", range(3))
def test_a_log_without_drift_has_no_changes(seed: int) -> None:
    """Any item is named with a probability of DRIFT_LEVEL; none of 300 such series of counts had a half-life."""
    found = fit(drawn(10 + seed, 3_000).log, time="at")
    assert DRIFT_LEVEL == 0.001
    assert found.changes is not None
    assert found.changes.half_life is None
    assert not found.changes.moved
    assert found.changes.in_words().startswith("Did tastes change? Not detectably.")
    np.testing.assert_allclose(
        found.estimate.attractiveness, fit(drawn(10 + seed, 3_000).log).estimate.attractiveness, rtol=1e-6
    )


def test_a_single_time_is_undecided() -> None:
    made = drawn(1, 50)
    found = fit(made.log.set_column(5, "at", pa.array(["2026-03-01"] * len(made.log))), time="at")
    assert found.changes is not None
    assert found.changes.periods.count == 1
    assert "undecided" in found.changes.in_words()


def test_it_is_all_in_the_json() -> None:
    found = fit(drawn(1, 8_000, change=True).log, time="at")
    said = found.to_dict()["changes"]
    assert said["unit"] == "seconds"
    assert said["half_life"] > 0
    assert sum(period["impressions"] for period in said["periods"]) == 8_000
    assert [one["item"] for one in said["changed"]] == ["item 2"]
