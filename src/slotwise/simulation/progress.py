"""A progress bar on a terminal, where rich is installed; silence elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any


class Bar:
    """A progress bar per task on stderr, with the time left; `show=None` shows it on a terminal only."""

    def __init__(self, show: bool | None) -> None:
        self._progress: Any = None
        if show or (show is None and sys.stderr.isatty()):
            with contextlib.suppress(ImportError):
                from rich.console import Console
                from rich.progress import (
                    BarColumn,
                    MofNCompleteColumn,
                    Progress,
                    TextColumn,
                    TimeElapsedColumn,
                    TimeRemainingColumn,
                )

                self._progress = Progress(
                    TextColumn("{task.description}"),
                    BarColumn(),
                    MofNCompleteColumn(),
                    TimeElapsedColumn(),
                    TextColumn("left"),
                    TimeRemainingColumn(),
                    console=Console(stderr=True),
                )

    def __enter__(self) -> Bar:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    @contextlib.contextmanager
    def task(
        self, description: str, total: int, *, done: int = 0, passing: bool = False
    ) -> Iterator[Callable[[], None]]:
        """Show one task of `total` steps, `done` of them already; yields what to call after each step.

        A passing task is taken off the screen when it ends.
        """
        if not self._progress:
            yield lambda: None
            return
        task = self._progress.add_task(description, total=total, completed=done)
        yield lambda: self._progress.advance(task)
        if passing:
            self._progress.remove_task(task)

    def say(self, line: str) -> None:
        """Print a line to stderr, above the bars if there are any."""
        if self._progress:
            self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr)
