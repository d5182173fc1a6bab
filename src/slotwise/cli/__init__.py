"""The command line: a thin layer over the library, one file per command, and one for those on a store."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from slotwise.core.errors import InvalidInput, MissingExtra, SlotwiseError

USAGE_ERROR = 2
#: 128 plus the number of the signal, as in shells
INTERRUPTED = 130
#: former commands, and what to use instead
FORMER_COMMANDS = {
    "loadtest": "run `python -m benchmarks.loadtest URL` in a checkout of slotwise",
    "study": "run `python -m research NAME` in a checkout of slotwise",
}


def main() -> None:
    """Run `slotwise`, and report errors in one line."""
    # matrices are small: more threads of OpenBLAS would only wait, on cores that others need. numpy reads the setting
    # when it is imported, which is later
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with reporting_errors():
        _run()


@contextmanager
def reporting_errors() -> Iterator[None]:
    """Print an error of the block to stderr in one line, and exit with its code."""
    try:
        yield
    except SlotwiseError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        print(f"error: {where}{problem.strerror or problem}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    except KeyboardInterrupt:
        # before a command has started; after that, typer exits with the same code
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _run() -> None:
    # imported modules stay, so the garbage collector need not scan them again
    gc.disable()
    try:
        from slotwise.cli.command_app import COMMANDS, app_of

        for name in FORMER_COMMANDS.keys() & sys.argv[1:2]:
            raise InvalidInput(f"slotwise has no command {name}: {FORMER_COMMANDS[name]}")
        called = [name for name in sys.argv[1:2] if name in COMMANDS]
        app = app_of(called or COMMANDS)
    except ModuleNotFoundError as missing:
        if missing.name not in ("rich", "typer"):
            raise
        raise MissingExtra("the command line", "cli") from None
    finally:
        gc.freeze()
        gc.enable()
    app()
