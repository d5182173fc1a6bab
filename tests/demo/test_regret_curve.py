from __future__ import annotations

import pytest

from slotwise.demo.ground_truth import Truth
from slotwise.demo.regret_curve import LATEST_SECONDS, MAX_POINTS, Curve, Losses, PopularitySort


def test_the_losses_of_many_visitors_are_those_of_each_added_up() -> None:
    truth, losses = Truth.at_first(), Losses()
    for _ in range(30):
        losses = losses.plus(truth, "mobile", truth.fixed_list, 0.25)
    for _ in range(20):
        losses = losses.plus(truth, "desktop", truth.best_list("desktop"), 0.5)
    assert losses.visitors == 50
    assert losses.learned == pytest.approx(30 * truth.lost_by_fixed("mobile"))
    assert losses.fixed == pytest.approx(30 * truth.lost_by_fixed("mobile") + 20 * truth.lost_by_fixed("desktop"))
    assert losses.by_clicks == pytest.approx(30 * 0.25 + 20 * 0.5)
    assert losses.best == pytest.approx(30 * truth.best_rate("mobile") + 20 * truth.best_rate("desktop"))


def test_popularity_sort_shows_what_was_clicked_most_and_begins_with_the_control_order() -> None:
    truth, popularity = Truth.at_first(), PopularitySort()
    assert popularity.lose(truth, "mobile") == pytest.approx(truth.lost_by_fixed("mobile"))
    popularity.clicks.update({item: 1_000 - number for number, item in enumerate(truth.best_list("mobile"))})
    assert popularity.lose(truth, "mobile") == pytest.approx(0.0)


def test_a_curve_has_even_distances_and_ends_with_the_last_point() -> None:
    curve = Curve()
    for number in range(5_000):
        curve.add(number * 0.7, Losses(visitors=number))
        assert len(curve.points) <= MAX_POINTS
        # the last point is the end of the time that goes on
        assert 0.0 < curve.seconds()[-1] - number * 0.7 <= curve.spacing
    assert curve.points[-1].visitors == 4_999
    counts = [losses.visitors for losses in curve.points]
    assert counts == sorted(counts)
    # each is what had come by its time
    for seconds, losses in zip(curve.seconds()[:-1], curve.points[:-1], strict=True):
        assert losses.visitors == pytest.approx(seconds / 0.7, abs=2.0)


def test_the_latest_losses_are_of_the_last_seconds_alone() -> None:
    curve = Curve()
    assert curve.latest() == Losses()
    for second in range(100):
        curve.add(float(second), Losses(visitors=3 * second, best=float(second)))
    assert curve.latest() == Losses(visitors=int(3 * LATEST_SECONDS), best=LATEST_SECONDS)


def test_a_pause_leaves_no_gap() -> None:
    curve = Curve()
    curve.add(0.1, Losses(visitors=1))
    curve.add(10.1, Losses(visitors=2))
    assert [losses.visitors for losses in curve.points] == [1, *[2] * 20]
