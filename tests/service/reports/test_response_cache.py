"""A document that many look at: made once for all, when something changed, and not too often."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from slotwise.service.reports.response_cache import MAX_RESPONSES, MAX_SECONDS, MIN_SECONDS, TIMES_COST, ResponseCache


class Desk:
    """Makes documents that take a while, on a clock of their own."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.now, self.made, self.seconds = 0.0, 0, seconds
        self.cache = ResponseCache(lambda: self.now)

    async def get(self, moment: int, asked: str = "home") -> bytes:
        return (await self.cache.get(asked, moment, self.make(moment))).content

    def make(self, moment: int) -> Callable[[], Awaitable[bytes]]:
        async def make() -> bytes:
            self.made += 1
            self.now += self.seconds
            await asyncio.sleep(0)
            return b"%d" % moment

        return make


def test_nothing_is_made_again_as_long_as_nothing_changes() -> None:
    async def test() -> None:
        desk = Desk()
        first = await desk.cache.get("home", 1, desk.make(1))
        desk.now += 10_000.0
        assert await desk.cache.get("home", 1, desk.make(1)) == first
        assert desk.made == 1
        desk.now += 1.0
        assert await desk.get(2) == b"2"

    asyncio.run(test())


@pytest.mark.parametrize(
    ("takes", "apart"),
    [(0.0, MIN_SECONDS), (0.4, TIMES_COST * 0.4), (20.0, MAX_SECONDS)],
)
def test_two_makings_are_apart_as_far_as_is_affordable(takes: float, apart: float) -> None:
    async def test() -> None:
        desk = Desk(takes)
        await desk.get(1)
        desk.now += apart - 0.01
        assert await desk.get(2) == b"1"
        desk.now += 0.02
        assert await desk.get(2) == b"2"
        assert desk.made == 2

    asyncio.run(test())


def test_all_who_ask_at_once_wait_for_the_same_one() -> None:
    async def test() -> None:
        desk = Desk()
        assert await asyncio.gather(*(desk.get(1) for _ in range(20))) == [b"1"] * 20
        assert desk.made == 1

    asyncio.run(test())


def test_the_first_caller_may_disconnect() -> None:
    async def test() -> None:
        desk = Desk()
        first = asyncio.create_task(desk.get(1))
        await asyncio.sleep(0)
        second = asyncio.create_task(desk.get(1))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == b"1"

    asyncio.run(test())


def test_a_failed_response_is_tried_again() -> None:
    async def test() -> None:
        desk = Desk()

        async def fail() -> bytes:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await desk.cache.get("home", 1, fail)
        assert await desk.get(1) == b"1"

    asyncio.run(test())


def test_the_number_of_cached_responses_is_limited() -> None:
    async def test() -> None:
        desk = Desk()
        for number in range(MAX_RESPONSES + 1):
            await desk.get(1, f"{number}")
        await desk.get(1, f"{MAX_RESPONSES}")
        assert desk.made == MAX_RESPONSES + 1
        await desk.get(1, "0")
        assert desk.made == MAX_RESPONSES + 2

    asyncio.run(test())


def test_a_tag_is_the_same_as_long_as_the_document_is() -> None:
    async def test() -> None:
        one, other = Desk(), Desk()
        assert await one.cache.get("a", 1, one.make(7)) == await other.cache.get("b", 2, other.make(7))
        assert (await one.cache.get("c", 1, one.make(8))).tag != (await one.cache.get("a", 1, one.make(7))).tag

    asyncio.run(test())


def test_another_version_is_made_at_once() -> None:
    async def test() -> None:
        desk = Desk(seconds=1.0)
        await desk.cache.get("home", 1, desk.make(1), version=1)
        changed = await desk.cache.get("home", 2, desk.make(2), version=2)
        assert changed.content == b"2"
        # and then as seldom as before
        assert await desk.cache.get("home", 3, desk.make(3), version=2) == changed
        assert desk.made == 2

    asyncio.run(test())
