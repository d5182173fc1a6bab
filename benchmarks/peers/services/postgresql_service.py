"""An afternoon's service on PostgreSQL: a transaction for each decision and each outcome."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from afternoon import ITEMS, arguments, serve
from psycopg_pool import AsyncConnectionPool

TABLES = """
CREATE TABLE IF NOT EXISTS items (item TEXT PRIMARY KEY, clicks BIGINT NOT NULL, views BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (id TEXT PRIMARY KEY, items TEXT[] NOT NULL, outcome TEXT);
"""


class PostgresqlStore:
    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool

    async def counts(self) -> tuple[Sequence[int], Sequence[int]]:
        async with self._pool.connection() as connection:
            rows = await (await connection.execute("SELECT item, clicks, views FROM items")).fetchall()
        found = {item: (clicks, views) for item, clicks, views in rows}
        clicks, views = zip(*(found[item] for item in ITEMS), strict=True)
        return clicks, views

    async def add_decision(self, id: str, items: Sequence[str]) -> None:
        async with self._pool.connection() as connection:
            await connection.execute("INSERT INTO decisions VALUES (%s, %s, NULL)", (id, list(items)))
            # locked in one order, or two decisions would wait for each other
            await connection.execute(
                "UPDATE items SET views = views + 1 FROM (SELECT item FROM items WHERE item = ANY(%s) ORDER BY item "
                "FOR UPDATE) AS shown WHERE items.item = shown.item",
                (list(items),),
            )

    async def add_click(self, id: str, item: str | None) -> bool:
        async with self._pool.connection() as connection:
            # the first outcome counts
            first = await connection.execute(
                "UPDATE decisions SET outcome = %s WHERE id = %s AND outcome IS NULL", (item or "", id)
            )
            if first.rowcount and item is not None:
                await connection.execute("UPDATE items SET clicks = clicks + 1 WHERE item = %s", (item,))
            known = await connection.execute("SELECT 1 FROM decisions WHERE id = %s", (id,))
            return await known.fetchone() is not None


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresqlStore]:
    async with AsyncConnectionPool(url, min_size=4, max_size=16) as pool:
        async with pool.connection() as connection:
            await connection.execute(TABLES)
            for item in ITEMS:
                await connection.execute("INSERT INTO items VALUES (%s, 0, 0) ON CONFLICT DO NOTHING", (item,))
        yield PostgresqlStore(pool)


if __name__ == "__main__":
    port, url = arguments()
    serve(port, opened(url))
