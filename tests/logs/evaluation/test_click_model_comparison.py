"""Which model describes a page: the one that its clicks were drawn from, and what cannot be known is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from slotwise.core.errors import InvalidInput
from slotwise.core.types import EMPTY
from slotwise.logs.counting.click_sets import ClickSets
from slotwise.logs.evaluation.click_model_comparison import (
    combined,
    compare,
    compare_each,
    fit_click_model,
    name_of,
    why_not,
)
from slotwise.logs.evaluation.click_model_fits import CLICK_MODELS
from tests.logs.evaluation.test_click_model_fits import TRUE
from tests.logs.synthetic_clicks import drawn_sets


@pytest.mark.parametrize("id", CLICK_MODELS)
def test_the_model_that_clicks_were_drawn_from_describes_them(id: str) -> None:
    found = compare(drawn_sets(TRUE[id], 20_000, np.random.default_rng(10)))
    assert found.describing() == id
    assert found.in_words()[bool(found.several)].startswith(f"“{name_of(id)}” describes")
    assert set(found.left_out) == ({"dcm", "ubm"} if id in ("mnl", "cascade") else set())
    judged = {one.id: one for one in found.models}
    # of its own clicks a model expects as many as there are, within five standard errors
    clicks = found.clicks.astype(float)
    error = np.sqrt(found.mean((clicks - found.mean(clicks)) ** 2) / found.held_out)
    assert abs(found.mean(judged[id].clicks) - found.mean(clicks)) < 5 * error
    assert 1.0 < found.perplexity(judged[id]) < 2.0
    json.dumps(found.to_dict(), allow_nan=False)


def test_several_clicks_are_impossible_for_those_who_click_once() -> None:
    found = compare(drawn_sets(TRUE["pbm"], 2_000, np.random.default_rng(11)))
    assert {one.id for one in found.models} - {one.id for one in found.best("every")} == {"mnl", "cascade"}
    assert "cannot account for the" in found.in_words()[1]
    assert found.to_dict()["models"]["mnl"]["all_clicks"] is None


def test_placements_add_up() -> None:
    each = [compare(drawn_sets(TRUE["pbm"], count, np.random.default_rng(count))) for count in (2_000, 3_000)]
    both = combined(each)
    assert both.held_out == each[0].held_out + each[1].held_out
    pairs = [(one.mean(model.first), one.held_out) for one in each for model in one.models if model.id == "ubm"]
    (ubm,) = (model for model in both.models if model.id == "ubm")
    assert both.mean(ubm.first) == pytest.approx(sum(mean * count for mean, count in pairs) / both.held_out)


def test_the_share_with_several_clicks_is_that_of_all_impressions() -> None:
    sets = drawn_sets(TRUE["pbm"], 500, np.random.default_rng(13))
    found = compare(sets)
    assert found.several == sets.several / sets.impressions
    assert found.several != found.times[found.clicks > 1].sum() / found.held_out
    both = combined(compare_each([sets, sets]))
    assert both.several == found.several


def test_placements_have_draws_of_their_own() -> None:
    """Two placements of the same impressions are divided in two ways."""
    sets = drawn_sets(TRUE["pbm"], 500, np.random.default_rng(13))
    one, two = compare_each([sets, sets])
    assert (one.held_out, one.times.tolist()) != (two.held_out, two.times.tolist())


def _sets(shown: list[list[int]], clicks: list[list[int]], items: int = 4) -> ClickSets:
    hit = np.array(clicks, bool)
    first = np.where(hit.any(axis=1), hit.argmax(axis=1), -1)
    times = np.full(len(shown), 50)
    return ClickSets("home", tuple("abcdefgh"[:items]), np.array(shown), hit, first, times)


@pytest.mark.parametrize(
    ("id", "shown", "clicks", "why"),
    [
        ("dcm", [[0, 1], [1, 0]], [[1, 0], [0, 0]], "no impression has several clicks"),
        ("ubm", [[0, 1], [1, 0]], [[1, 0], [0, 0]], "no impression has several clicks"),
        ("pbm", [[0, 1], [0, 2]], [[1, 0], [1, 1]], "slot 2 cannot be compared with others"),
        ("mnl", [[0, 1], [0, 2]], [[1, 0], [0, 1]], "slot 2 cannot be compared with others"),
        ("ubm", [[0, 1], [0, 2]], [[1, 1], [1, 1]], "slot 2 cannot be compared with others"),
        ("cascade", [[0, 1], [0, 2]], [[0, 0], [0, 0]], "no impression has a click"),
    ],
)
def test_an_unidentified_model_is_rejected(id: str, shown: list[list[int]], clicks: list[list[int]], why: str) -> None:
    sets = _sets(shown, clicks)
    assert why in str(why_not(id, sets))
    with pytest.raises(InvalidInput, match=f"cannot be fitted from home: {why}"):
        fit_click_model(id, sets)


def test_a_slot_that_was_always_empty_is_not_asked_for() -> None:
    assert why_not("pbm", _sets([[0, EMPTY, 1], [1, EMPTY, 0]], [[1, 0, 0], [0, 0, 1]])) is None


def test_too_few_impressions_to_hold_out_are_reported() -> None:
    found = compare(_sets([[0, 1]], [[1, 0]]).some(np.array([1])))
    assert found.models == ()
    assert found.in_words() == ["There are too few impressions to hold any out, so that no model can be judged."]
    assert found.to_dict()["held_out"] in (0, 1)
    with pytest.raises(InvalidInput, match="no placement has impressions enough"):
        combined([found])
