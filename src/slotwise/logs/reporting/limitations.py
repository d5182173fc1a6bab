"""Limitations of a log: comparisons that it does not allow, as sentences for a page owner.

Slots and items are compared through items that stood in several slots. A click on a pair bounds its odds from below, an
impression without one from above; pairs that are tied in both directions can be compared.
"""

from __future__ import annotations

import numpy as np

from slotwise.core.types import BoolArray, IntArray
from slotwise.logs.counting.similar_ids import similar_ids
from slotwise.logs.fitting.click_rate import LEVEL
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import and_more

#: names that are listed before "and 37 more"
LISTED = 3


def limitations(fit: Fit) -> list[str]:
    """Return a sentence for each limitation.

    >>> from slotwise import Rankings
    >>> for sentence in limitations(Fit.of_rankings(Rankings([[0, 1]], [[30, 20]], [50], items=2))):
    ...     print(sentence)
    Slot 1 and slot 2 cannot be compared: no item was seen in both, with clicks and without. Which is the better place,
    and how an item of one would do in the other, is unknown; show the same items in both for a while to find out.
    Every item was always in one slot. Its attractiveness and the position bias of its slot cannot be separated by it
    alone.
    """
    return [*_one_at_a_time(fit), *_between_slots(fit), *_items(fit), *_one_slot(fit), *_alike(fit)]


def _one_at_a_time(fit: Fit) -> list[str]:
    if fit.filled.sets.sum(axis=1).max() > 1 or fit.slots == 1:
        return []
    return [
        "Every impression fills one slot only. If these are rows of larger pages, name the column that has the id of "
        "the page view (--impression); without it, nothing is known of items that were shown together."
    ]


def _between_slots(fit: Fit) -> list[str]:
    slot_parts, _ = fit.compared
    sentences = []
    used, clicks = fit.tally.showings.sum(axis=1) > 0, fit.tally.clicks.sum(axis=1)
    empty, silent = ~used, used & (clicks == 0)
    if empty.any():
        sentences.append(f"{_slots(empty, capital=True)} never held an item.")
    if silent.any():
        high = fit.estimate.intervals(LEVEL).position_bias.high
        limits = [
            f"slot {slot + 1} below {high[slot]:.2g}" for slot in np.flatnonzero(silent) if slot and high[slot] < np.inf
        ]
        worth = f"; worth relative to slot 1: {', '.join(limits)}" if limits else ""
        sentences.append(f"{_slots(silent, capital=True)} held items and got no click{worth}.")
    parts = [(slot_parts == part) & used & ~silent for part in dict.fromkeys(slot_parts[used & ~silent].tolist())]
    if len(parts) > 1:
        both = "both" if len(parts) == 2 else "several"
        names = [_slots(part) for part in parts]
        listed = " and ".join(names) if len(names) == 2 else ", ".join(names[:-1]) + " and " + names[-1]
        sentences.append(
            f"{listed[0].upper()}{listed[1:]} cannot be compared: no item was seen in {both}, with clicks and "
            "without. Which is the better place, and how an item of one would do in the other, is unknown; show "
            f"the same items in {both} for a while to find out."
        )
    return sentences


def _items(fit: Fit) -> list[str]:
    slot_parts, item_parts = fit.compared
    shown, clicks = fit.tally.showings.sum(axis=0), fit.tally.clicks.sum(axis=0)
    high = fit.estimate.intervals(LEVEL).attractiveness.high
    sentences = []
    never = np.flatnonzero(shown == 0)
    if len(never):
        sentences.append(f"{_count(never, 'item')} never shown: no data on {_names(fit, never, shown)}.")
    silent = np.flatnonzero((shown > 0) & (clicks == 0))
    if len(silent) == 1:
        (item,) = silent
        limit = f": its attractiveness is below {high[item]:.2g}" if np.isfinite(high[item]) else ""
        sentences.append(f"Item {fit.item_ids[item]} was shown {_times(shown[item])} and never clicked{limit}.")
    elif len(silent):
        by_shown = silent[np.argsort(-shown[silent], kind="stable")]
        names = [
            f"{fit.item_ids[item]} (shown {_times(shown[item])}"
            + (f", so below {high[item]:.2g})" if np.isfinite(high[item]) else ")")
            for item in by_shown[:LISTED]
        ]
        sentences.append(
            f"{len(silent):,} items were shown and never clicked, which only bounds their attractiveness from above: "
            f"{and_more(names, len(silent))}."
        )
    # other estimators have an infinite estimate here; the pooled one has clicks equal to showings
    always = (clicks > 0) & ((clicks == shown) | np.isinf(fit.estimate.attractiveness))
    unbeaten = np.flatnonzero(always)
    if len(unbeaten):
        sentences.append(
            f"{_count(unbeaten, 'item')} clicked, and never left without a click: the log sets no upper limit to the "
            f"attractiveness of {_names(fit, unbeaten, shown)}."
        )
    # items that are tied to a slot are what `_between_slots` is about
    apart = np.flatnonzero(~np.isin(item_parts, slot_parts) & (clicks > 0) & ~always)
    if len(apart):
        sentences.append(
            f"{_count(apart, 'item')} clicked, but cannot be compared with the others: the slots "
            f"that would tie them were never clicked, or never passed over: {_names(fit, apart, shown)}."
        )
    return sentences


def _one_slot(fit: Fit) -> list[str]:
    places = (fit.tally.showings > 0).sum(axis=0)
    once, shown = int((places == 1).sum()), int((places > 0).sum())
    if fit.slots == 1 or not once:
        return []
    if once == shown:
        which = "Every item was"
    else:
        which = f"{once:,} of {shown:,} items were" if once > 1 else f"One of {shown:,} items was"
    they_are = "it is" if once == 1 else "they are"
    tell = (
        "Its attractiveness and the position bias of its slot cannot be separated by it alone."
        if once == shown
        else f"In other slots, {they_are} estimated through the other items of those slots."
    )
    return [f"{which} always in one slot. {tell}"]


def _alike(fit: Fit) -> list[str]:
    """Items that may be one, by their names."""
    twins = similar_ids(fit.item_ids)
    if not twins:
        return []
    groups = [" and ".join(repr(fit.item_ids[item]) for item in same) for same in twins[:LISTED]]
    others = f"; and {len(twins) - LISTED:,} more such groups" if len(twins) > LISTED else ""
    return [
        f"Some names differ only by case, blanks or the way a number is written: {'; '.join(groups)}{others}. They are "
        "counted as different items."
    ]


def _slots(chosen: BoolArray, *, capital: bool = False) -> str:
    """slot 4; slots 1–3 and 7."""
    numbers = (np.flatnonzero(chosen) + 1).tolist()
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    joined = texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]
    word = "slot" if len(numbers) == 1 else "slots"
    return f"{word.capitalize() if capital else word} {joined}"


def _names(fit: Fit, items: IntArray, shown: IntArray) -> str:
    """The ids of the items that were shown most, and how many more there are."""
    first = items[np.argsort(-shown[items], kind="stable")][:LISTED]
    return and_more([fit.item_ids[item] for item in first], len(items))


def _count(items: IntArray, what: str) -> str:
    return f"{len(items):,} {what}s were" if len(items) > 1 else f"One {what} was"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
