"""The screen: how results are printed, and what is said while one waits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text


def screen(*, stderr: bool = False) -> Console:
    """A console that prints names as they are, whatever is in them."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


@dataclass(frozen=True)
class Unbroken:
    """Pieces of text beside and below one another, none of them broken where it has room in a line."""

    pieces: Sequence[str]
    between: str = "   "

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = ""
        for piece in self.pieces:
            longer = f"{line}{self.between}{piece}" if line else piece
            if line and cell_len(longer) > options.max_width:
                yield Text(line, overflow="fold")
                longer = piece
            line = longer
        yield Text(line, overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widths = [cell_len(piece) for piece in self.pieces] or [0]
        together = sum(widths) + cell_len(self.between) * (len(widths) - 1)
        return Measurement(max(widths), together).with_maximum(options.max_width)


class Tell(Protocol):
    """Told what is being done, and how much of it is done where that is known, from 0 to 1."""

    def __call__(self, step: str, share: float | None = None) -> None: ...


@contextlib.contextmanager
def telling() -> Iterator[Tell]:
    """A bar on stderr, if that is a screen, that says what is being done; gone at the end.

    Whoever interrupts it is told that nothing came of it.
    """
    console = screen(stderr=True)
    try:
        with _bar(console) if console.is_terminal else contextlib.nullcontext(_say_nothing) as tell:
            yield tell
    except KeyboardInterrupt:
        console.print("interrupted; nothing was written", soft_wrap=True)
        raise


def _say_nothing(step: str, share: float | None = None) -> None:
    """For who has no screen."""


@contextlib.contextmanager
def _bar(console: Console) -> Iterator[Tell]:
    """One bar, of the step that is under way; it moves to and fro where nobody knows how long that takes."""
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
