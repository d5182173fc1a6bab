"""The list that slotwise would show of a fitted placement, what it expects of it, and when it shows none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from slotwise.core.types import FloatArray
from slotwise.logs.counting.cleaning_rules import RULES
from slotwise.logs.counting.log_tallies import LogTally
from slotwise.logs.fitting.click_rate import Rate
from slotwise.logs.fitting.filled_slots import FilledSlots
from slotwise.logs.fitting.number_format import percent, with_interval

#: an item that was shown less often counts as hardly known
FEW_SHOWINGS = 100
#: nothing is recommended from a log of which a larger share is left out
MAX_LEFT_OUT = 0.1
#: whether to recommend a list then: never, or all the same
Recommend = Literal["auto", "always"]
RECOMMEND: tuple[Recommend, ...] = ("auto", "always")
#: findings that leave out an impression, and rows that belong to none
_LEFT_OUT = (
    "null_time",
    "click_not_shown",
    "conflicting_slots",
    "repeated_items",
    "multi_click_drop",
    "multi_click_unordered",
)
_ROWS = ("null_impression", "null_placement")


class ShownItem(NamedTuple):
    """The item that a slot held most often, None if it held none, and its share of the counted impressions."""

    item: str | None
    share: float


@dataclass(frozen=True)
class Recommendation:
    """The list that slotwise would show, and what it expects of it."""

    #: an id per slot, None where nothing is left to show
    items: tuple[str | None, ...]
    #: in the slots that impressions of the log fill, so that it compares with theirs; NaN if the list leaves one empty
    rate: Rate
    #: if every slot of the list is filled
    all_slots: Rate
    filled: FilledSlots
    #: how many of them were never shown in that slot, and how many hardly anywhere
    never_there: int
    hardly_shown: int

    def caution(self) -> str:
        """Why not to take the rate at face value; empty if there is no reason."""
        count = sum(item is not None for item in self.items)
        words = []
        if self.never_there:
            words.append(f"{_some(self.never_there, count)} never shown in that slot")
        if self.hardly_shown:
            words.append(f"{_some(self.hardly_shown, count)} shown fewer than {FEW_SHOWINGS} times anywhere")
        return f"This rests on the model: {', and '.join(words)}." if words else ""

    def slots_in_words(self) -> str:
        """Return for which slots the rate is; empty if that makes no difference."""
        if not self.filled.is_partial or percent(self.rate.click_rate) == percent(self.all_slots.click_rate):
            return ""
        if math.isnan(self.rate.click_rate):
            return (
                f"A click is expected in {with_interval(self.all_slots)} of impressions with this list. Those of the "
                f"log fill {self.filled.in_words()}, some of them slots that the list leaves empty: the rates are not "
                "compared."
            )
        return (
            f"Yes: both rates are for impressions that fill {self.filled.in_words()}. With every slot filled, "
            f"{with_interval(self.all_slots)} would be expected."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the ids from slot 1 on, and the rate; None if unknown."""
        whole = {"all_slots": self.all_slots.to_dict()} if self.filled.is_partial else {}
        return {"items": list(self.items), **self.rate.to_dict(), **whole}


def why_withheld(tally: LogTally) -> str:
    """Return why the counts are no basis for a recommendation, as a clause; empty if they are one."""
    counts = {"rows": 0, "impressions": 0, "counted": 0, **tally.cleaning}
    if counts.get("cut_lists"):
        return f"rows of unclicked items are missing: there are {counts['cut_lists']:,} {RULES['cut_lists']}"
    if tally.counted >= FEW_SHOWINGS and not tally.no_click:
        return f"all {tally.counted:,} impressions have a click, so nothing says how often there is none"
    lost_rows = sum(counts.get(rule, 0) for rule in _ROWS)
    if lost_rows > MAX_LEFT_OUT * counts["rows"]:
        return f"{_share(lost_rows, counts['rows'])} rows have no impression or no placement, and are left out"
    for found, counted in ((counts["impressions"], counts["counted"]), (tally.impressions, tally.counted)):
        if found - counted > MAX_LEFT_OUT * found:
            worst = max(_LEFT_OUT, key=lambda rule: counts.get(rule, 0))
            main_cause = RULES[worst].partition(":")[0]
            return (
                f"{_share(found - counted, found)} impressions are left out. The most frequent cause: "
                f"{counts.get(worst, 0):,} {main_cause}"
            )
    return ""


def _share(part: int, whole: int) -> str:
    return f"{percent(part / whole)} of the"


@dataclass(frozen=True, eq=False)
class RuleOutcome:
    """The recommended list under one rule for several clicks: an id per slot, its click rate, and the position bias."""

    items: tuple[str | None, ...]
    rate: Rate
    position_bias: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {"items": list(self.items), **self.rate.to_dict()}


def _some(number: int, count: int) -> str:
    """Return a number of items as the subject of a sentence."""
    return "its item was" if count == 1 else f"{number} of the {count} items {'was' if number == 1 else 'were'}"
