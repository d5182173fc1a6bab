"""Options of the commands that read click logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.estimators import estimators
from slotwise.estimators.pooled import POOLED

if TYPE_CHECKING:
    from slotwise.cli.shared.console import Progress
    from slotwise.logs import EventValues, Fit, LogSource, ReadOptions

_COLUMN = "COLUMN"
#: equal to `slotwise.logs.ESTIMATOR_NAMES`, without the import of the log readers
ESTIMATOR_IDS = (POOLED, *(entry.id for entry in estimators() if entry.position_bias == "unknown"))
#: equal to `slotwise.logs.fitting.fit_log.MAX_PLACEMENTS`
MAX_PLACEMENTS = 100_000


@dataclass(frozen=True)
class LogArguments:
    """A log, the names of its columns, and how to read it."""

    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG",
            help="Parquet or CSV (.gz, .zst): a file, a folder or a quoted pattern; a .duckdb file; postgresql://…; "
            "http://… of OpenSearch or Elasticsearch with UBI events; or a file of a public dataset.",
        ),
    ]
    impression: Annotated[
        str, typer.Option(metavar=_COLUMN, help="Which impression a row belongs to; an impression is one page view.")
    ] = "impression"
    slot: Annotated[str, typer.Option(metavar=_COLUMN, help="The slot, counted from 0 or 1.")] = "slot"
    item: Annotated[
        str, typer.Option(metavar=_COLUMN, help="The item; or the list of items, if a row is a whole impression.")
    ] = "item"
    clicked: Annotated[
        str, typer.Option(metavar=_COLUMN, help="The click: true or 1; or the clicked item, if items are lists.")
    ] = "clicked"
    placement: Annotated[
        str | None,
        typer.Option(metavar=_COLUMN, help="The page, query or place of an impression, if the log has several."),
    ] = None
    order: Annotated[str | None, typer.Option(metavar=_COLUMN, help="The order or the time of clicks.")] = None
    propensity: Annotated[
        str | None, typer.Option(metavar=_COLUMN, help="The probability with which the whole list was shown.")
    ] = None
    item_propensity: Annotated[
        str | None,
        typer.Option(
            metavar=_COLUMN,
            help="The probability with which the item was shown in its slot; a list, if items are lists.",
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(metavar=_COLUMN, help="The number of impressions that a row stands for, in an aggregated log."),
    ] = None
    clicks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The clicks, if they are in a separate table: joined by impression and item. In a database, "
            "the name of that table.",
        ),
    ] = None
    multi_click: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Which of several clicks counts: first, last, or drop to leave the impression out. By default first "
            "if --order is given, else drop.",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="ubi or ga4 for events of User Behavior Insights or of Google Analytics 4 as exported to BigQuery, in "
            "JSON or Parquet; yandex for sessions of the relevance prediction challenge, open-bandit for files of that "
            "dataset: these two are detected. All have fixed columns.",
        ),
    ] = None
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table, if LOG is a database.")] = None
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="duckdb, or spark for logs too large for this machine.")
    ] = "duckdb"
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="The Spark cluster; by default Spark runs on this machine.")
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory limit of DuckDB, such as 2GB; it spills to disk beyond that."),
    ] = None

    def source(
        self,
        log: str | None = None,
        *,
        value: str | None = None,
        values: EventValues | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> LogSource:
        """Return the log, or another one with the same columns, as the functions of `slotwise.logs` take it.

        `value` names a column; `values` and `progress` are those of events.
        """
        from slotwise.logs import Columns, LogSource

        columns = Columns(
            self.impression,
            self.slot,
            self.item,
            self.clicked,
            self.placement,
            self.order,
            self.propensity,
            self.weight,
            self.item_propensity,
            value,
        )
        reading: ReadOptions = {
            "table": self.table,
            "engine": self.engine,
            "master": self.master,
            "memory": self.memory,
            "clicks": self.clicks,
        }
        path = self.log if log is None else log
        return LogSource.of_file(path, columns, format=self.format, values=values, progress=progress, **reading)


@dataclass(frozen=True)
class FitArguments(LogArguments):
    """A log, and how to fit it."""

    estimator: Annotated[str, typer.Option(metavar="ID", help="One of those listed above.")] = POOLED
    bias: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Position bias of placements: shared, own, or auto for the one that predicts better.",
        ),
    ] = "auto"
    position_bias: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The position bias, if it is known: numbers from slot 1 on."),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Item features: a table with the column --item and others, of numbers or text. Estimates of "
            "rarely shown items are shrunk toward the prediction from features.",
        ),
    ] = None

    max_placements: Annotated[
        int, typer.Option(metavar="N", help="Fit at most this many placements, those with the most rows.")
    ] = MAX_PLACEMENTS

    def fit_placements(
        self,
        source: LogSource,
        progress: Progress,
        *,
        segment: Sequence[str] = (),
        time: str | None = None,
        each_rule: bool = False,
        recommend: str = "auto",
    ) -> list[Fit]:
        """Call `slotwise.logs.fit_placements` with these options and the contents of the files that they name."""
        from slotwise import logs

        choices: Any = {"bias": self.bias, "multi_click": self.multi_click, "recommend": recommend}
        item = source.columns.item or "item"
        return logs.fit_placements(
            source,
            estimator=self.estimator,
            position_bias=None if self.position_bias is None else numbers_in(self.position_bias),
            features=None if self.features is None else logs.read_features(self.features, item),
            segment=segment,
            time=time,
            each_rule=each_rule,
            max_placements=self.max_placements,
            progress=progress,
            **choices,
        )


def numbers_in(path: str) -> list[float]:
    """Return the numbers of a file, separated by spaces, commas or lines; or a JSON list."""
    try:
        text = Path(path).read_text()
    except OSError as problem:
        raise UnreadableFile(f"cannot read {path}: {problem.strerror or problem}") from None
    words = text.strip().strip("[]").replace(",", " ").split()
    try:
        return [float(word) for word in words]
    except ValueError:
        raise InvalidInput(f"position-bias must be a file of numbers, got {text[:60]!r} in {path}") from None
