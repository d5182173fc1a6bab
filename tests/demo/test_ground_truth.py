"""What is true of the shop's visitors, against closed forms and by trying every list."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from slotwise.core.errors import InvalidInput
from slotwise.demo.ground_truth import POPULAR, Truth
from slotwise.demo.shop import DEVICES, LATER, Device


def rate(truth: Truth, device: Device, shown: tuple[str, ...]) -> float:
    """S/(1+S), S being the sum of visibility times attractiveness."""
    total = sum(
        visibility * truth.attractiveness[item][device]
        for visibility, item in zip(truth.visibility, shown, strict=True)
    )
    return total / (1.0 + total)


def changed() -> list[Truth]:
    first = Truth.at_first()
    return [first, first.swapped(1, 4), first.made_popular("candle"), first.with_product(LATER[0]).swapped(2, 3)]


@pytest.mark.parametrize("truth", changed())
@pytest.mark.parametrize("device", DEVICES)
def test_losses_are_those_of_the_closed_form(truth: Truth, device: Device) -> None:
    every = {shown: rate(truth, device, shown) for shown in itertools.permutations(truth.items, truth.slots)}
    best = max(every.values())
    assert truth.best_rate(device) == pytest.approx(best)
    assert every[truth.best_list(device)] == pytest.approx(best)
    assert truth.lost_by_fixed(device) == pytest.approx(best - every[truth.items[: truth.slots]])
    assert all(truth.lost(device, shown) >= -1e-12 for shown in every)


def test_visitors_click_with_the_true_probabilities() -> None:
    """By 20,000 draws at a fixed seed; each share is within 5 standard errors, which fails by chance once in 10⁶."""
    truth, draws = Truth.at_first(seed=1), 20_000
    shown = truth.best_list("mobile")
    total = sum(truth.visibility[slot] * truth.attractiveness[item]["mobile"] for slot, item in enumerate(shown))
    seen = clicks = 0
    for _ in range(draws):
        visit = truth.visitors("mobile").visit(shown)
        seen += visit.seen
        clicks += any(outcome.get("clicked") for outcome in visit.reports)
    wanted = total / (1.0 + total)
    assert abs(clicks / seen - wanted) < 5.0 * math.sqrt(wanted * (1.0 - wanted) / seen)


def test_a_popular_item_is_liked_more_than_all_others_and_nothing_else_changes() -> None:
    truth = Truth.at_first()
    popular = truth.made_popular("candle")
    for device in DEVICES:
        others = {item: tastes[device] for item, tastes in popular.attractiveness.items() if item != "candle"}
        assert others == {item: tastes[device] for item, tastes in truth.attractiveness.items() if item != "candle"}
        assert popular.attractiveness["candle"][device] == POPULAR * max(others.values())
        assert popular.best_list(device)[0] == "candle"
    assert popular.visibility == truth.visibility
    # once more changes nothing
    assert popular.made_popular("candle") == popular


def test_swapping_two_slots_moves_their_visibility_and_nobodys_taste() -> None:
    truth = Truth.at_first()
    swapped = truth.swapped(1, 3)
    assert swapped.visibility == (truth.visibility[2], truth.visibility[1], truth.visibility[0], truth.visibility[3])
    assert swapped.attractiveness == truth.attractiveness
    assert swapped.swapped(3, 1) == truth
    # the same clicks can be had, in other places
    assert swapped.best_rate("mobile") == pytest.approx(truth.best_rate("mobile"))


def test_a_new_item_comes_last_so_that_the_list_that_never_changes_does_not() -> None:
    truth = Truth.at_first()
    for product in LATER:
        truth = truth.with_product(product)
        assert truth.items[-1] == product.id
        assert truth.fixed_list == Truth.at_first().fixed_list
    assert truth.best_list("desktop")[0] == "telescope"


def test_the_truth_is_on_the_scale_of_the_estimates() -> None:
    """Of the products that clicks depend on nothing is lost."""
    truth = Truth.at_first().swapped(1, 4)
    assert truth.visibility_beside_first(1) == 1.0
    for slot, item in itertools.product(range(1, 5), truth.items):
        told = truth.visibility_beside_first(slot) * truth.attractiveness_in_first_slot(item, "mobile")
        assert told == pytest.approx(truth.visibility[slot - 1] * truth.attractiveness[item]["mobile"])


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (0, 1, "first must be a slot from 1 to 4, got 0"),
        (1, 5, "second must be a slot from 1 to 4, got 5"),
        (2, 2, "second must be another slot than first, got 2"),
    ],
)
def test_slots_that_are_none_are_refused(first: int, second: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Truth.at_first().swapped(first, second)


def test_an_unknown_item_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"item must be one of candle, .*, got 'sofa'"):
        Truth.at_first().made_popular("sofa")


def test_the_same_seed_is_the_same_visitors() -> None:
    one, other = (Truth.at_first(seed=7) for _ in range(2))
    for _ in range(20):
        shown = tuple(random.Random(3).sample(one.items, 4))
        assert one.visitors("desktop").visit(shown) == other.visitors("desktop").visit(shown)


def test_the_first_button_makes_the_control_order_worse_and_not_better() -> None:
    # the page offers the least attractive product that the control order does not show
    truth = Truth.at_first()
    later = truth.made_popular("teapot")
    for device in DEVICES:
        share = [1.0 - each.lost_by_fixed(device) / each.best_rate(device) for each in (truth, later)]
        assert share[1] < share[0]
        # a product of the control order would make it look good
        candle = truth.made_popular("candle")
        assert 1.0 - candle.lost_by_fixed(device) / candle.best_rate(device) > share[0]
