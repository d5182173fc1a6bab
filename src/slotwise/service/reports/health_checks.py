"""Health checks of a placement: counters, model fit, drift and freshness, one sentence each."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from slotwise.service.metrics import STALENESS_BOUND_SECONDS
from slotwise.service.reports.drift_view import DriftReport
from slotwise.service.reports.model_fit_view import ModelFit
from slotwise.service.schemas.overview_schemas import Check, Level
from slotwise.service.storage.count_rows import Counters

#: shares of fewer decisions are not judged
MIN_DECISIONS: Final = 100
#: larger shares need attention
MAX_LATE: Final = 0.01
MAX_CONFLICTS: Final = 0.01
MAX_SEVERAL: Final = 0.05
MAX_SILENT: Final = 0.95


class Observed(NamedTuple):
    """The inputs of the checks."""

    counters: Counters
    #: the first deadline of a reported decision
    reported_until: str | None
    staleness: float
    #: None if counts decay, because the estimates then do not follow from the tally
    fit: ModelFit | None
    drift: DriftReport
    #: in hours; None if counts keep their weight
    half_life: float | None
    #: whether the half-life is automatic
    is_automatic: bool = False


def checks_of(observed: Observed) -> list[Check]:
    """All checks, in the order of a decision's life."""
    counters = observed.counters
    return [
        _waiting(counters, observed.reported_until),
        _late(counters),
        _silent(counters),
        _repeated(counters),
        _several(counters),
        _fresh(observed.staleness),
        _fit(observed.fit),
        _drift(observed.drift),
        _half_life(observed),
    ]


def _waiting(counters: Counters, until: str | None) -> Check:
    if not counters.pending:
        return {"id": "waiting", "level": "fine", "sentence": "No decision is pending."}
    if counters.pending == 1:
        outcome = "it has no outcome yet" if until is None else f"its outcome is counted at {_at(until)}"
        return {"id": "waiting", "level": "fine", "sentence": f"One decision is pending, and {outcome}."}
    outcome = "none of them has an outcome yet"
    if until is not None:
        outcome = f"the first with an outcome is counted at {_at(until)}"
    return {"id": "waiting", "level": "fine", "sentence": f"{counters.pending:,} decisions are pending, and {outcome}."}


def _at(time: str) -> str:
    """16 November, 02:48 UTC."""
    when = datetime.fromisoformat(time)
    return f"{when.day} {when:%B, %H:%M} UTC"


def _late(counters: Counters) -> Check:
    if not counters.issued:
        return {"id": "late", "level": "unknown", "sentence": "No decision has been made yet."}
    sentence = f"{counters.late:,} of {counters.issued:,} decisions had an outcome after their deadline."
    level = _level(counters.late, counters.issued, MAX_LATE)
    return {
        "id": "late",
        "level": level,
        "sentence": f"{sentence} The window is too short." if level == "look" else sentence,
    }


def _silent(counters: Counters) -> Check:
    if not counters.no_click:
        return {"id": "silent", "level": "unknown", "sentence": "No view without a click is counted yet."}
    share = f"{100 * counters.silent / counters.no_click:.0f} % of the views without a click were never reported"
    if counters.silent > MAX_SILENT * counters.no_click and counters.no_click >= MIN_DECISIONS and not counters.clicked:
        return {
            "id": "silent",
            "level": "look",
            "sentence": f"{share}, and there is no click either: is reporting broken?",
        }
    return {"id": "silent", "level": "fine", "sentence": f"{share}: they count as no click."}


def _repeated(counters: Counters) -> Check:
    sentence = (
        f"{counters.duplicates:,} outcomes were reported twice, and {counters.conflicts:,} conflict with an earlier "
        "outcome; the first counts."
    )
    return {
        "id": "repeated",
        "level": _level(counters.conflicts, counters.issued, MAX_CONFLICTS),
        "sentence": sentence,
    }


def _several(counters: Counters) -> Check:
    if not counters.clicked:
        return {"id": "several", "level": "unknown", "sentence": "No click is counted yet."}
    level = _level(counters.several, counters.clicked, MAX_SEVERAL)
    sentence = (
        f"{100 * counters.several / counters.clicked:.1f} % of the lists with a click have clicks on several items."
    )
    if level == "look":
        sentence += " The model assumes one click, so the estimated position bias may be wrong."
    return {"id": "several", "level": level, "sentence": sentence}


def _fresh(staleness: float) -> Check:
    if staleness <= STALENESS_BOUND_SECONDS:
        return {"id": "fresh", "level": "fine", "sentence": "Decisions use counts that are at most a second old."}
    return {
        "id": "fresh",
        "level": "look",
        "sentence": f"This worker is more than {STALENESS_BOUND_SECONDS:g} s behind the store.",
    }


def _fit(fit: ModelFit | None) -> Check:
    if fit is None:
        return {
            "id": "fit",
            "level": "unknown",
            "sentence": "Model fit is not tested while counts lose weight: the estimates do not use all counts.",
        }
    return {"id": "fit", "level": fit.level, "sentence": fit.sentence}


def _drift(report: DriftReport) -> Check:
    if not report.comparisons:
        return {"id": "drift", "level": "unknown", "sentence": "Not enough data to detect drift."}
    if report.clearest is None:
        return {
            "id": "drift",
            "level": "fine",
            "sentence": "In the last 7 days, visitors clicked on items as in the weeks before.",
        }
    words = report.clearest.in_words()
    return {"id": "drift", "level": "look", "sentence": f"{words[0].upper()}{words[1:]} than before."}


def _half_life(observed: Observed) -> Check:
    if observed.half_life is not None:
        sentence = f"Counts weigh half as much after {observed.half_life:g} hours."
    elif observed.is_automatic:
        sentence = "The half-life is automatic, and counts keep their weight at the moment."
    else:
        sentence = "Counts keep their weight."
    return {"id": "half_life", "level": "fine", "sentence": sentence}


def _level(count: int, total: int, max_share: float) -> Level:
    return "look" if total >= MIN_DECISIONS and count > max_share * total else "fine"
