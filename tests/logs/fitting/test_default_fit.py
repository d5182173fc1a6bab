"""Segments of a log, pooled: known tastes are recovered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import stats

from slotwise.logs import fit, fit_placements
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting.segment_report import segment_preferences, segment_rows, segments_in_words, strata_of_all
from tests.logs.strata import DEVICES, Drawn, drawn
from tests.statistical_assertions import FALSE_ALARM


def error(fits: dict[str, Fit], made: Drawn) -> float:
    """The root mean square error of log α over all segments."""
    off = [np.log(fits[name].estimate.attractiveness / made.before[place]) for place, name in enumerate(DEVICES)]
    return float(np.sqrt(np.mean(np.square(off))))


def three_ways(made: Drawn) -> tuple[dict[str, Fit], dict[str, Fit], dict[str, Fit]]:
    """Segments pooled, each on its own, and all as one."""
    found = fit(made.log, segment="device")
    alone = {name: fit(made.log.filter(pc.equal(made.log["device"], name))) for name in DEVICES}
    return dict(found.segments), alone, dict.fromkeys(DEVICES, found)


def test_segments_that_differ_are_left_to_differ() -> None:
    made = drawn(0, 6_000, differ=True)
    pooled, alone, as_one = three_ways(made)
    assert error(pooled, made) < 0.7 * error(as_one, made)
    assert error(pooled, made) < 1.05 * error(alone, made)


def test_segments_that_are_alike_are_pooled() -> None:
    made = drawn(1, 6_000)
    pooled, alone, _ = three_ways(made)
    assert error(pooled, made) < 0.85 * error(alone, made)


def test_intervals_of_segments_cover_the_truth() -> None:
    """Eight logs, 192 intervals of 95 %, some of them alike: no fewer than binomial chance allows at 90 %."""
    held: list[Any] = []
    for seed in range(8):
        made = drawn(seed, 3_000, differ=seed % 2 == 1)
        for name, one in fit(made.log, segment="device").segments.items():
            held.extend(one.estimate.intervals().attractiveness.covers(made.before[DEVICES.index(name)]))
    assert sum(held) >= stats.binom.ppf(FALSE_ALARM, len(held), 0.9)


def test_preferences_of_a_segment_are_named() -> None:
    found = fit(drawn(0, 12_000, differ=True).log, segment="device")
    named = {(one.item, one.segment): one.times for one in segment_preferences(found)}
    assert list(named)[:2] == [("item 1", "desk"), ("item 0", "desk")]
    assert named["item 1", "desk"] < 0.67 < 1.5 < named["item 0", "desk"]
    (words,) = segments_in_words(found)
    assert "Do segments differ? Yes" in words
    assert "item 0 is " in words
    assert [row[0] for row in segment_rows(found)] == ["phone", "desk", "tablet"]


def test_preferences_of_a_segment_are_named_with_imprecise_slots() -> None:
    """One item is always in slot 1, so the position bias is imprecise; but desks prefer a."""
    rng = np.random.default_rng(6)
    rows: dict[str, list[Any]] = {"items": [], "clicked": [], "device": []}
    for one in range(4_000):
        shown = ["top", *rng.permutation(["a", "b", "c", "d"])[:3].tolist()]
        odds = [0.6, *(0.05 * (4.0 if item == "a" and one % 3 == 0 else 1.0) for item in shown[1:])]
        chances = np.array([*odds, 1.0]) / (sum(odds) + 1.0)
        rows["items"].append(shown)
        rows["clicked"].append([*shown, None][rng.choice(5, p=chances)])
        rows["device"].append("desk" if one % 3 == 0 else "phone")
    found = fit(pa.table(rows), segment="device")
    limits = found.intervals.position_bias
    assert limits.high[1] > 2 * limits.low[1]
    assert (
        {("a", "desk")}
        <= {(one.item, one.segment) for one in segment_preferences(found)}
        <= {("a", "desk"), ("a", "phone")}
    )


def test_similar_segments_have_no_preferences() -> None:
    found = fit(drawn(2, 6_000).log, segment="device")
    assert not segment_preferences(found)
    assert segments_in_words(found)[0].startswith("Do segments differ? Not detectably")
    assert not segments_in_words(fit(drawn(2, 500).log))


def test_strata_of_several_placements_are_summarised() -> None:
    made = drawn(3, 2_000, differ=True)
    pages = made.log.append_column("page", pc.cast(pc.bit_wise_and(made.log["impression"], 1), "string"))
    found = fit_placements(pages, placement="page", segment="device", time="at")
    assert [list(one.segments) for one in found] == [["desk", "phone", "tablet"]] * 2
    segments, changes = strata_of_all(found)
    assert "of 2 placements" in segments
    assert changes.startswith("Did tastes change? ")
    assert not strata_of_all(fit_placements(pages, placement="page"))
