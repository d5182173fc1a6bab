"""The decisions of a store as Parquet files, a day a file, a row a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

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
    """What was written, and what was not yet to be."""

    decisions: int = 0
    files: int = 0
    #: decisions of that time whose outcome is not final yet
    pending: int = 0


def export(
    store: Store,
    folder: Path,
    *,
    since: float | None = None,
    until: float | None = None,
    placement: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
    at_once: int = AT_ONCE,
) -> Exported:
    """Write the final decisions that were issued from `since` on and before `until`; a file is whole or not there.

    The file of a day is replaced where there is one.
    """
    if since is not None and until is not None and since >= until:
        raise InvalidInput(f"since must be before until, got {_time(since)} and {_time(until)}")
    after, before = least_id(since or 0.0), _LAST if until is None else least_id(until)
    _make(folder)
    done = Exported()
    for day, batches in groupby(_by_day(store, after, before, placement, at_once), key=lambda batch: _day(batch[0])):
        file = folder / f"decisions-{datetime.fromtimestamp(day * DAY, UTC):%Y-%m-%d}.parquet"
        try:
            with replacing(file) as target, pq.ParquetWriter(target, SCHEMA, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(pa.RecordBatch.from_pylist([*map(row, batch)], SCHEMA))
                    done.decisions += len(batch)
                    tell(f"{done.decisions:,} decisions written, until {_time(batch[-1].decision.issued)}")
        except OSError as problem:
            raise UnwritableFile(f"{file}: {problem.strerror or problem}") from None
        done.files += 1
    done.pending = store.count_pending(after, before, placement)
    return done


def row(logged: LoggedDecision) -> dict[str, Any]:
    """One decision, by column."""
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
        "value": None if outcome is None else outcome.value,
    }


def _by_day(
    store: Store, after: str, before: str, placement: str | None, at_once: int
) -> Iterator[Sequence[LoggedDecision]]:
    """In order of time, no more than fit into memory at once, and never of two days together."""
    while found := store.log(after, before, at_once, placement):
        for _, of_day in groupby(found, key=_day):
            yield [*of_day]
        after = found[-1].decision.id


def _day(logged: LoggedDecision) -> int:
    # as its id has it, by which decisions are in order
    return int(logged.decision.id[:12], 16) // (DAY * 1_000)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UnwritableFile(f"{folder}: {problem.strerror}") from None


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
