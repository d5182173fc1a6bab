"""The counts that the service must have, from the responses to the visitors."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from benchmarks.loadtest.visitor_segments import Segment
from slotwise.demo.simulated_visitors import Outcome

#: kinds of decisions, which both the visitors and the service count
DECISION_KINDS = ("issued", "clicked", "no_click", "not_shown", "late")
#: kinds of responses to a report
ANSWER_KINDS = ("recorded", "duplicate", "conflict", "late")


def expected_response(recorded: Outcome | None, outcome: Outcome) -> str:
    """Return the kind of response to a report in time, given the recorded outcome.

    >>> expected_response({"clicked": None}, {"clicked": "a"}), expected_response({"clicked": "a"}, {"clicked": None})
    ('recorded', 'conflict')
    """
    if recorded is None or (recorded == {"clicked": None} and outcome.get("clicked") is not None):
        return "recorded"
    return "duplicate" if recorded == outcome else "conflict"


@dataclass
class OutcomeCounts:
    """Decisions by kind, and clicks and passes by slot (from 0) and item.

    This is not a `Tally`: a check of the service must not use the code that it checks.
    """

    decisions: Counter[str] = field(default_factory=Counter)
    clicks: Counter[tuple[int, str]] = field(default_factory=Counter)
    passes: Counter[tuple[int, str]] = field(default_factory=Counter)

    @classmethod
    def published(cls, estimates: Mapping[str, Any]) -> Self:
        """Return the service's counts from its estimates."""
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

    def __add__(self, other: OutcomeCounts) -> OutcomeCounts:
        total = OutcomeCounts()
        for sums, *parts in zip(total._each(), self._each(), other._each(), strict=True):
            for part in parts:
                sums.update(part)
        return total

    def __sub__(self, other: OutcomeCounts) -> OutcomeCounts:
        difference = self + OutcomeCounts()
        for counter, subtracted in zip(difference._each(), other._each(), strict=True):
            counter.subtract(subtracted)
        return difference

    def only_issued(self) -> OutcomeCounts:
        """Return the number of issued decisions alone."""
        return OutcomeCounts(Counter(issued=self.decisions["issued"]))

    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield each count with its name."""
        for kind in DECISION_KINDS:
            yield kind, self.decisions[kind]
        for name, cells in (("clicks", self.clicks), ("passes", self.passes)):
            for slot, item in sorted(cells):
                yield f"{name} of {item} in slot {slot + 1}", cells[slot, item]

    def end(self, shown: tuple[str, ...], outcome: Outcome | None) -> None:
        """Count a decision; without an outcome it is a no-click."""
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


def differences(
    service: OutcomeCounts, visitors: OutcomeCounts, where: str = "", *, at_least: bool = False
) -> list[str]:
    """Return the differences between the service's counts and the visitors', one per line.

    With `at_least`, only counts of the service that are too small are differences.
    """
    theirs, ours = dict(service.lines()), dict(visitors.lines())
    lines = []
    for name in theirs | ours:
        there, here = theirs.get(name, 0), ours.get(name, 0)
        if there < here or (there > here and not at_least):
            lines.append(f"{name}{where}: {there:,} at the service, {here:,} with the visitors")
    return lines


@dataclass
class ExpectedCounts:
    """The visitors' counts: a decision is counted after the last response about it."""

    everybody: OutcomeCounts = field(default_factory=OutcomeCounts)
    #: by key and value of the context
    by_segment: defaultdict[tuple[str, str], OutcomeCounts] = field(default_factory=lambda: defaultdict(OutcomeCounts))
    #: responses to reports, by `ANSWER_KINDS`
    answers: Counter[str] = field(default_factory=Counter)
    #: wrong responses
    wrong: Counter[str] = field(default_factory=Counter)
    #: unexpected statuses
    unexpected: Counter[int] = field(default_factory=Counter)
    #: repeated requests with an idempotency key that returned the same decision
    repeated: int = 0
    #: repeated requests after the window, which made a new decision
    renewed: int = 0
    #: clicks within the window that arrived after it, because the service was slow
    missed: int = 0
    #: requests without a response: their effect is unknown
    unanswered: int = 0
    #: numbers of the lists that visitors saw, in order
    shown: array[int] = field(default_factory=lambda: array("l"))
    lists: dict[tuple[str, ...], int] = field(default_factory=dict)
    #: seconds
    decide_seconds: array[float] = field(default_factory=lambda: array("d"))
    report_seconds: array[float] = field(default_factory=lambda: array("d"))

    @property
    def decisions(self) -> Counter[str]:
        """Decisions of all visitors, by `DECISION_KINDS`."""
        return self.everybody.decisions

    def answered(self, wanted: str, answer: str) -> None:
        """Count the response to a report. On a slow network any report may be late."""
        self.answers[answer] += 1
        if answer not in (wanted, "late"):
            self.wrong[f"{wanted} answered as {answer}"] += 1

    def issued(self, shown: tuple[str, ...], seen: bool, segment: Segment = ()) -> None:
        """Count an issued decision."""
        for counts in self._of(segment):
            counts.decisions["issued"] += 1
        number = self.lists.setdefault(shown, len(self.lists))
        if seen:
            self.shown.append(number)

    def ended(self, shown: tuple[str, ...], outcome: Outcome | None, segment: Segment = ()) -> None:
        """Count a decision after its last report in time; `outcome` is the recorded one."""
        for counts in self._of(segment):
            counts.end(shown, outcome)

    def came_late(self, segment: Segment = ()) -> None:
        """Count a report after the deadline of a decision."""
        for counts in self._of(segment):
            counts.decisions["late"] += 1

    def wrong_answers(self) -> list[str]:
        """Return the wrong responses, one per line."""
        return [f"{count:,} × {what}" for what, count in self.wrong.items()]

    def _of(self, segment: Segment) -> list[OutcomeCounts]:
        return [self.everybody, *(self.by_segment[pair] for pair in segment)]
