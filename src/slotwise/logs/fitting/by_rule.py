"""What each rule for several clicks would make of the answer: the whole fit again, under each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slotwise.errors import InvalidInput
from slotwise.logs.counting.cleaning_rules import MULTI_CLICK, MultiClick
from slotwise.logs.fitting.click_rate import Rate
from slotwise.logs.fitting.fit import Fit
from slotwise.typing import FloatArray

#: a longer log is not read again for it
MOST_READ_AGAIN = 1_000_000


@dataclass(frozen=True, eq=False)
class Answer:
    """The list that would be shown, an id per slot, the click rate expected of it, and what each slot is worth."""

    items: tuple[str | None, ...]
    rate: Rate
    position_bias: FloatArray

    @classmethod
    def of(cls, fit: Fit) -> Answer:
        """What a fit says."""
        best = fit.best()
        return cls(best.items, best.rate, fit.estimate.position_bias)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers."""
        return {"items": list(self.items), **self.rate.to_json()}


def with_each_rule(found: Sequence[Fit], fit_again: Callable[[MultiClick], Sequence[Fit]]) -> list[Fit]:
    """The fits with `by_rule`, where impressions have several clicks in an order that is known.

    >>> with_each_rule([], lambda rule: [])
    []
    """
    if not any(_is_ordered(one) for one in found) or sum(one.impressions for one in found) > MOST_READ_AGAIN:
        return list(found)
    answers: dict[str | None, dict[MultiClick, Answer]] = {one.placement: {} for one in found}
    for rule in MULTI_CLICK:
        for one in found if rule == found[0].rule else _fitted(rule, fit_again):
            if one.placement in answers:
                answers[one.placement][rule] = Answer.of(one)
    return [replace(one, by_rule=answers[one.placement]) for one in found]


def _is_ordered(one: Fit) -> bool:
    """Whether it has several clicks in an order that is known."""
    known = one.rule == "drop" or one.cleaning.get(f"multi_click_{one.rule}", 0) > 0
    return one.ordered and known and one.multi_click > 0


def _fitted(rule: MultiClick, fit_again: Callable[[MultiClick], Sequence[Fit]]) -> Sequence[Fit]:
    try:
        return fit_again(rule)
    except InvalidInput:
        # there is a rule that has nothing to count: every click is one of several
        return []
