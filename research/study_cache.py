"""Cached parts of a study: which are on disk, and which are still to be run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from slotwise.paper.result_cache import Numbers, ResultCache

Cell = TypeVar("Cell", bound="CachedCell")


class CachedCell(Protocol):
    """A part of a study with a cache entry of its own."""

    @property
    def name(self) -> str: ...

    @property
    def made_for(self) -> dict[str, Any]: ...


def load_all(cells: Iterable[Cell], folder: Path, say: Callable[[str], None]) -> tuple[dict[Cell, Numbers], list[Cell]]:
    """Return the numbers of cached cells and the list of missing cells; `say` reports unusable files."""
    results: dict[Cell, Numbers] = {}
    missing = []
    for cell in cells:
        numbers, complaint = ResultCache(folder, cell.made_for).load(cell.name)
        if complaint:
            say(complaint)
        if numbers is None:
            missing.append(cell)
        else:
            results[cell] = numbers
    return results, missing
