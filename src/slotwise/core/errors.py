"""The errors that slotwise raises on purpose; the command line and the service translate them in one place each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SlotwiseError(Exception):
    """The base class: slotwise rejects an input or cannot do something."""


class InvalidInput(SlotwiseError, ValueError):
    """An argument, a field of a file or a parameter is invalid; the message names it and its value."""


class UnknownName(SlotwiseError, LookupError):
    """No policy, problem or estimator has that name; the message suggests the nearest ones."""

    def __init__(self, kind: str, name: str, names: Iterable[str]) -> None:
        names = list(names)
        near = names if len(names) == 1 else difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class PluginError(SlotwiseError, ImportError):
    """An entry point of another distribution cannot be imported; the message names both."""


class InvalidRanking(SlotwiseError, ValueError):
    """A ranking does not hold K distinct items."""


class MissingExtra(SlotwiseError, ImportError):
    """An optional dependency is not installed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs packages that are not installed: pip install 'slotwise[{extra}]'")


class MissingClient(SlotwiseError, ImportError):
    """The package of the service's client is not installed; the message is the command that installs it."""

    def __init__(self) -> None:
        super().__init__("slotwise.client needs the package slotwise-client: pip install slotwise-client")


class UnwritableFile(SlotwiseError, OSError):
    """A file cannot be written: no permission, no space, no such folder."""


class UnreadableFile(SlotwiseError, OSError):
    """A file is missing, damaged, or not written by slotwise."""


class StoreRefused(SlotwiseError):
    """A database cannot be opened: it belongs to another program or a newer version, or is not there."""


class StoreUnavailable(SlotwiseError):
    """A database is unavailable: full, locked, read-only, gone or unreachable. Nothing was written."""


class CommitInDoubt(StoreUnavailable):
    """A database did not confirm a commit: the transaction may or may not be there."""
