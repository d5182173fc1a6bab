"""The screen: how results are printed, and what is said while one waits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console


def screen(*, stderr: bool = False) -> Console:
    """A console that prints names as they are, whatever is in them."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


@contextlib.contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """A line on stderr, if that is a screen, that says what is being done; gone at the end.

    Whoever interrupts it is told that nothing came of it.
    """
    console = screen(stderr=True)
    try:
        with console.status("") if console.is_terminal else contextlib.nullcontext() as status:
            yield (lambda step: status.update(f"{step} …")) if status is not None else (lambda _: None)
    except KeyboardInterrupt:
        console.print("interrupted; nothing was written", soft_wrap=True)
        raise
