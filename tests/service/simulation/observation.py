"""What is committed, and what workers have in memory, compared with the model."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from slotwise.service.storage.count_rows import COUNTERS, TALLY_COUNTS
from tests.service.simulation import placements
from tests.service.simulation.model import Model
from tests.service.simulation.model_definitions import Message
from tests.service.simulation.model_types import Reported, Row, must
from tests.service.simulation.worker_process import WorkerProcess

#: before a test takes its place
_connect: Final = sqlite3.connect
_ROWS: Final = (
    "SELECT id, placement, items, arm, issued, deadline, segment, list_of, capped, late, final, reward, events_until, "
    "events, outcome, clicked, clicked_then, value, outcome_events FROM decisions"
)
#: counters that follow from the decisions
_FOLLOWING: Final = [name for name in COUNTERS if name not in ("late", "duplicates", "conflicts")]
_CELLS: Final = ("clicks", "passes", "shows")
_PERIODS: Final = "placement, start, segment, arm"


class Observation:
    """Reads a store past the service's own code."""

    def __init__(self, file: Path, model: Model) -> None:
        self._model = model
        #: tallies by placement and revision, for what workers hold in memory
        self._tallies: dict[tuple[str, int], Counter[tuple[Any, ...]]] = {}
        self.open(file)

    def open(self, file: Path) -> None:
        """Read another file from now on."""
        self._connection = _connect(file, timeout=0.0, isolation_level=None, cached_statements=64)

    def close(self) -> None:
        self._connection.close()

    def _read(self, statement: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement).fetchall()

    def observe(self, tables: Collection[str], now: float) -> None:
        """Compare all that a commit has written with the model."""
        if "changes" in tables:
            self._definitions(now)
        if "alerts" in tables:
            self._messages()
        if "decisions" in tables:
            self._model.committed({row[0]: _row(*row) for row in self._read(_ROWS)})
        self._counts(tables)

    def _definitions(self, now: float) -> None:
        known = self._model.definitions
        for name, version, definition, what in self._read(
            "SELECT name, placements.version, definition, what FROM placements "
            "JOIN definitions ON definitions.placement = name "
            "JOIN changes ON changes.placement = name AND changes.version = placements.version"
        ):
            if len(known.of.get(name, ())) != version:
                known.committed(name, version, json.loads(definition), json.loads(what), now)

    def _messages(self) -> None:
        rows = self._read("SELECT placement, topic, state, message, since, next_try FROM alerts")
        self._model.definitions.noted(
            {
                (placement, topic): Message(state, body, since, due is not None)
                for placement, topic, state, body, since, due in rows
            }
        )

    def _counts(self, tables: Collection[str]) -> None:
        counts = self._model.counts
        if "counters" in tables:
            rows = self._read(f"SELECT {_PERIODS}, {', '.join(_FOLLOWING)} FROM period_counters")
            counters = _equal("counters by hour", rows, _FOLLOWING, counts.counters)
            over_hours = Counter[tuple[Any, ...]]()
            for (placement, _, *key), count in counters.items():
                over_hours[placement, *key] += count
            rows = self._read(f"SELECT placement, segment, arm, {', '.join(_FOLLOWING)} FROM counters")
            _equal("counters", rows, _FOLLOWING, over_hours)
        if "event_counts" in tables or counts.events:
            rows = self._read("SELECT placement, start, arm, event, decisions FROM event_counts")
            found = Counter({row[:-1]: row[-1] for row in rows})
            _same("events by hour", found, counts.events)
        if "tally" not in tables and "placements" not in tables:
            return
        rows = self._read(f"SELECT placement, segment, slot, item, {', '.join(TALLY_COUNTS)} FROM tally")
        tally = _equal("the tally", rows, TALLY_COUNTS, counts.tally)
        rows = self._read(f"SELECT {_PERIODS}, slot, item, {', '.join(_CELLS)} FROM period_tally")
        _equal("the tally by hour", rows, _CELLS, counts.by_hour)
        for placement, revision in self._read("SELECT name, revision FROM placements"):
            if (placement, revision) not in self._tallies:
                self._tallies[placement, revision] = Counter(
                    {key[1:]: n for key, n in tally.items() if key[0] == placement and key[-1] in ("clicks", "passes")}
                )

    def memory(self, process: WorkerProcess) -> None:
        """Learners have learned the tally of a moment, each count once."""
        for placement in process.worker.placements() if process.worker is not None else ():
            if process.checked.get(placement.name) == (placement.version, placement.revision):
                continue
            process.checked[placement.name] = placement.version, placement.revision
            learned = Counter[tuple[Any, ...]]()
            for number, segment in enumerate(placements.SEGMENTS):
                tally = placement.learner.tally(number)
                for name, counts in (("clicks", tally.clicks), ("passes", tally.passes)):
                    for slot, of_slot in enumerate(counts.tolist()):
                        for item, count in zip(placement.numbers, of_slot, strict=True):
                            if count:
                                learned[segment, slot, item, name] = int(count)
            # it may be ahead of the revision, which is read first
            later = [
                tally
                for (name, revision), tally in self._tallies.items()
                if name == placement.name and revision >= placement.revision
            ]
            must(learned in later, "a worker has learned another tally", placement.name, learned, later)

    def followed(self, process: WorkerProcess) -> bool:
        """Whether a worker has the newest definitions and counts."""
        newest = {(name, *at) for name, *at in self._read("SELECT name, version, revision FROM placements")}
        assert process.worker is not None
        return newest == {(known.name, known.version, known.revision) for known in process.worker.placements()}

    def repeats(self) -> None:
        """Compare what is counted of reports that change nothing."""
        for verdict, counter in (("duplicate", "duplicates"), ("conflict", "conflicts")):
            ((counted,),) = self._read(f"SELECT COALESCE(SUM({counter}), 0) FROM counters")
            must(counted >= self._model.repeats[verdict], f"lost {counter}", counted, self._model.repeats[verdict])
        ((late,),) = self._read("SELECT COALESCE(SUM(late), 0) FROM counters")
        must(late == sum(row.late for row in self._model.rows.values()), "late outcomes", late)


