"""Export of decisions to Parquet: a file per day, a row per decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final

from slotwise.core.errors import InvalidInput, MissingExtra, UnwritableFile
from slotwise.core.io import replacing
from slotwise.service.schemas.segment_rules import context_of
from slotwise.service.storage import Store
from slotwise.service.storage.decision_types import LoggedDecision, least_id

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtra("the log of decisions", "parquet") from None

#: decisions read and written at once
AT_ONCE: Final = 5_000
DAY: Final = 86_400
#: greater than every id
_LAST: Final = "g"

_TEXTS: Final = pa.list_(pa.string())
SCHEMA: Final = pa.schema(
    [
        ("id", pa.string()),
        ("time", pa.timestamp("ms", tz="UTC")),
        ("placement", pa.string()),
        ("segment", pa.string()),
        ("context", pa.map_(pa.string(), pa.string())),
        ("arm", pa.string()),
        ("items", _TEXTS),
        ("propensities", pa.list_(pa.float64())),
        ("outcome", pa.string()),
        ("silent", pa.bool_()),
        ("shown", pa.bool_()),
        ("clicked", pa.string()),
        ("clicks", _TEXTS),
        ("value", pa.float64()),
    ]
)


@dataclass
class Exported:
    """Numbers of written files and decisions, and of pending decisions."""

    decisions: int = 0
    files: int = 0
    #: decisions of the span that are not final yet
    pending: int = 0


def export(
    store: Store,
    folder: Path,
    *,
    since: float | None = None,
    until: float | None = None,
    placement: str | None = None,
    report: Callable[[str], None] = lambda _: None,
    at_once: int = AT_ONCE,
) -> Exported:
    """Write the final decisions that were issued from `since` on and before `until`.

    Files are written atomically, and replace earlier files of the same day.

    Parameters
    ----------
    store
        The store to read.
    folder
        The folder of the files, created if it is missing.
    since, until
        Seconds since 1970; None for no bound.
    placement
        The placement; None for all.
    report
        Called with a sentence about the progress.
    at_once
        Decisions in memory at once.
    """
    if since is not None and until is not None and since >= until:
        raise InvalidInput(f"since must be before until, got {_time(since)} and {_time(until)}")
    after, before = least_id(since or 0.0), _LAST if until is None else least_id(until)
    _make(folder)
    progress = Exported()
    for day, batches in groupby(_by_day(store, after, before, placement, at_once), key=lambda batch: _day(batch[0])):
        file = folder / f"decisions-{datetime.fromtimestamp(day * DAY, UTC):%Y-%m-%d}.parquet"
        try:
            with replacing(file) as target, pq.ParquetWriter(target, SCHEMA, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(pa.RecordBatch.from_pylist([*map(row, batch)], SCHEMA))
                    progress.decisions += len(batch)
                    report(f"{progress.decisions:,} decisions written, until {_time(batch[-1].decision.issued)}")
        except OSError as problem:
            raise UnwritableFile(f"{file}: {problem.strerror or problem}") from None
        progress.files += 1
    progress.pending = store.count_pending(after, before, placement)
    return progress


def row(logged: LoggedDecision) -> dict[str, object]:
    """One decision by column."""
    decision, outcome = logged.decision, logged.outcome
    kind = "no_click" if outcome is None else outcome.kind
    return {
        "id": decision.id,
        "time": datetime.fromtimestamp(decision.issued, UTC),
        "placement": decision.placement,
        "segment": decision.segment,
        "context": [*context_of(decision.segment).items()],
        "arm": decision.arm,
        "items": decision.items,
        "propensities": logged.propensities,
        "outcome": kind,
        "silent": outcome is None,
        "shown": kind != "not_shown",
        "clicked": None if outcome is None else outcome.item,
        "clicks": () if outcome is None else outcome.clicks,
        "value": logged.value,
    }


def _by_day(
    store: Store, after: str, before: str, placement: str | None, at_once: int
) -> Iterator[Sequence[LoggedDecision]]:
    """Batches of decisions in order of time, each of one day."""
    while decisions := store.log(after, before, at_once, placement):
        for _, of_day in groupby(decisions, key=_day):
            yield [*of_day]
        after = decisions[-1].decision.id


def _day(logged: LoggedDecision) -> int:
    # from its id, which orders decisions
    return int(logged.decision.id[:12], 16) // (DAY * 1_000)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UnwritableFile(f"{folder}: {problem.strerror}") from None


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
