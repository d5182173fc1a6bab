from __future__ import annotations

import numpy as np
import pytest

from slotwise import Rankings
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.reporting.underplaced_items import find_underplaced

BIAS, ALPHA = np.array([1.0, 0.5, 0.25]), np.array([0.1, 0.2, 0.8, 0.05])


def fit_of(shares: dict[tuple[int, ...], int]) -> Fit:
    """Lists with their expected clicks, for this many visits without one."""
    lists = np.array(list(shares))
    passes = np.array(list(shares.values()))
    clicks = np.round(passes[:, None] * BIAS * ALPHA[lists]).astype(int)
    return Fit.of_rankings(Rankings(lists, clicks, passes, items=4), item_ids=["a", "b", "c", "d"])


def test_the_best_item_in_the_worst_place_is_named_first() -> None:
    """c is the most attractive, and is in slot 3 nine times out of ten."""
    fit = fit_of({(0, 1, 2): 9_000, (2, 0, 1): 1_000, (1, 0, 3): 2_000, (3, 1, 0): 2_000})
    first = find_underplaced(fit, fit.best())[0]
    assert (first.item, first.slot, first.better) == ("c", 3, 1)
    # in slot 3 for 90 % of its passes and in slot 1 for the rest, and a little more often shown where it is clicked
    assert first.times == pytest.approx(1.0 / (0.9 * 0.25 + 0.1), rel=0.1)


def test_items_that_are_where_they_belong_or_hardly_known_are_not() -> None:
    in_place = fit_of({(2, 1, 0): 9_000, (1, 2, 0): 500, (2, 0, 1): 500})
    assert "c" not in [one.item for one in find_underplaced(in_place, in_place.best())]
    hardly = fit_of({(0, 1, 3): 9_000, (1, 0, 3): 9_000, (3, 0, 1): 9_000, (0, 1, 2): 40})
    assert "c" not in [one.item for one in find_underplaced(hardly, hardly.best())]
