"""What visitors were told, and so what the service must have counted."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from slotwise.loadtest.simulated_visitors import Outcome
from slotwise.loadtest.visitor_segments import Segment

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
class Counts:
    """Decisions by what became of them, and clicks and passes by slot, from 0, and item.

    They are not a `Tally`: a check of the service must not rest on the code that it checks.
    """

    decisions: Counter[str] = field(default_factory=Counter)
    clicks: Counter[tuple[int, str]] = field(default_factory=Counter)
    passes: Counter[tuple[int, str]] = field(default_factory=Counter)

    @classmethod
    def published(cls, estimates: Mapping[str, Any]) -> Self:
        """The service's own, from its estimates."""
        tally = estimates["tally"]
        cells = (
            Counter(
                {
                    (slot, item): int(count)
                    for slot, row in enumerate(tally[name])
                    for item, count in zip(tally["items"], row, strict=True)
                    if count
                }
            )
            for name in ("clicks", "passes")
        )
        return cls(Counter({kind: estimates["decisions"][kind] for kind in DECISION_KINDS}), *cells)

    def __add__(self, other: Counts) -> Counts:
        total = Counts()
        for mine, one, two in zip(total._each(), self._each(), other._each(), strict=True):
            mine.update(one)
            mine.update(two)
        return total

    def __sub__(self, other: Counts) -> Counts:
        rest = self + Counts()
        for mine, less in zip(rest._each(), other._each(), strict=True):
            mine.subtract(less)
        return rest

    def only_issued(self) -> Counts:
        """Without all that becomes known later."""
        return Counts(Counter(issued=self.decisions["issued"]))

    def lines(self) -> Iterator[tuple[str, int]]:
        """Each count with its name."""
        for kind in DECISION_KINDS:
            yield kind, self.decisions[kind]
        for name, cells in (("clicks", self.clicks), ("passes", self.passes)):
            for slot, item in sorted(cells):
                yield f"{name} of {item} in slot {slot + 1}", cells[slot, item]

    def end(self, shown: tuple[str, ...], outcome: Outcome | None) -> None:
        """Count a decision; without an outcome nothing was clicked."""
        if outcome is not None and "shown" in outcome:
            self.decisions["not_shown"] += 1
            return
        clicked = None if outcome is None else outcome["clicked"]
        if clicked is None:
            self.decisions["no_click"] += 1
            self.passes.update(enumerate(shown))
        else:
            self.decisions["clicked"] += 1
            self.clicks[shown.index(clicked), clicked] += 1

    def _each(self) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
        return self.decisions, self.clicks, self.passes


def differences(service: Counts, visitors: Counts, where: str = "", *, at_least: bool = False) -> list[str]:
    """Where the service's counts are not the visitors', or, with `at_least`, are less than theirs; in a line each."""
    theirs, ours = dict(service.lines()), dict(visitors.lines())
    found = []
    for name in theirs | ours:
        there, here = theirs.get(name, 0), ours.get(name, 0)
        if there < here or (there > here and not at_least):
            found.append(f"{name}{where}: {there:,} at the service, {here:,} with the visitors")
    return found


@dataclass
class Ledger:
    """The visitors' own counts: a decision is entered once the last answer about it is in."""

    everybody: Counts = field(default_factory=Counts)
    #: of the visitors that a key and its value are true of
    by_segment: defaultdict[tuple[str, str], Counts] = field(default_factory=lambda: defaultdict(Counts))
    #: what was answered to reports, by `ANSWER_KINDS`
    answers: Counter[str] = field(default_factory=Counter)
    #: answers that are not what such a request must get
    wrong: Counter[str] = field(default_factory=Counter)
    #: statuses that no visitor expects
    unexpected: Counter[int] = field(default_factory=Counter)
    #: decisions that were asked for again by their key, and were the same
    repeated: int = 0
    #: those that were asked for again after the window, when their key was free for another decision
    renewed: int = 0
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

    @property
    def decisions(self) -> Counter[str]:
        """Of everybody, by `DECISION_KINDS`."""
        return self.everybody.decisions

    def answered(self, wanted: str, answer: str) -> None:
        """Enter the answer to a report. On a slow network any report may be late."""
        self.answers[answer] += 1
        if answer not in (wanted, "late"):
            self.wrong[f"{wanted} answered as {answer}"] += 1

    def issued(self, shown: tuple[str, ...], seen: bool, segment: Segment = ()) -> None:
        """Enter a decision."""
        for counts in self._of(segment):
            counts.decisions["issued"] += 1
        number = self.lists.setdefault(shown, len(self.lists))
        if seen:
            self.shown.append(number)

    def ended(self, shown: tuple[str, ...], outcome: Outcome | None, segment: Segment = ()) -> None:
        """Close a decision on which nothing more will be reported in time; `outcome` is the last one acknowledged."""
        for counts in self._of(segment):
            counts.end(shown, outcome)

    def came_late(self, segment: Segment = ()) -> None:
        """Enter that a decision has had a report after its deadline."""
        for counts in self._of(segment):
            counts.decisions["late"] += 1

    def wrong_answers(self) -> list[str]:
        """What was answered as it must not be, in a line each."""
        return [f"{count:,} × {what}" for what, count in self.wrong.items()]

    def _of(self, segment: Segment) -> list[Counts]:
        return [self.everybody, *(self.by_segment[pair] for pair in segment)]
