"""Health checks of a placement: counters, model fit, drift and freshness, one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from slotwise.estimators.diagnostics import CLOSE
from slotwise.service.metrics import STALENESS_BOUND_SECONDS
from slotwise.service.reports.drift_view import EMPTY_NAMES, DriftReport
from slotwise.service.schemas.overview_schemas import Check, CheckId, Level
from slotwise.service.schemas.report_schemas import CandidateItemCounts, ModelCheckDocument
from slotwise.service.storage.count_rows import Counters

#: shares of fewer decisions are not judged
MIN_DECISIONS: Final = 100
#: larger shares need attention
MAX_LATE: Final = 0.01
MAX_CONFLICTS: Final = 0.01
MAX_SEVERAL: Final = 0.05
MAX_CAPPED: Final = 0.01
MAX_SILENT: Final = 0.95


_Judged = tuple[Level, str]
NO_CANDIDATES: Final[CandidateItemCounts] = {"learned": 0, "dropped": 0}


class Observed(NamedTuple):
    """The inputs of the checks."""

    counters: Counters
    #: the first deadline of a reported decision
    reported_until: str | None
    staleness: float
    model_check: ModelCheckDocument
    drift: DriftReport
    #: in hours; None if counts keep their weight
    half_life: float | None
    #: whether the half-life is automatic
    is_automatic: bool = False
    #: names of items for people, by id
    names: Mapping[str, str] = EMPTY_NAMES
    #: None if candidates must be items of the placement
    max_items: int | None = None
    candidates: CandidateItemCounts = NO_CANDIDATES


#: what to do about a check that needs attention
ADVICE: Final[Mapping[CheckId, str]] = {
    "late": "Set a longer window under Settings.",
    "silent": "Check that the page reports outcomes: errors of its requests are in the browser's console.",
    "repeated": "Report the outcome of a decision once, or with the same value.",
    "capped": "Look for bots among your visitors. If these are people, set a higher cap.",
    "candidates": "Set a higher max_items, or name fewer candidates: counts of dropped items are lost.",
    "several": "If visitors usually open several items of a list, compare click models on an exported log.",
    "fresh": "Check the load of this machine and of the store. Decisions go on with older counts.",
    "fit": "Nothing has to be done. Position bias alone does not predict the clicks on another list.",
    "drift": "If this is expected, nothing is to be done. A half-life, under Settings, forgets old counts sooner.",
}


def checks_of(observed: Observed) -> list[Check]:
    """All checks, in the order of a decision's life."""
    counters = observed.counters
    judged: dict[CheckId, _Judged] = {
        "waiting": _waiting(counters, observed.reported_until),
        "late": _late(counters),
        "silent": _silent(counters),
        "repeated": _repeated(counters),
        "capped": _capped(counters),
        "several": _several(counters),
        "fresh": _fresh(observed.staleness),
        "fit": _fit(observed.model_check),
        "drift": _drift(observed.drift, observed.names),
        "half_life": _half_life(observed),
    }
    if observed.max_items is not None:
        judged["candidates"] = _candidates(observed.candidates, observed.max_items)
    return [
        {"id": id, "level": level, "sentence": sentence, "advice": ADVICE[id] if level == "look" else None}
        for id, (level, sentence) in judged.items()
    ]


def _waiting(counters: Counters, until: str | None) -> _Judged:
    if not counters.pending:
        return "fine", "No decision is pending."
    if counters.pending == 1:
        outcome = "it has no outcome yet" if until is None else f"its outcome is counted at {_at(until)}"
        return "fine", f"One decision is pending, and {outcome}."
    outcome = "none of them has an outcome yet"
    if until is not None:
        outcome = f"the first with an outcome is counted at {_at(until)}"
    return "fine", f"{counters.pending:,} decisions are pending, and {outcome}."


def _at(time: str) -> str:
    """16 November, 02:48 UTC."""
    when = datetime.fromisoformat(time)
    return f"{when.day} {when:%B, %H:%M} UTC"


def _late(counters: Counters) -> _Judged:
    if not counters.issued:
        return "unknown", "No decision has been made yet."
    sentence = f"{counters.late:,} of {counters.issued:,} decisions had an outcome after their deadline."
    level = _level(counters.late, counters.issued, MAX_LATE)
    return level, sentence


def _silent(counters: Counters) -> _Judged:
    if not counters.no_click:
        return "unknown", "No view without a click is counted yet."
    share = f"{100 * counters.silent / counters.no_click:.0f} % of the views without a click were never reported"
    if counters.silent > MAX_SILENT * counters.no_click and counters.no_click >= MIN_DECISIONS and not counters.clicked:
        return "look", f"{share}, and there is no click either."
    return "fine", f"{share}: they count as no click."


def _repeated(counters: Counters) -> _Judged:
    sentence = (
        f"{counters.duplicates:,} outcomes were reported twice, and {counters.conflicts:,} conflict with an earlier "
        "outcome; the first counts."
    )
    return _level(counters.conflicts, counters.issued, MAX_CONFLICTS), sentence


def _capped(counters: Counters) -> _Judged:
    if not counters.capped:
        return "fine", "No decision was beyond an hourly cap."
    sentence = f"{counters.capped:,} decisions beyond an hourly cap, per visitor or network, are not learned from."
    level = _level(counters.capped, counters.issued, MAX_CAPPED)
    return level, sentence


def _candidates(counts: CandidateItemCounts, max_items: int) -> _Judged:
    learned, dropped = counts["learned"], counts["dropped"]
    sentence = f"{learned:,} of at most {max_items:,} candidate items are learned, and {dropped:,} were dropped."
    # then an item is dropped before it was seen often enough to compare it with the others
    return "look" if dropped > max_items else "fine", sentence


def _several(counters: Counters) -> _Judged:
    if not counters.clicked:
        return "unknown", "No click is counted yet."
    level = _level(counters.several, counters.clicked, MAX_SEVERAL)
    sentence = (
        f"{100 * counters.several / counters.clicked:.1f} % of the lists with a click have clicks on several items."
    )
    if level == "look":
        sentence += (
            " The model assumes one click. All clicks count, and the items left are passed, so the order of items "
            "holds, but the sizes of position bias and attractiveness may not."
        )
    return level, sentence


def _fresh(staleness: float) -> _Judged:
    if staleness <= STALENESS_BOUND_SECONDS:
        return "fine", "Decisions use counts that are at most a second old."
    return "look", f"This worker is more than {STALENESS_BOUND_SECONDS:g} s behind the store."


def _fit(check: ModelCheckDocument) -> _Judged:
    if not check["is_tested"]:
        return "unknown", check["sentence"]
    # smaller effects hardly matter to anybody, and lists account for them
    return "look" if check["is_wrong"] and check["spread"] > CLOSE else "fine", check["sentence"]


def _drift(report: DriftReport, names: Mapping[str, str]) -> _Judged:
    if not report.comparisons:
        return "unknown", "Not enough data to detect drift."
    if report.clearest is None:
        return "fine", "In the last 7 days, visitors clicked on items as in the weeks before."
    words = report.clearest.in_words(names)
    return "look", f"{words[0].upper()}{words[1:]} than before."


def _half_life(observed: Observed) -> _Judged:
    if observed.half_life is not None:
        return "fine", f"Counts weigh half as much after {observed.half_life:g} hours."
    if observed.is_automatic:
        return "fine", "The half-life is automatic, and counts keep their weight at the moment."
    return "fine", "Counts keep their weight."


def _level(count: int, total: int, max_share: float) -> Level:
    return "look" if total >= MIN_DECISIONS and count > max_share * total else "fine"