@lru_cache(maxsize=1024)
def _row(id: str, placement: str, items: str, *columns: Any) -> Row:
    arm, issued, deadline, segment, list_of, capped, late, final, reward, until, events, *outcome = columns
    kind, clicked, then, value, with_outcome = outcome
    return Row(
        id,
        placement,
        tuple(json.loads(items)),
        arm,
        issued,
        deadline,
        segment,
        list_of,
        bool(capped),
        bool(late),
        bool(final),
        None if reward is None else json.loads(reward),
        until,
        tuple(map(tuple, json.loads(events))) if events else (),
        Reported(
            kind,
            clicked,
            tuple(json.loads(then)) if then else (),
            value,
            tuple(map(tuple, json.loads(with_outcome))) if with_outcome else (),
        ),
    )


def _equal(
    what: str, rows: list[tuple[Any, ...]], names: Collection[str], wanted: Counter[tuple[Any, ...]]
) -> Counter[tuple[Any, ...]]:
    """The counts of a table, which must be those of the model."""
    counter = Counter[tuple[Any, ...]]()
    for row in rows:
        key = row[: -len(names)]
        for name, count in zip(names, row[-len(names) :], strict=True):
            if count:
                counter[*key, name] += count
    _same(what, counter, wanted)
    return counter


def _same(what: str, found: Counter[Any], wanted: Counter[Any]) -> None:
    # neither has a count of 0, and to compare dictionaries is quicker
    if not dict.__eq__(found, wanted):
        keys = sorted((key for key in {*found, *wanted} if found[key] != wanted[key]), key=str)
        must(not keys, what, *(f"{key}: {found[key]} instead of {wanted[key]}" for key in keys[:5]))
