"""A registry of named entries, and the import of every module that registers some.

Modules come from a package of slotwise, or from another distribution by an entry point. In its `pyproject.toml`:

    [project.entry-points."slotwise.policies"]
    my-policy = "my_package.my_policy"

The module registers its policy when it is imported. The other groups are `slotwise.estimators` and
`slotwise.click_models`. Name an entry point like the id that it registers.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from slotwise.core.errors import PluginError, UnknownName


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
    group
        The entry-point group of its plug-ins, for the error message of one that cannot be imported.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> colours = Registry("colour")
    >>> colours.add(SimpleNamespace(id="blue"))
    >>> colours["bleu"]
    Traceback (most recent call last):
    slotwise.core.errors.UnknownName: unknown colour 'bleu': did you mean blue?
    """

    def __init__(self, kind: str, order: Callable[[Entry], Any] = attrgetter("id"), group: str = "") -> None:
        self.kind = kind
        self._group = group
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
            check_plugin(self._group, id)
            raise UnknownName(self.kind, id, [entry.id for entry in self.entries()])
        return self._entries[id]


#: by group and name: the errors of entry points that could not be imported
_failed: dict[tuple[str, str], PluginError] = {}


def import_modules(package: str, path: Iterable[str], group: str) -> None:
    """Import every module of a package and of its subpackages, and the plug-ins of an entry-point group.

    Each module registers its entries: `import_modules(__name__, __path__, "slotwise.policies")`.
    """
    for module in pkgutil.walk_packages(path, f"{package}."):
        importlib.import_module(module.name)
    import_plugins(group)


def import_plugins(group: str) -> None:
    """Import the modules that other distributions name in an entry-point group.

    A module that cannot be imported gives a warning. The others are still imported, and asking for its id raises
    `PluginError`.
    """
    for entry_point in entry_points(group=group):
        try:
            entry_point.load()
            _failed.pop((group, entry_point.name), None)
        except Exception as reason:
            error = _failed[group, entry_point.name] = _plugin_error(group, entry_point, reason)
            warnings.warn(str(error), stacklevel=2)


def check_plugin(group: str, name: str) -> None:
    """Raise the error of a plug-in of this name, if it could not be imported."""
    if (error := _failed.get((group, name))) is not None:
        raise error


def _plugin_error(group: str, entry_point: EntryPoint, reason: Exception) -> PluginError:
    distribution = entry_point.dist.name if entry_point.dist is not None else "unknown"
    return PluginError(
        f"entry point {entry_point.name!r} = {entry_point.value!r} of group {group} in distribution {distribution!r} "
        f"cannot be imported: {type(reason).__name__}: {reason}"
    )
