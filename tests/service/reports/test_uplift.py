from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.service.reports.uplift import (
    ALWAYS,
    Span,
    SpanTexts,
    UpliftEvidence,
    read_evidence,
    uplift,
    views_by_period,
)
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.storage import Store, open_store
from slotwise.service.storage.count_rows import ArmCounts, CountPeriod, ItemClicks
from slotwise.service.storage.decision_types import Arm, IssuedDecision, Outcome, Report, new_id
from slotwise.service.storage.placements_table import Change
from tests.postgres import Postgres

HOUR = 3600
DAY = 24 * HOUR
#: the beginning of a day
MONDAY = 20_000 * DAY


def counted(arm: Arm, clicked: int, no_click: int, *, hour: int = 0, value: float = 0.0) -> ArmCounts:
    """Clicks that each brought the same."""
    return ArmCounts(CountPeriod(MONDAY + hour * HOUR), "", arm, clicked, no_click, clicked * value, clicked * value**2)


def of(*arms: ArmCounts, changed: list[float] | None = None) -> Any:
    return uplift(UpliftEvidence(ALWAYS, arms, [], changed or [], {}))


@pytest.mark.parametrize(
    "arms",
    [(), (counted("learned", 60, 40),), (counted("learned", 60, 40), counted("holdout", 0, 0))],
)
def test_there_is_none_until_both_arms_have_something_final(arms: tuple[ArmCounts, ...]) -> None:
    assert of(*arms) is None


def test_too_few_decisions_are_reported() -> None:
    found = of(counted("learned", 60, 40), counted("holdout", 1, 3))
    assert found["difference"] == pytest.approx(0.35)
    assert (found["low"], found["high"], found["anytime"], found["ratio"]) == (None, None, None, None)
    assert found["too_early"] == "the holdout arm has 1 views with a click, and 10 are needed"


def test_both_intervals_hold_the_estimate_and_the_anytime_one_is_wider() -> None:
    found = of(counted("learned", 600, 2_400), counted("holdout", 150, 850))
    assert (found["measure"], found["too_early"]) == ("click_rate", None)
    assert found["anytime"]["low"] < found["low"] < found["difference"] < found["high"] < found["anytime"]["high"]
    ratio = found["ratio"]
    assert ratio["anytime"]["low"] < ratio["low"] < ratio["estimate"] == pytest.approx(4 / 3)
    assert ratio["estimate"] < ratio["high"] < ratio["anytime"]["high"]


def test_an_infinite_end_is_null_as_json_has_no_word_for_it() -> None:
    assert of(counted("learned", 80, 320), counted("holdout", 10, 390))["ratio"]["anytime"]["high"] is None


