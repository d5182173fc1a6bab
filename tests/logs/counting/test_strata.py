"""Strata by segment and time: their counts, and invalid columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.logs import fit, fit_placements
from slotwise.logs.counting.strata import DAY, MAX_PERIODS, MAX_SEGMENTS, TimePeriods
from tests.logs.strata import DAYS, check_alike, drawn
from tests.postgres import Postgres

LOG = {
    "impression": [1, 1, 2, 2, 3, 3, 4, 4],
    "slot": [1, 2] * 4,
    "item": ["a", "b", "b", "a", "a", "b", "b", "c"],
    "clicked": [1, 0, 0, 1, 0, 0, 1, 0],
    "device": ["phone"] * 4 + ["desk"] * 4,
    "at": ["2026-03-01", "2026-03-01"] + ["2026-03-09 12:00:00"] * 6,
}


def refusal(log: dict[str, Any], **options: Any) -> str:
    with pytest.raises(InvalidInput) as problem:
        fit_placements(pa.table(log), **options)
    return str(problem.value)


def test_the_tallies_of_segments_and_periods_add_up_to_that_of_the_log() -> None:
    made = drawn(1, 1_500, differ=True)
    whole, parts = fit(made.log), fit(made.log, segment="device", time="at")
    assert parts.tally == whole.tally
    assert parts.item_ids == whole.item_ids
    assert parts.rankings == whole.rankings
    assert sum(one.tally.clicks.sum() for one in parts.segments.values()) == whole.tally.clicks.sum()
    assert sum(one.impressions for one in parts.segments.values()) == whole.impressions
    for name, one in parts.segments.items():
        mine = fit(made.log.filter(pa.compute.equal(made.log["device"], name)))
        assert one.tally == mine.tally
        for counts in ("impressions", "no_click", "clicked"):
            assert getattr(one.tally, counts) == getattr(mine.tally, counts)
    assert parts.changes is not None
    assert parts.changes.impressions.sum() == whole.impressions
    assert parts.changes.clicked.sum() == whole.tally.clicked
    assert parts.changes.periods.count == DAYS
    if parts.changes.half_life is None:
        np.testing.assert_allclose(parts.estimate.attractiveness, whole.estimate.attractiveness, rtol=1e-6)
        assert parts.log_likelihood == pytest.approx(whole.log_likelihood)


def test_postgresql_gives_the_same_segments_and_times(postgres: Postgres) -> None:
    log = drawn(3, 300, differ=True).log
    kinds = {"impression": "bigint", "slot": "int", "clicked": "bool", "at": "timestamp"}
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS told_apart")
        columns = ", ".join(f"{name} {kinds.get(name, 'text')}" for name in log.column_names)
        connection.execute(f"CREATE TABLE told_apart ({columns})")
        with connection.cursor() as cursor, cursor.copy("COPY told_apart FROM STDIN") as copy:
            for row in log.to_pylist():
                copy.write_row(tuple(row.values()))
    options: Any = {"segment": "device", "time": "at"}
    check_alike(fit(postgres.url, table="told_apart", **options), fit(log, **options))


def test_segments_are_named_after_their_values_and_placements_have_their_own() -> None:
    log = LOG | {"page": ["x", "x", "y", "y", "x", "x", "y", "y"], "country": ["de"] * 6 + [None, None]}
    x, y = fit_placements(pa.table(log), placement="page", segment=["device", "country"])
    assert list(x.segments) == ["desk, de", "phone, de"]
    assert list(y.segments) == ["desk, (none)", "phone, de"]
    assert [one.placement for one in x.segments.values()] == ["x", "x"]
    assert y.segments["desk, (none)"].item_ids == ("b", "c")
    assert y.segments["desk, (none)"].tally.clicks.tolist() == [[1, 0], [0, 0]]


def test_wide_logs_and_separate_clicks_have_strata_too() -> None:
    wide = {
        "items": [["a", "b"], ["b", "a"], ["a", "b"]],
        "clicked": ["a", None, "b"],
        "device": ["phone", "desk", "phone"],
        "at": [10, 20, 30],
    }
    found = fit(pa.table(wide), segment="device", time="at")
    assert {name: one.impressions for name, one in found.segments.items()} == {"desk": 1, "phone": 2}
    assert found.changes is not None
    assert not found.changes.periods.is_time
    shown = {name: LOG[name] for name in LOG if name != "clicked"}
    clicks = pa.table({"impression": [1, 2, 4, 9], "item": ["a", "a", "b", "a"]})
    apart = fit(pa.table(shown), clicks=clicks, segment="device")
    assert {name: one.tally for name, one in apart.segments.items()} == {
        name: one.tally for name, one in fit(pa.table(LOG), segment="device").segments.items()
    }


def test_an_impression_is_of_the_time_at_which_it_began_and_is_left_out_without_one() -> None:
    log = LOG | {"at": ["2026-03-01", "2026-03-09", None, "2026-03-02", "", None, "2026-03-09", "2026-03-09"]}
    found = fit(pa.table(log), time="at")
    assert found.changes is not None
    assert found.tally.cleaning["null_time"] == 1
    assert found.impressions == 3
    periods = found.changes.periods
    days = {periods.name(float(period)) for period in np.flatnonzero(found.changes.impressions)}
    assert {day[:7].strip() for day in days} == {"1 March", "2 March", "9 March"}


@pytest.mark.parametrize(
    ("changed", "options", "said"),
    [
        ({}, {"segment": "devices"}, "no column 'devices' for the segment, it has .*; is it 'device'?"),
        ({}, {"time": "when"}, "no column 'when' for the time"),
        ({"at": ["01.08.2026"] * 8}, {"time": "at"}, "at must be a number, or a time .*, got '01.08.2026'"),
        ({"at": [None] * 8}, {"time": "at"}, "at"),
        ({"device": ["a", "b"] * 4}, {"segment": "device"}, "device must be the same .* got 'a' and 'b' in one"),
        ({}, {"segment": "device", "estimator": "scaling"}, "segment and time are for the estimator pooled"),
    ],
)
def test_invalid_strata_are_rejected_by_name(changed: dict[str, Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        fit_placements(pa.table(LOG | changed), **options)


def test_a_column_of_many_values_is_no_segment() -> None:
    views = MAX_SEGMENTS + 1
    log = {
        "impression": range(views),
        "slot": [1] * views,
        "item": ["a"] * views,
        "clicked": [1, 0] * (views // 2) + [1],
    }
    visitors = {name: list(values) for name, values in (log | {"visitor": range(views)}).items()}
    assert "visitor must have at most 200 different values" in refusal(visitors, segment="visitor")
    assert "got 201" in refusal(visitors, segment="visitor")


@pytest.mark.parametrize("span", [0.0, 30.0, 3_600.0, 86_400.0, 40 * DAY, 400 * DAY, 40_000 * DAY])
def test_periods_are_few_and_hold_all_of_the_log(span: float) -> None:
    first = 1_772_323_200.0 + 4_321.0
    periods = TimePeriods.between(first, first + span)
    assert 1 <= periods.count <= MAX_PERIODS
    assert periods.start <= first
    assert first + span < periods.at(periods.count)
    assert TimePeriods.between(5.0, 5.0 + span).count <= MAX_PERIODS


def test_milliseconds_are_recognised_and_a_stray_time_spoils_nothing() -> None:
    made = drawn(3, 3_000)
    millis = np.asarray(made.log["at"]).astype("datetime64[ms]").astype(np.int64).copy()
    millis[:4] = 0
    found = fit(made.log.set_column(5, "at", pa.array(millis)), time="at")
    assert found.changes is not None
    assert found.changes.periods.is_time
    assert found.changes.periods.width == DAY
    assert found.changes.periods.count <= DAYS + 1
