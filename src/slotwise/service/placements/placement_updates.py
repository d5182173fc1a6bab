"""Updates of placements: a definition is read, edited, and written back if its version is unchanged."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from pydantic import ValidationError

from slotwise.core.errors import StoreUnavailable
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.placements.definition_edits import (
    ANY_VERSION,
    ExpectedVersion,
    Revision,
    StaleVersion,
    difference,
)
from slotwise.service.placements.placement_registry import Placements, UnknownPlacement
from slotwise.service.placements.placement_state import Placement
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.name_rules import checked_name
from slotwise.service.schemas.report_schemas import ChangeDocument
from slotwise.service.schemas.timestamps import rfc3339
from slotwise.service.storage import Store
from slotwise.service.storage.batch_writer import Writer
from slotwise.service.storage.placements_table import Change, Put

#: attempts of an update while other updates come in between
MAX_TRIES: Final = 20
#: decisions that one transaction reads when a placement is deleted; others wait for it, so it is short
DROPPED_AT_ONCE: Final = 2_000
#: the newest changes, which are listed
MAX_LISTED: Final = 1_000

log = logging.getLogger("slotwise.service")


class Changed(NamedTuple):
    """A placement after an update, and its definition before; None if it is new."""

    placement: Placement
    before: PlacementDefinition | None
    is_new: bool


class _Current(NamedTuple):
    version: int
    definition: PlacementDefinition | None


class PlacementUpdates:
    """Updates definitions without undoing a concurrent update, here or in another worker."""

    def __init__(self, placements: Placements, writer: Writer, clock: Callable[[], float]) -> None:
        self._placements, self._writer, self._clock = placements, writer, clock
        #: raises if this service cannot serve a definition
        self.check: Callable[[PlacementDefinition], None] = lambda _: None

    async def put(self, name: str, definition: PlacementDefinition, expected: ExpectedVersion = ANY_VERSION) -> Changed:
        """Create a placement, or replace all of its definition."""
        return await self._revise(checked_name(name), lambda _: definition, expected)

    async def change(
        self, name: str, revision: Revision, expected: ExpectedVersion = ANY_VERSION, reason: str | None = None
    ) -> Changed:
        """Edit the definition of an existing placement; the reason is listed with the change."""
        return await self._revise(name, revision, expected, must_exist=True, reason=reason)

    async def delete(self, name: str, expected: ExpectedVersion = ANY_VERSION) -> None:
        """Delete a placement with its decisions, its tally and its counters."""
        version = await self._placements.read(lambda store: store.version(name))
        if version is None:
            raise _unknown(name)
        expected.check(name, version.version)
        # final decisions are deleted first and in pieces, as in `compact`: no transaction is long
        last_id: str | None = ""
        while last_id is not None:
            last_id = await self._writer.call(partial(_drop_final, name=name, after=last_id))
        at = version.version if expected != ANY_VERSION else None
        verdict = await self._writer.call(lambda store: store.drop_placement(name, at=at))
        await self._placements.find(name)
        if verdict == "stale":
            raise StaleVersion(f"the placement {name!r} was changed meanwhile")
        if verdict == "unknown":
            raise _unknown(name)
        log.info("placement deleted", extra={"placement": name})

    async def changes(self, name: str) -> list[ChangeDocument]:
        """The changes of a definition, the newest first."""

        def read(store: Store) -> list[Change]:
            with store.snapshot():
                if store.version(name) is None:
                    raise _unknown(name)
                return store.changes(name, MAX_LISTED)

        return [change_document(change) for change in await self._placements.read(read)]

    async def _revise(
        self,
        name: str,
        revision: Revision,
        expected: ExpectedVersion,
        *,
        must_exist: bool = False,
        reason: str | None = None,
    ) -> Changed:
        for _ in range(MAX_TRIES):
            current = await self._placements.read(lambda store: _read(store, name))
            if must_exist and not current.version:
                raise _unknown(name)
            expected.check(name, current.version)
            # in another thread, as it may take seconds
            after = await asyncio.to_thread(revision, current.definition)
            if after == current.definition:
                return await self._done(name, current)
            self.check(after)
            await asyncio.to_thread(try_out, after)
            what = difference(current.definition, after) | ({} if reason is None else {"reason": reason})
            change = Change(self._clock(), json.dumps(what, ensure_ascii=False))
            put = await self._writer.call(
                partial(_put, name=name, definition=after.text(), change=change, at=current.version)
            )
            if put.verdict != "stale":
                log.info(
                    "placement put",
                    extra={"placement": name, "new": not current.version, "items": len(after.items)},
                )
                return await self._done(name, current)
        raise StoreUnavailable(f"the placement {name!r} was changed {MAX_TRIES} times meanwhile")

    async def _done(self, name: str, current: _Current) -> Changed:
        placement = await self._placements.find(name)
        if placement is None:
            self._placements.refuse_broken(name)
            # deleted right after it was put
            raise _unknown(name)
        return Changed(placement, current.definition, not current.version)


def _read(store: Store, name: str) -> _Current:
    with store.snapshot():
        version = store.version(name)
        if version is None:
            return _Current(0, None)
        text = store.definition(name)
    try:
        return _Current(version.version, PlacementDefinition.model_validate_json(text))
    except ValidationError:
        return _Current(version.version, None)


def _put(store: Store, *, name: str, definition: str, change: Change, at: int) -> Put:
    return store.put_placement(name, definition, change, at=at)


def _drop_final(store: Store, *, name: str, after: str) -> str | None:
    return store.drop_final(name, after, DROPPED_AT_ONCE)


def change_document(change: Change) -> ChangeDocument:
    """A change as a document."""
    document: ChangeDocument = json.loads(change.what)
    return {**document, "version": change.version, "time": rfc3339(change.time)}


def _unknown(name: str) -> UnknownPlacement:
    return UnknownPlacement(f"there is no placement {name!r}")
