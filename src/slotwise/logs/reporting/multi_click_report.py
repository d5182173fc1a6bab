"""How many impressions have clicks on several items, and what each rule for them would make of the answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.fitting.fit_result import Fit
from slotwise.logs.fitting.number_format import number, percent

DONE = {
    "first": "Here the first click counts.",
    "last": "Here the last click counts.",
    "drop": "Here those impressions are left out.",
}


def multi_click_sentences(fits: Sequence[Fit]) -> list[str]:
    """Of one placement, or of all together; nothing if no impression has several clicks."""
    several, first = sum(fit.tally.multi_click for fit in fits), fits[0]
    if not several:
        return []
    words = [
        f"{percent(several / sum(fit.impressions for fit in fits))} of the impressions have clicks on several items, "
        f"and the model has one click per visitor. {_done(first)}"
    ]
    compared = [fit for fit in fits if fit.tally.rule in fit.by_rule]
    if compared:
        words += [_rates_in_words(compared), *_worth_in_words(compared)]
    elif first.tally.ordered:
        words.append("Fit the log again with --multi-click first, last or drop to compare.")
    elif first.tally.rule == "drop":
        words.append("Name the order or the time of the clicks (--order) to compare the first and the last click.")
    return [" ".join(words)]


def _done(fit: Fit) -> str:
    """The treatment of impressions with several clicks, in the whole log."""
    missing = fit.tally.cleaning.get("multi_click_unordered", 0)
    if not missing:
        return DONE[fit.tally.rule]
    if not fit.tally.cleaning.get(f"multi_click_{fit.tally.rule}", 0):
        return "Here those impressions are left out, as the order of their clicks is missing."
    return f"Here the {fit.tally.rule} click counts, and {missing:,} with a click whose order is missing are left out."


def _rates_in_words(fits: Sequence[Fit]) -> str:
    rates = []
    for rule in MULTI_CLICK:
        fitted = _known(fits, rule)
        if fitted:
            views = np.array([fit.impressions for fit in fitted])
            rate = views @ [fit.by_rule[rule].rate.click_rate for fit in fitted] / views.sum()
            rates.append(f"{rule} {percent(float(rate))}{_changed(fitted, rule)}")
        else:
            rates.append(f"{rule} leaves no click to count")
    return f"The recommended list is expected to be clicked, by rule: {'; '.join(rates)}."


def _known(fits: Sequence[Fit], rule: MultiClick) -> list[Fit]:
    return [fit for fit in fits if rule in fit.by_rule]


def _changed(fits: Sequence[Fit], rule: MultiClick) -> str:
    """How the lists differ from those under the rule that counts."""
    if rule == fits[0].tally.rule:
        return ""
    moved = [_places_changed(fit, rule) for fit in fits]
    if not any(moved):
        return " for the same list" if len(fits) == 1 else " for the same lists"
    if len(fits) == 1:
        return f", with {moved[0]} of {fits[0].slots} places changed"
    return f", with {sum(map(bool, moved)):,} of {len(fits):,} lists changed"


def _places_changed(fit: Fit, rule: MultiClick) -> int:
    pairs = zip(fit.by_rule[rule].items, fit.by_rule[fit.tally.rule].items, strict=False)
    return sum(first != two for first, two in pairs)


def _worth_in_words(fits: Sequence[Fit]) -> list[str]:
    """Return the position bias of slot 2 under each rule: the median of several placements."""
    values = []
    for rule in MULTI_CLICK:
        worth = [fit.by_rule[rule].position_bias[1] for fit in _known(fits, rule) if fit.slots > 1]
        if worth:
            values.append(f"{rule} {number(float(np.median(worth)), 2)}")
    among = "" if len(fits) == 1 else ", in the middle of the placements"
    return [f"Slot 2 is worth, relative to slot 1{among}: {'; '.join(values)}."] if values else []
