"""Is all well: what the counters of a placement, its model and its worker say, one sentence each."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from slotwise.service.metrics import STALENESS_BOUND_SECONDS
from slotwise.service.reports.drift_view import DriftReport
from slotwise.service.reports.model_fit_view import ModelFit
from slotwise.service.schemas.overview_schemas import Check, Level
from slotwise.service.schemas.report_schemas import MemoryDocument
from slotwise.service.storage.count_rows import Counters

#: before so many decisions, shares of them say nothing
FEWEST: Final = 100
#: shares above which somebody should have a look
MAX_LATE: Final = 0.01
MAX_CONFLICTS: Final = 0.01
MAX_SEVERAL: Final = 0.05
MAX_SILENT: Final = 0.95


class Observed(NamedTuple):
    """What is checked."""

    counters: Counters
    #: when the first outcome that waits is counted
    reported_until: str | None
    staleness: float
    #: None where it cannot be compared, as what is believed rests on other counts
    fit: ModelFit | None
    drift: DriftReport
    memory: MemoryDocument | None


def checks_of(found: Observed) -> list[Check]:
    """All of them, in the order in which a decision lives."""
    counters = found.counters
    return [
        _waiting(counters, found.reported_until),
        _late(counters),
        _silent(counters),
        _repeated(counters),
        _several(counters),
        _fresh(found.staleness),
        _fit(found.fit),
        _drift(found.drift),
        _memory(found.memory),
    ]


def _waiting(counters: Counters, until: str | None) -> Check:
    if not counters.pending:
        return {"id": "waiting", "level": "fine", "sentence": "No decision waits for its deadline."}
    if counters.pending == 1:
        outcome = "it has no outcome yet" if until is None else f"its outcome is counted at {_at(until)}"
        return {"id": "waiting", "level": "fine", "sentence": f"One decision waits, and {outcome}."}
    outcome = "none of them has an outcome yet"
    if until is not None:
        outcome = f"the first with an outcome is counted at {_at(until)}"
    return {"id": "waiting", "level": "fine", "sentence": f"{counters.pending:,} decisions wait, and {outcome}."}


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
    if counters.silent > MAX_SILENT * counters.no_click and counters.no_click >= FEWEST and not counters.clicked:
        return {
            "id": "silent",
            "level": "look",
            "sentence": f"{share}, and there is no click either: is reporting broken?",
        }
    return {"id": "silent", "level": "fine", "sentence": f"{share}: silence counts as no click."}


def _repeated(counters: Counters) -> Check:
    sentence = (
        f"{counters.duplicates:,} outcomes were reported again, and {counters.conflicts:,} otherwise than before; "
        "the first stands."
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
        sentence += " The model expects one, so what is learned of the slots may be wrong."
    return {"id": "several", "level": level, "sentence": sentence}


def _fresh(staleness: float) -> Check:
    if staleness <= STALENESS_BOUND_SECONDS:
        return {"id": "fresh", "level": "fine", "sentence": "Decisions rest on what was counted up to a second ago."}
    return {
        "id": "fresh",
        "level": "look",
        "sentence": f"This worker is more than {STALENESS_BOUND_SECONDS:g} s behind the store.",
    }


def _fit(found: ModelFit | None) -> Check:
    if found is None:
        return {
            "id": "fit",
            "level": "unknown",
            "sentence": "Whether the model fits is not judged where counts fade: it rests on the recent ones.",
        }
    return {"id": "fit", "level": found.level, "sentence": found.sentence}


def _drift(found: DriftReport) -> Check:
    if not found.comparisons:
        return {"id": "drift", "level": "unknown", "sentence": "Whether visitors have changed cannot be told yet."}
    if found.clearest is None:
        return {
            "id": "drift",
            "level": "fine",
            "sentence": "In the last 7 days, visitors clicked on items as they did in the weeks before.",
        }
    words = found.clearest.in_words()
    return {"id": "drift", "level": "look", "sentence": f"{words[0].upper()}{words[1:]} than before."}


def _memory(found: MemoryDocument | None) -> Check:
    if found is None:
        sentence = "Nothing that was counted fades."
    elif found["half_life_hours"] is None:
        sentence = "The memory is automatic, and nothing needs to fade at the moment."
    else:
        sentence = f"What was counted weighs half as much after {found['half_life_hours']:g} hours."
    return {"id": "memory", "level": "fine", "sentence": sentence}


def _level(count: int, total: int, most: float) -> Level:
    return "look" if total >= FEWEST and count > most * total else "fine"
