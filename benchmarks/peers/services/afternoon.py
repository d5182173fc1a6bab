"""Thompson sampling behind HTTP as a team would write it in an afternoon; a store is given.

It has the paths of slotwise, so that the same client asks both. It ignores the position of a click, learns a click when
it arrives, and counts a view when a list is shown.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SLOTS = 5
ITEMS = [f"item-{number:02}" for number in range(20)]


class Store(Protocol):
    """What an afternoon service asks of its database; a method returns when its changes are on disk."""

    async def counts(self) -> tuple[Sequence[int], Sequence[int]]:
        """Clicks and views of the items."""

    async def add_decision(self, id: str, items: Sequence[str]) -> None:
        """Store a list that is shown, and count its views."""

    async def add_click(self, id: str, item: str | None) -> bool:
        """Store an outcome and count its click, once; whether there is such a decision."""


def serve(port: int, opened: AbstractAsyncContextManager[Store]) -> None:
    """Serve decisions from a store."""
    rng = np.random.default_rng()
    stores: list[Store] = []

    async def decide(request: Request) -> Response:
        await request.body()
        clicks, views = (np.array(counted, float) for counted in await stores[0].counts())
        drawn = rng.beta(clicks + 1.0, np.maximum(views - clicks, 0.0) + 1.0)
        items = [ITEMS[number] for number in np.argsort(-drawn)[:SLOTS]]
        id = uuid.uuid4().hex
        await stores[0].add_decision(id, items)
        return Response(json.dumps({"id": id, "items": items}), 201, media_type="application/json")

    async def report(request: Request) -> Response:
        item = json.loads(await request.body())["clicked"]
        known = await stores[0].add_click(request.path_params["id"], item)
        return Response("{}", 200 if known else 404, media_type="application/json")

    class Opened:
        def __init__(self, app: object) -> None:
            """Open the store when the server starts."""

        async def __aenter__(self) -> None:
            stores.append(await opened.__aenter__())

        async def __aexit__(self, *problem: object) -> None:
            await opened.__aexit__(None, None, None)

    routes = [
        Route("/v1/placements/{name}/decisions", decide, methods=["POST"]),
        Route("/v1/decisions/{id}/outcome", report, methods=["PUT"]),
    ]
    app = Starlette(routes=routes, lifespan=Opened)
    uvicorn.run(app, port=port, log_level="error", access_log=False)


def arguments() -> tuple[int, str]:
    """The port, and the address of the store."""
    return int(sys.argv[1]), sys.argv[2]
