"""What visitors were told, and so what the service must have counted."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slotwise.drive.visitors import Outcome
from slotwise.typing import IntArray

#: what may become of a decision: both the visitors and the service count these
DECISION_KINDS = ("issued", "clicked", "no_click", "not_shown", "late")
#: what may be answered to a report
ANSWER_KINDS = ("recorded", "duplicate", "conflict", "late")


def answer_due(stands: Outcome | None, outcome: Outcome) -> str:
    """How a report that comes in time must be answered, given the outcome that stands.

    >>> answer_due({"clicked": None}, {"clicked": "a"}), answer_due({"clicked": "a"}, {"clicked": None})
    ('recorded', 'conflict')
    """
    if stands is None or (stands == {"clicked": None} and outcome.get("clicked") is not None):
        return "recorded"
    return "duplicate" if stands == outcome else "conflict"


@dataclass
class Ledger:
    """The visitors' own counts: a decision is entered once the last answer about it is in."""

    items: Sequence[str]
    slots: int
    decisions: Counter[str] = field(default_factory=Counter)
    #: what was answered to reports, by `ANSWER_KINDS`
    answers: Counter[str] = field(default_factory=Counter)
    #: answers that are not what such a report must get
    wrong: Counter[str] = field(default_factory=Counter)
    #: statuses that no visitor expects
    unexpected: Counter[int] = field(default_factory=Counter)
    #: clicks that were made within the window and arrived after it, as the service was too slow
    missed: int = 0
    #: requests without an answer: nobody knows what became of them
    unanswered: int = 0
    #: the lists, by number, in the order in which they were answered; without those that nobody saw
    shown: array[int] = field(default_factory=lambda: array("l"))
    lists: dict[tuple[str, ...], int] = field(default_factory=dict)
    #: seconds
    decide_seconds: array[float] = field(default_factory=lambda: array("d"))
    report_seconds: array[float] = field(default_factory=lambda: array("d"))

    def __post_init__(self) -> None:
        self._numbers = {item: number for number, item in enumerate(self.items)}
        # counted here and not by a Tally: a check of the service must not rest on the code that it checks
        self.clicks, self.passes = (np.zeros((self.slots, len(self.items)), np.int64) for _ in range(2))

    def answered(self, wanted: str, answer: str) -> None:
        """Enter the answer to a report. On a slow network any report may be late."""
        self.answers[answer] += 1
        if answer not in (wanted, "late"):
            self.wrong[f"{wanted} answered as {answer}"] += 1

    def issued(self, shown: tuple[str, ...], seen: bool) -> None:
        """Enter a decision."""
        self.decisions["issued"] += 1
        number = self.lists.setdefault(shown, len(self.lists))
        if seen:
            self.shown.append(number)

    def ended(self, shown: tuple[str, ...], outcome: Outcome | None) -> None:
        """Close a decision on which nothing more will be reported in time; `outcome` is the last one acknowledged."""
        if outcome is not None and "shown" in outcome:
            self.decisions["not_shown"] += 1
            return
        clicked = None if outcome is None else outcome["clicked"]
        if clicked is None:
            self.decisions["no_click"] += 1
            for slot, item in enumerate(shown):
                self.passes[slot, self._numbers[item]] += 1
        else:
            self.decisions["clicked"] += 1
            self.clicks[shown.index(clicked), self._numbers[clicked]] += 1

    def differences(self, estimates: Mapping[str, Any]) -> list[str]:
        """Where the service's own counts differ, in a line each."""
        found = [
            f"{kind}: {estimates['decisions'][kind]:,} at the service, {self.decisions[kind]:,} with the visitors"
            for kind in DECISION_KINDS
            if estimates["decisions"][kind] != self.decisions[kind]
        ]
        found += [f"{count:,} × {what}" for what, count in self.wrong.items()]
        names = list(estimates["tally"]["items"])
        for field_name, mine in (("clicks", self.clicks), ("passes", self.passes)):
            theirs = np.array(estimates["tally"][field_name], np.int64)
            expected: IntArray = np.zeros_like(theirs)
            for item, number in self._numbers.items():
                expected[: self.slots, names.index(item)] = mine[:, number]
            found += [
                f"{field_name} of {names[item]} in slot {slot + 1}: {theirs[slot, item]:,} at the service, "
                f"{expected[slot, item]:,} with the visitors"
                for slot, item in np.argwhere(theirs != expected)
            ]
        return found
