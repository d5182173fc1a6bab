"""The options of the commands that read click logs, and the reading itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.estimators import estimators
from slotwise.estimators.pooled import POOLED

if TYPE_CHECKING:
    from slotwise.cli.shared.console import Progress
    from slotwise.logs import Fit, LogSource, ReadOptions

_COLUMN = "COLUMN"
#: those of `slotwise.logs.ESTIMATOR_NAMES`, without importing what reads logs
ESTIMATOR_IDS = (POOLED, *(entry.id for entry in estimators() if entry.position_bias == "unknown"))


@dataclass(frozen=True)
class LogArguments:
    """A log, what its columns are called and how to read it."""

    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG",
            help="Parquet or CSV (.gz, .zst): a file, a folder or a quoted pattern; a .duckdb file; postgresql://…; "
            "or a file of a public dataset.",
        ),
    ]
    impression: Annotated[
        str, typer.Option(metavar=_COLUMN, help="Which impression a row belongs to; an impression is one page view.")
    ] = "impression"
    slot: Annotated[str, typer.Option(metavar=_COLUMN, help="The slot, counted from 0 or 1.")] = "slot"
    item: Annotated[
        str, typer.Option(metavar=_COLUMN, help="The item; or the list of items, where a row is a whole impression.")
    ] = "item"
    clicked: Annotated[
        str, typer.Option(metavar=_COLUMN, help="The click: true or 1; or the clicked item, where items are lists.")
    ] = "clicked"
    placement: Annotated[
        str | None,
        typer.Option(metavar=_COLUMN, help="The page, query or place of an impression, where the log has several."),
    ] = None
    order: Annotated[str | None, typer.Option(metavar=_COLUMN, help="The order or the time of clicks.")] = None
    propensity: Annotated[
        str | None, typer.Option(metavar=_COLUMN, help="The probability with which the whole list was shown.")
    ] = None
    item_propensity: Annotated[
        str | None,
        typer.Option(
            metavar=_COLUMN,
            help="The probability with which the item was shown in its slot; where items are lists, a list too.",
        ),
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(metavar=_COLUMN, help="How many impressions a row stands for, in a log that was counted already."),
    ] = None
    clicks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The clicks, where they are in a table of their own: joined by impression and item. In a database, "
            "the name of that table.",
        ),
    ] = None
    multi_click: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Which of several clicks counts: first, last, or drop to leave the impression out. By default first "
            "where --order is given, else drop.",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="yandex for sessions of the relevance prediction challenge, open-bandit for files of that dataset; by "
            "default as the file looks. Both name their own columns.",
        ),
    ] = None
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table, where LOG is a database.")] = None
    engine: Annotated[str, typer.Option(metavar="NAME", help="duckdb, or spark for what outgrows this machine.")] = (
        "duckdb"
    )
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="The Spark cluster; by default Spark runs on this machine.")
    ] = None
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="What DuckDB may use, such as 2GB; the rest goes to disk.")
    ] = None

    def source(self, log: str | None = None) -> LogSource:
        """Return the log, or another one with the same columns, as the functions of `slotwise.logs` take it."""
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
        )
        reading: ReadOptions = {
            "table": self.table,
            "engine": self.engine,
            "master": self.master,
            "memory": self.memory,
            "clicks": self.clicks,
        }
        if log is not None:
            return LogSource.of(log, columns, **reading)
        return LogSource.of_file(self.log, columns, format=self.format, **reading)


@dataclass(frozen=True)
class FitArguments(LogArguments):
    """The same, and how to fit it."""

    estimator: Annotated[str, typer.Option(metavar="ID", help="One of those listed above.")] = POOLED
    bias: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Whether slots are worth the same in all placements: shared, own, or auto for what predicts better.",
        ),
    ] = "auto"
    position_bias: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What the slots are worth, where it is known: numbers from slot 1 on."),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What is known of items: a table with their column --item and others, of numbers or text. Items of "
            "which little was seen are expected where these say.",
        ),
    ] = None

    def fit_placements(
        self,
        source: LogSource,
        progress: Progress,
        *,
        segment: Sequence[str] = (),
        time: str | None = None,
        each_rule: bool = False,
    ) -> list[Fit]:
        """Call `slotwise.logs.fit_placements` with these options and the contents of the files that they name."""
        from slotwise import logs

        choices: Any = {"bias": self.bias, "multi_click": self.multi_click}
        item = source.columns.item or "item"
        return logs.fit_placements(
            source,
            estimator=self.estimator,
            position_bias=None if self.position_bias is None else numbers_in(self.position_bias),
            features=None if self.features is None else logs.read_features(self.features, item),
            segment=segment,
            time=time,
            each_rule=each_rule,
            progress=progress,
            **choices,
        )


def numbers_in(path: str) -> list[float]:
    """The numbers of a file, between spaces, commas or lines; or a list as JSON writes it."""
    try:
        text = Path(path).read_text()
    except OSError as problem:
        raise UnreadableFile(f"cannot read {path}: {problem.strerror or problem}") from None
    words = text.strip().strip("[]").replace(",", " ").split()
    try:
        return [float(word) for word in words]
    except ValueError:
        raise InvalidInput(f"position-bias must be a file of numbers, got {text[:60]!r} in {path}") from None
