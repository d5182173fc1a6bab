"""The simulated logs of the off-policy study, and that the study finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from research.log_truths import off_policy
from slotwise.core.types import EMPTY, NO_CLICK
from slotwise.logs.counting.logged_propensities import LoggedPropensities
from tests.statistical_assertions import assert_frequencies, assert_mean_is

SOME = off_policy.PAGES[-1]._replace(attractiveness=off_policy.SEARCH)


def test_logs_are_drawn_as_the_truth_says() -> None:
    """Click rate, slots and propensities; false alarms: see tests/statistical_assertions.py."""
    rng = np.random.default_rng(1)
    attractiveness = np.geomspace(0.1, 0.9, off_policy.ITEMS)
    logging = off_policy.policy(SOME, rng)
    logged = off_policy.draw(SOME, logging, attractiveness, rng)
    assert_mean_is(off_policy.true_rate(SOME, logging, attractiveness), logged.clicked != NO_CLICK)
    first = logged.shown[logged.shown[:, 1] != EMPTY][:, 1]
    lists, chances = logging.lists[0, 1, 2], logging.chances[0, 1, 2]
    in_slot = np.bincount(lists[:, 1], chances)
    assert_frequencies(in_slot, np.bincount(first))
    shown = logged.shown[:, 1] != EMPTY
    assert logged.propensity[shown, 1] == pytest.approx(in_slot[logged.shown[shown, 1]])


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row per estimator, and the log against itself; wrong propensities are noticed."""
    monkeypatch.setattr(off_policy, "PAGES", off_policy.PAGES[2:3])
    *covered, itself = off_policy.rows(quick=True, progress=lambda *_: None)
    assert [row.name.rpartition(", ")[2] for row in covered] == ["plain", "self-normalised", "doubly robust"]
    assert [float(value) for value in itself.value.split(", ")] == pytest.approx([1.0] * 3, abs=0.05)

    def halved(*arguments: object) -> LoggedPropensities:
        logged = draw(*arguments)  # type: ignore[arg-type]
        return LoggedPropensities(logged.shown, logged.clicked, logged.propensity / 2)

    draw = off_policy.draw
    monkeypatch.setattr(off_policy, "draw", halved)
    plain, _, _, itself = off_policy.rows(quick=True, progress=lambda *_: None)
    assert plain.value.startswith("0.000")
    assert float(itself.value.split(", ")[0]) == pytest.approx(2.0, abs=0.1)
