"""A registry of named entries, and the import of every module of a package that registers some."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from slotwise.core.errors import UnknownName


class Named(Protocol):
    """An entry with an id."""

    @property
    def id(self) -> str:
        """The id that users type."""


Entry = TypeVar("Entry", bound=Named)


class Registry(Generic[Entry]):
    """Entries by id.

    Parameters
    ----------
    kind
        The noun in the error message for an unknown id.
    order
        The sort key of `entries`; the id if none is given.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> colours = Registry("colour")
    >>> colours.add(SimpleNamespace(id="blue"))
    >>> colours["bleu"]
    Traceback (most recent call last):
    slotwise.core.errors.UnknownName: unknown colour 'bleu': did you mean blue?
    """

    def __init__(self, kind: str, order: Callable[[Entry], Any] = attrgetter("id")) -> None:
        self.kind = kind
        self._order = order
        self._entries: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        """Add an entry, in place of an earlier one of the same id."""
        self._entries[entry.id] = entry

    def entries(self) -> list[Entry]:
        """Return all entries in order."""
        return sorted(self._entries.values(), key=self._order)

    def __getitem__(self, id: str) -> Entry:
        if id not in self._entries:
            raise UnknownName(self.kind, id, [entry.id for entry in self.entries()])
        return self._entries[id]


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that each registers its entries: `import_modules(__name__, __path__)`."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")
