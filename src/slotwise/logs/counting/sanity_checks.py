"""Checks of what was counted: whether anything is left, and whether rows of unclicked items are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ibis.expr.types as ir
import numpy as np

from slotwise.core.errors import InvalidInput
from slotwise.core.tally import Tally
from slotwise.core.types import IntArray
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.counting.impression_counts import PageCounts

#: items of a list that are named
NAMED = 5
ADVICE = {
    "click_not_shown": "In a log of lists, clicked must be the clicked item itself, not its place in the list; in a "
    "log of rows, a click must have the slot or the item that its impression shows",
    "multi_click_drop": "Name the column with the order or the time of the clicks, so that the first can be counted",
    "multi_click_unordered": "The order of the clicks is missing where it is needed: leave those impressions out with "
    "multi-click drop, or fill it in",
    "clicks_of_nothing": "Clicks need the impression (and the placement) that they belong to",
    "conflicting_slots": "If the ids of impressions begin anew on each page, name the column of the pages (placement)",
}
#: why impressions are left out, and rows
LEFT_OUT = {*ADVICE, "repeated_items"}
ROWS = ("null_impression", "null_placement", "null_weight", "null_time", "null_slot", "null_item", "empty_impressions")
#: clicked impressions, and rows below the click, that are needed for a finding
MIN_COUNT = 20
#: the share of the expected rows below the click up to which they count as missing, and as fewer than expected
MISSING, FEWER = 0.1, 0.7


def refuse_lost(
    totals: Sequence[PageCounts], counts: dict[str, int], unique: ir.Table | None, keys: Sequence[str]
) -> None:
    """Refuse a log without an impression that can be counted, and one whose clicks are all lost."""
    counted, clicked = sum(page.counted for page in totals), sum(page.clicked for page in totals)
    if not counted:
        what = "the log has no impression that can be counted"
    elif sum(page.counted - page.no_click for page in totals) or not (clicked or counts["clicks_of_nothing"]):
        return
    else:
        what = f"the log has clicks in {clicked:,} impressions, and none of them could be counted"
    reasons = [name for name in counts if counts[name] and name in (LEFT_OUT if counted else {*LEFT_OUT, *ROWS})]
    if not reasons:
        raise InvalidInput(f"{what}: it is empty")
    worst = max(reasons, key=lambda name: counts[name])
    example = _example(unique, keys) if worst == "click_not_shown" and unique is not None else ""
    advice = f". {ADVICE[worst]}" if worst in ADVICE else ""
    raise InvalidInput(f"{what}: {counts[worst]:,} {RULES[worst]}{example}{advice}")


def _example(unique: ir.Table, keys: Sequence[str]) -> str:
    """Return an example of a click on an item that was not shown, and the list."""
    lost = unique.filter(unique.clicked & (unique.slot.isnull() | unique.item.isnull()))
    stray = lost.order_by([*keys, "item"]).limit(1).to_pyarrow().to_pylist()
    if not stray:
        return ""
    same = unique.slot.notnull() & unique.item.notnull()
    for key in keys:
        same &= unique[key] == stray[0][key]
    shown = unique.filter(same).order_by("slot").limit(NAMED).to_pyarrow()["item"].to_pylist()
    item, slot = stray[0]["item"], stray[0]["slot"]
    where = f"on {item!r}" if item is not None else "on nothing" if slot is None else f"on slot {slot}"
    listed = ", ".join(map(str, shown)) or "nothing"
    return f" (such as the click {where}, in an impression that shows {listed})"


def missing_rows(counted: Iterable[tuple[Tally, IntArray, int]]) -> dict[str, int]:
    """Return the number of impressions with a click, under the finding that their rows are missing or fewer.

    Takes the tally, the showings and the number of counted impressions without a click of each placement. Lists with a
    click are expected to be as long as those without one: of a list of length L with a click on slot k, L - k rows are
    below the click.

    >>> full = Tally(np.array([[30], [0]]), np.array([[50], [50]]))
    >>> missing_rows([(full, np.array([[80], [80]]), 50)]), missing_rows([(full, np.array([[80], [50]]), 50)])
    ({'cut_lists': 0, 'shorter_lists': 0}, {'cut_lists': 30, 'shorter_lists': 0})
    """
    clicked, below, expected = 0, 0.0, 0.0
    for tally, showings, no_click in counted:
        clicks = tally.clicks.sum(axis=1)
        if no_click and clicks.any():
            down_to_click = float(clicks @ np.arange(1, len(clicks) + 1))
            clicked += int(clicks.sum())
            below += float((showings - tally.passes).sum()) - down_to_click
            expected += float(tally.passes.sum()) / no_click * float(clicks.sum()) - down_to_click
    share = below / expected if clicked >= MIN_COUNT and expected >= MIN_COUNT else 1.0
    return {
        "cut_lists": clicked if share < MISSING else 0,
        "shorter_lists": clicked if MISSING <= share < FEWER else 0,
    }
