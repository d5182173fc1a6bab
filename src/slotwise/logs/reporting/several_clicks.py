"""What impressions with clicks on several items do to the answer: under each rule, what would be shown and expected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from slotwise.belief import posterior
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.counting.tallies import LogTally
from slotwise.logs.fitting.click_rate import Rate, expected_rate
from slotwise.logs.fitting.fit import LEVEL, Fit
from slotwise.logs.fitting.wording import percent
from slotwise.typing import EMPTY, FloatArray

#: a belief of more items takes too long to form it twice more for a sentence
MOST_ITEMS = 20_000
DONE = {
    "first": "Here the first click counts",
    "last": "Here the last click counts",
    "drop": "Here those impressions are left out",
}


class Answer(NamedTuple):
    """The list that would be shown, an id per slot, the click rate expected of it, and what each slot is worth."""

    items: tuple[str | None, ...]
    rate: Rate
    position_bias: FloatArray


def answers(counted: LogTally) -> dict[MultiClick, Answer]:
    """The answer under each rule; empty if the order of the clicks is not known."""
    if counted.several is None or len(counted.item_ids) > MOST_ITEMS:
        return {}
    found: dict[MultiClick, Answer] = {}
    for rule in MULTI_CLICK:
        under = counted.under(rule)
        belief = posterior(under)
        ranking = belief.best_list(under.showings.sum(axis=1) > 0)
        ids = tuple(None if item == EMPTY else under.item_ids[item] for item in ranking)
        rate = expected_rate(belief.estimate, ranking[None, :], np.ones(1), LEVEL)
        found[rule] = Answer(ids, rate, belief.estimate.position_bias)
    return found


def several_in_words(fit: Fit) -> list[str]:
    """How many impressions have several clicks, and what that does to the answer; nothing if there are none."""
    if not fit.multi_click:
        return []
    rule = fit.tally.rule if isinstance(fit.tally, LogTally) else None
    told = (
        f"{percent(fit.multi_click / fit.impressions)} of the impressions have clicks on several items, and the model "
        f"knows one click a visitor. {DONE[rule] if rule else 'One click of each counts'}."
    )
    found = answers(fit.tally) if isinstance(fit.tally, LogTally) else {}
    if rule is None or not found:
        return [
            f"{told} Name the order or the time of the clicks to see what the first or the last would make of it."
            if rule == "drop"
            else told
        ]
    mine = found[rule].items
    parts = []
    for other, answer in found.items():
        moved = sum(one != two for one, two in zip(answer.items, mine, strict=False))
        differs = (
            ""
            if other == rule
            else " for the same list"
            if not moved
            else f", with {moved} of {len(mine)} places changed"
        )
        parts.append(f"{other} {percent(answer.rate.click_rate)}{differs}")
    words = f"{told} What slotwise would show is expected to be clicked, by rule: {'; '.join(parts)}."
    if fit.slots > 1:
        worth = "; ".join(f"{other} {answer.position_bias[1]:.2g}" for other, answer in found.items())
        words += f" Slot 2 is worth, relative to slot 1: {worth}."
    return [words]
