"""An afternoon's service on Redis, whose file is flushed to disk before each answer: appendfsync always."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from afternoon import ITEMS, arguments, serve
from redis.asyncio import Redis

#: seconds that a decision is kept
KEPT = 86_400


class RedisStore:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def counts(self) -> tuple[Sequence[int], Sequence[int]]:
        async with self._redis.pipeline(transaction=False) as pipe:
            clicks, views = await pipe.hmget("clicks", ITEMS).hmget("views", ITEMS).execute()
        return [int(count or 0) for count in clicks], [int(count or 0) for count in views]

    async def add_decision(self, id: str, items: Sequence[str]) -> None:
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.set(f"decision:{id}", ",".join(items), ex=KEPT)
            for item in items:
                pipe.hincrby("views", item, 1)
            await pipe.execute()

    async def add_click(self, id: str, item: str | None) -> bool:
        if not await self._redis.exists(f"decision:{id}"):
            return False
        # the first outcome counts
        if await self._redis.set(f"outcome:{id}", item or "", ex=KEPT, nx=True) and item is not None:
            await self._redis.hincrby("clicks", item, 1)
        return True


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[RedisStore]:
    async with Redis.from_url(url) as redis:
        yield RedisStore(redis)


if __name__ == "__main__":
    port, url = arguments()
    serve(port, opened(url))
