"""Printing to the terminal: results, and a progress bar on stderr."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from slotwise.logs import Block, TextTable

#: where a line may break: not before a % sign, nor after the number of an item in a list
_BREAKS = re.compile(r"(?<!\b\d\.)(?<!\b\d\d\.) (?!%)")


def screen(*, stderr: bool = False) -> Console:
    """Return a console that prints names verbatim, without markup or emoji."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


@dataclass(frozen=True)
class Unbroken:
    """Pieces of text that wrap between pieces; no piece is broken if it fits in a line."""

    pieces: Sequence[str]
    between: str = "   "
    #: the number of pieces in bold
    bold: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text(overflow="fold")
        for number, piece in enumerate(self.pieces):
            if line and line.cell_len + cell_len(self.between + piece) > options.max_width:
                line.rstrip()
                yield line
                line = Text(overflow="fold")
            elif line:
                line.append(self.between)
            line.append(piece, "bold" if number < self.bold else None)
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widths = [cell_len(piece) for piece in self.pieces] or [0]
        together = sum(widths) + cell_len(self.between) * (len(widths) - 1)
        return Measurement(max(widths), together).with_maximum(options.max_width)


def say(console: Console, sentences: str) -> None:
    """Print sentences, with a leading question in bold; a number stays on one line with its % sign or its item."""
    question, mark, _ = sentences.partition("? ")
    bold = len(_BREAKS.split(question)) if mark and "." not in question else 0
    console.print(Unbroken(_BREAKS.split(sentences), " ", bold))


def show(blocks: Sequence[Block]) -> None:
    """Print paragraphs and tables."""
    console = screen()
    for block in blocks:
        if not isinstance(block, str):
            console.print(_table(block))
            if block.note:
                console.print(block.note)
        elif "\n" in block.lstrip("\n"):
            # lines with fixed breaks
            console.print(block, soft_wrap=True)
        else:
            console.print("\n" * (len(block) - len(block.lstrip("\n"))), end="")
            say(console, block.lstrip("\n"))


def note(text: str, *, quiet: bool) -> None:
    """Print a line below the results, unless `quiet`."""
    if not quiet:
        screen().print(f"\n{text}", soft_wrap=True)


def _table(block: TextTable) -> Table:
    table = Table(box=None, header_style="bold")
    for place, head in enumerate(block.heads):
        is_text = place == 0 or any(not isinstance(row[place], str) for row in block.rows)
        table.add_column(head, justify="left" if is_text else "right", overflow="fold")
    for row in block.rows:
        table.add_row(*(cell if isinstance(cell, str) else Unbroken(cell) for cell in row))
    return table


class Progress(Protocol):
    """A callback with the current step and the completed share of it, from 0 to 1 or None."""

    def __call__(self, step: str, share: float | None = None) -> None: ...


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show the current step as a progress bar on stderr, if that is a terminal, until the block ends.

    On an interrupt, it prints that nothing was written.
    """
    console = screen(stderr=True)
    try:
        with _bar(console) if console.is_terminal else contextlib.nullcontext(_say_nothing) as tell:
            yield tell
    except KeyboardInterrupt:
        console.print("interrupted; nothing was written", soft_wrap=True)
        raise


def _say_nothing(step: str, share: float | None = None) -> None:
    """Ignore progress, if stderr is no terminal."""


@contextlib.contextmanager
def _bar(console: Console) -> Iterator[Progress]:
    """Show one bar for the current step; it moves back and forth if the share is unknown."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description} …", markup=False), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:

        def tell(step: str, share: float | None = None) -> None:
            total = None if share is None else 1.0
            same = [task for task in progress.tasks if task.description == step and task.total == total]
            if not same:
                for task in progress.tasks:
                    progress.remove_task(task.id)
                progress.add_task(step, total=total)
            progress.update(progress.tasks[0].id, completed=share or 0.0)

        yield tell
