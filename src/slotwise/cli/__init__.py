"""The command line: a thin layer over the library, one file a command."""

from __future__ import annotations

import sys

from slotwise.errors import MissingExtra, SlotwiseError

USAGE_ERROR = 2
INTERRUPTED = 130


def main() -> None:
    """Run `slotwise`, and say what went wrong in one line."""
    try:
        _run()
    except SlotwiseError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _run() -> None:
    try:
        import click

        from slotwise.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich", "typer"):
            raise
        raise MissingExtra("the command line", "cli") from None
    try:
        sys.exit(app(standalone_mode=False))
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