def test_the_holdout_of_a_busy_time_is_not_compared_with_the_learned_lists_of_a_quiet_one() -> None:
    # in the second hour everybody clicks three times as much, and half of them are in the holdout
    quiet = counted("learned", 9, 81), counted("holdout", 1, 9)
    busy = counted("learned", 15, 35, hour=1), counted("holdout", 15, 35, hour=1)
    assert of(*quiet, *busy, changed=[MONDAY + HOUR])["difference"] == pytest.approx(0.0)
    # hours that are so small are otherwise one stratum
    assert of(*quiet, *busy)["difference"] < -0.08
    # the hour in which it was changed is by itself
    after = counted("learned", 10, 10, hour=2), counted("holdout", 10, 10, hour=2)
    assert of(*quiet, *busy, *after, changed=[MONDAY + HOUR + 5.0])["difference"] == pytest.approx(0.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        opened = open_store(f"sqlite:///{tmp_path}/store.db")
    else:
        postgres: Postgres = request.getfixturevalue("postgres")
        opened = open_store(postgres.fresh())
    opened.put_placement("home", definition().text())
    yield opened
    opened.close()


def definition(**changes: Any) -> PlacementDefinition:
    return PlacementDefinition.model_validate({"slots": 1, "items": ["a", "b"], "holdout": 0.5, **changes})


def decided(
    store: Store, count: int, arm: Arm, item: str, *, at: float = MONDAY, value: float | None = None, segment: str = ""
) -> None:
    """Decisions of which every second one is clicked."""
    decisions = [IssuedDecision(new_id(at), "home", (item,), arm, at, at + 60.0, segment=segment) for _ in range(count)]
    clicked = Outcome("clicked", item, value=value)
    store.write(decisions, [])
    store.write([], [Report(one.id, clicked, at) for one in decisions[::2]])
    while store.finalise(at + 60.0, 1_000):
        pass


def test_segments_and_hours_are_adjusted_for() -> None:
    def visitors(segment: str, rate: float, hour: int, learned: int, held: int) -> list[ArmCounts]:
        period = CountPeriod(MONDAY + hour * HOUR)
        sizes: list[tuple[Arm, int]] = [("learned", learned), ("holdout", held)]
        return [ArmCounts(period, segment, arm, round(rate * n), n - round(rate * n), 0.0, 0.0) for arm, n in sizes]

    # nobody clicks more in the learned arm, but by chance it has more of the visitors who click more
    rows = [
        *visitors("a", 0.1, 0, 400, 120), *visitors("b", 0.5, 0, 600, 80),
        *visitors("a", 0.3, 1, 400, 120), *visitors("b", 0.7, 1, 600, 80),
    ]  # fmt: skip
    adjusted, unadjusted = of(*rows), of(*(row._replace(segment="", period=CountPeriod(MONDAY)) for row in rows))
    assert adjusted["difference"] == pytest.approx(0.0)
    assert unadjusted["difference"] > 0.05


def test_the_measure_is_rewards_else_item_values_else_clicks(store: Store) -> None:
    decided(store, 200, "learned", "a")
    decided(store, 100, "holdout", "b")
    found = uplift(read_evidence(store, "home", definition()))
    assert found is not None
    assert (found["measure"], found["learned"]["value_per_view"]) == ("click_rate", None)
    assert (found["difference"], found["learned"]["shown"], found["holdout"]["clicks"]) == (0.0, 200, 50)
    worth = definition(items=["a", {"id": "b", "value": 3.0}])
    found = uplift(read_evidence(store, "home", worth))
    assert found is not None
    assert (found["measure"], found["difference"]) == ("value_per_view", -1.0)
    assert [found[arm]["value_per_view"] for arm in ("learned", "holdout")] == [0.5, 1.5]
    assert found["low"] is not None
    decided(store, 100, "learned", "a", value=20.0)
    found = uplift(read_evidence(store, "home", worth))
    assert found is not None
    assert found["measure"] == "value_per_view"
    assert found["learned"]["value_per_view"] == pytest.approx(1000 / 300)
    assert found["holdout"]["value_per_view"] == 0.0
    assert found["too_early"] == "the holdout arm has an effective sample size of 0.0 values, and 30 is the minimum"


def test_a_time_and_a_segment_can_be_chosen(store: Store) -> None:
    mobile = '{"device":"mobile"}'
    for day in range(3):
        decided(store, 10 * (day + 1), "learned", "a", at=MONDAY + day * DAY)
        decided(store, 10, "holdout", "a", at=MONDAY + day * DAY, segment=mobile)
        decided(store, 4, "learned", "b", at=MONDAY + day * DAY + 5 * HOUR, segment=mobile)

    def shown(span: Span = ALWAYS, segment: str | None = None) -> tuple[int, int] | None:
        wanted = None if segment is None else (lambda found: found == segment)
        found = uplift(read_evidence(store, "home", definition(), span, wanted))
        return found and (found["learned"]["shown"], found["holdout"]["shown"])

    assert shown() == (72, 30)
    assert shown(Span(since=MONDAY + DAY)) == (58, 20)
    assert shown(Span(until=MONDAY + DAY + HOUR)) == (34, 20)
    assert shown(Span(MONDAY + DAY, MONDAY + DAY + HOUR)) == (20, 10)
    # hours that begin before are not in it
    assert shown(Span(MONDAY + DAY + 1.0, MONDAY + 2 * DAY)) is None
    assert shown(segment=mobile) == (12, 30)
    assert shown(segment="") is None
    found = uplift(read_evidence(store, "home", definition(), Span(MONDAY + DAY, MONDAY + 2 * DAY)))
    assert found is not None
    assert (found["since"], found["until"]) == ("2024-10-05T00:00:00.000Z", "2024-10-06T00:00:00.000Z")
    before = uplift(read_evidence(store, "home", definition()))
    store.merge_hours(MONDAY + 9 * DAY, 100)
    assert uplift(read_evidence(store, "home", definition())) == before


def test_a_time_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidInput, match="since must be before until, got 2024-10-05T00:00:00"):
        Span(MONDAY + DAY, MONDAY)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"since": "tomorrow"}, "since must be a date or a time"),
        ({"until": "2026-13-01"}, "until must be a date or a time"),
        ({"period": "7"}, "period must be like 24h, 7d or 4w, got '7'"),
        ({"period": "0d"}, "period must be like"),
        ({"since": "2026-11-01", "period": "7d"}, "period must be given without since and until, got '7d'"),
    ],
)
def test_an_invalid_time_is_rejected_by_name(asked: SpanTexts, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        Span.parse(MONDAY, **asked)


def test_changes_of_the_share_are_read_from_the_changes_of_the_definition(store: Store) -> None:
    for number, what in enumerate(
        ({"fields": {"slots": {}}}, {"fields": {"holdout": {"before": 0.1}}}, {}, {"fields": {}})
    ):
        changed = definition(window_seconds=100.0 + number)
        store.put_placement("home", changed.text(), Change(MONDAY + number, json.dumps(what)))
    assert read_evidence(store, "home", definition()).changed == [MONDAY + 1.0]


def test_the_spread_of_values_is_not_understated_where_views_have_several_clicks() -> None:
    """Counts of items do not say which were clicked together, so the sum of squares is a bound; exact for one click."""
    rng, hour, values = np.random.default_rng(4), CountPeriod(0), {"a": 1.0, "b": 5.0, "c": 2.0}
    for most in (1, 2, 3):
        views = [rng.choice([*values], rng.integers(1, most + 1), replace=False).tolist() for _ in range(200)]
        clicks = Counter(item for clicked in views for item in clicked)
        rows = [ItemClicks(hour, "", "learned", item, count) for item, count in clicks.items()]
        arms = [ArmCounts(hour, "", "learned", len(views), 100, 0.0, 0.0)]
        ((*_, sums),) = views_by_period(UpliftEvidence(ALWAYS, arms, rows, [], values, slots=3))
        of_views = [sum(values[item] for item in clicked) for clicked in views]
        assert sums.total == sum(of_views)
        assert sums.squares >= sum(value**2 for value in of_views)
        assert (sums.squares == sum(value**2 for value in of_views)) is (most == 1)
