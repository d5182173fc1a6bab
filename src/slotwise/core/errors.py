"""The errors that slotwise raises on purpose; the command line and the service translate them in one place each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SlotwiseError(Exception):
    """Anything that slotwise refuses or cannot do, in words for the person who asked."""


class InvalidInput(SlotwiseError, ValueError):
    """An argument, a field of a file or a parameter is not what it must be; the message names it and its value."""


class UnknownName(SlotwiseError, LookupError):
    """A policy, problem or estimator of that name is not registered; the message offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = list(known)
        near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class InvalidRanking(SlotwiseError, ValueError):
    """A policy returned something that is not K distinct items."""


class MissingExtra(SlotwiseError, ImportError):
    """An optional dependency is not installed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs packages that are not installed: pip install 'slotwise[{extra}]'")


class MissingClient(SlotwiseError, ImportError):
    """The package of the service's client is not installed; the message is the command that installs it."""

    def __init__(self) -> None:
        super().__init__("slotwise.client needs the package slotwise-client: pip install slotwise-client")


class UnwritableFile(SlotwiseError, OSError):
    """Something cannot be written: no permission, no space, no such folder."""


class UnreadableFile(SlotwiseError, OSError):
    """A file is missing, damaged, or not one of ours."""


class StoreRefused(SlotwiseError):
    """A database is not one to work with: another program's, of a newer version, or not there."""


class StoreUnavailable(SlotwiseError):
    """A database cannot be used at the moment: full, locked, read-only, gone or out of reach. Nothing was written."""


class CommitInDoubt(StoreUnavailable):
    """A database was told to commit and did not answer: what was to be written may be there or not."""
