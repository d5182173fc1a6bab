"""A log of visitors of three devices over forty days, whose tastes are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from slotwise.logs import Fit

DEVICES, SHARES = ("phone", "desk", "tablet"), (0.6, 0.3, 0.1)
BIAS = np.array([1.0, 0.7, 0.5, 0.4])
ITEMS, DAYS, DAY = 8, 40, 86_400.0
#: the day on which tastes change, where they do, and the first second: 1 March 2026
CHANGE, FIRST = 25, 1_772_323_200.0


class Drawn(NamedTuple):
    log: pa.Table
    #: devices × items, at the beginning and at the end
    before: Any
    after: Any


def drawn(seed: int, impressions: int, *, differ: bool = False, change: bool = False) -> Drawn:
    """Lists at random; `differ`: desks want item 0 far more than others and item 1 less; `change`: 2 and 3 do."""
    rng = np.random.default_rng(seed)
    before = np.tile(np.exp(rng.normal(-2.0, 0.7, ITEMS)), (3, 1))
    if differ:
        before[1, :2] *= [4.0, 0.25]
    after = before.copy()
    if change:
        after[:, 2:4] *= [4.0, 0.25]
    device, day = rng.choice(3, impressions, p=SHARES), DAYS * np.sort(rng.random(impressions))
    shown = np.argsort(rng.random((impressions, ITEMS)), axis=1)[:, : len(BIAS)]
    tastes = np.where((day < CHANGE)[:, None], before[device], after[device])
    total = np.cumsum(BIAS * np.take_along_axis(tastes, shown, axis=1), axis=1)
    left = rng.random(impressions) * (1.0 + total[:, -1]) - 1.0
    clicked = np.where(left < 0.0, -1, (total <= left[:, None]).sum(axis=1))
    wide = np.arange(len(BIAS))
    rows = {
        "impression": np.repeat(np.arange(impressions), len(BIAS)),
        "slot": np.tile(wide + 1, impressions),
        "item": np.array([f"item {item}" for item in range(ITEMS)])[shown.ravel()],
        "clicked": (wide == clicked[:, None]).ravel(),
        "device": np.repeat(np.array(DEVICES)[device], len(BIAS)),
        "at": np.repeat((1e6 * (FIRST + DAY * day)).astype("datetime64[us]"), len(BIAS)),
    }
    return Drawn(pa.table(rows), before, after)


def check_alike(one: Fit, other: Fit) -> None:
    """Two fits of one log with its segments and times, by any engine: every count is the same."""
    assert one.tally == other.tally
    assert list(one.segments) == list(other.segments)
    for mine, theirs in zip(one.segments.values(), other.segments.values(), strict=True):
        assert mine.tally == theirs.tally
        assert mine.segment == theirs.segment
        np.testing.assert_allclose(mine.estimate.attractiveness, theirs.estimate.attractiveness, rtol=1e-9)
    assert one.changes is not None
    assert other.changes is not None
    assert one.changes.periods == other.changes.periods
    assert one.changes.to_dict() == other.changes.to_dict()
    np.testing.assert_array_equal(one.changes.impressions, other.changes.impressions)
    np.testing.assert_array_equal(one.changes.clicked, other.changes.clicked)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)
