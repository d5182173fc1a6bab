from __future__ import annotations

import asyncio
from typing import Any

from slotwise.demo.service_calls import HEADER
from slotwise.demo.viewer_timeout import NotesPresence, Presence


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_viewer_counts_as_present_during_a_request() -> None:
    clock = Clock()
    presence = Presence(clock)
    clock.now += 30.0
    assert presence.alone_for() == 30.0
    presence.came()
    clock.now += 500.0
    assert presence.alone_for() == 0.0
    presence.went()
    clock.now += 7.0
    assert presence.alone_for() == 7.0


def test_browsers_are_noted_and_visitors_of_the_shop_are_not() -> None:
    clock = Clock()
    presence = Presence(clock)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        clock.now += 1.0

    async def ask(*headers: tuple[bytes, bytes]) -> None:
        async def nothing(*_: Any) -> Any: ...

        await NotesPresence(app, presence)({"type": "http", "headers": headers}, nothing, nothing)

    asyncio.run(ask((HEADER.lower().encode(), b"1")))
    assert presence.alone_for() == 1.0
    asyncio.run(ask((b"accept", b"text/html")))
    assert presence.alone_for() == 0.0
