"""Edits of a placement's definition: the expected version, the new definition, and the difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.item_schema import ItemSettings
from slotwise.service.schemas.report_schemas import ChangedItems, FieldChange

#: items that a change lists by id
MAX_NAMED: Final = 100

#: a function from a definition to the next; from None if there is none, or none that can be read
Revision = Callable[[PlacementDefinition | None], PlacementDefinition]


class StaleVersion(SlotwiseError):
    """The placement is not at the version that was expected."""


class UnknownItem(SlotwiseError, LookupError):
    """The placement has no such item."""


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """The expectation of a change: one of these versions, that the placement exists, or that it does not.

    >>> [ExpectedVersion(versions=frozenset({3})).holds(version) for version in (0, 3, 4)]
    [False, True, False]
    >>> [ExpectedVersion(exists=False).holds(version) for version in (0, 3)]
    [True, False]
    """

    versions: frozenset[int] | None = None
    exists: bool | None = None

    def holds(self, version: int) -> bool:
        """Whether a placement at this version is as expected; version 0 means that there is none."""
        return (self.versions is None or version in self.versions) and self.exists in (None, version > 0)

    def check(self, name: str, version: int) -> None:
        """Raise `StaleVersion` unless the placement is as expected."""
        if not self.holds(version):
            state = f"at version {version}" if version else "not there"
            raise StaleVersion(f"the placement {name!r} is {state}, but the request expects another version")


#: no expectation
ANY_VERSION: Final = ExpectedVersion()


def patched(patch: Mapping[str, Any]) -> Revision:
    """The edit of a JSON merge patch (RFC 7396): a field that is null in the patch gets its default."""

    def revise(before: PlacementDefinition | None) -> PlacementDefinition:
        return PlacementDefinition.model_validate_json(json.dumps(merged(json.loads(_readable(before).text()), patch)))

    return revise


def merged(document: object, patch: object) -> object:
    """A document after a JSON merge patch.

    >>> merged({"a": 1, "b": {"c": [1], "d": 2}}, {"a": None, "b": {"c": [3], "e": 4}})
    {'b': {'c': [3], 'd': 2, 'e': 4}}
    """
    if not isinstance(patch, Mapping):
        return patch
    result = dict(document) if isinstance(document, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def with_item(id: str, settings: ItemSettings) -> Revision:
    """The edit that adds an item at the end, or changes the properties of an existing one."""

    def revise(before: PlacementDefinition | None) -> PlacementDefinition:
        document = json.loads(_readable(before).text())
        item = {"id": id, **settings.model_dump(exclude_defaults=True)}
        items = [item if _id(listed) == id else listed for listed in document["items"]]
        document["items"] = items if any(listed is item for listed in items) else [*items, item]
        return PlacementDefinition.model_validate_json(json.dumps(document))

    return revise


def without_item(name: str, id: str) -> Revision:
    """The edit that removes an item from the placement `name`."""

    def revise(before: PlacementDefinition | None) -> PlacementDefinition:
        document = json.loads(_readable(before).text())
        left = [listed for listed in document["items"] if _id(listed) != id]
        if len(left) == len(document["items"]):
            raise UnknownItem(f"there is no item {id!r} in the placement {name!r}")
        pinned = {item: slot for item, slot in document["pin"].items() if item != id}
        return PlacementDefinition.model_validate_json(json.dumps({**document, "items": left, "pin": pinned}))

    return revise


def _id(listed: str | Mapping[str, str]) -> str:
    return listed if isinstance(listed, str) else listed["id"]


def _readable(before: PlacementDefinition | None) -> PlacementDefinition:
    if before is None:
        raise InvalidInput("the definition in the store cannot be read: PUT a whole one in its place")
    return before


def difference(before: PlacementDefinition | None, after: PlacementDefinition) -> dict[str, Any]:
    """The difference of two definitions, as it is stored: fields with old and new values, and items."""
    old, new = (json.loads(definition.text()) if definition else {"items": []} for definition in (before, after))
    was, now = ({_id(listed): listed for listed in document.pop("items")} for document in (old, new))
    fields: dict[str, FieldChange] = {}
    if before is not None:
        fields = {
            name: {"before": old.get(name), "after": value} for name, value in new.items() if old.get(name) != value
        }
    return {
        "fields": fields,
        "added": _named([id for id in now if id not in was]),
        "retired": _named([id for id in was if id not in now]),
        "changed": _named([id for id in now if id in was and now[id] != was[id]]),
        "reordered": [id for id in was if id in now] != [id for id in now if id in was],
    }


def _named(ids: list[str]) -> ChangedItems:
    return {"count": len(ids), "items": ids[:MAX_NAMED]}
