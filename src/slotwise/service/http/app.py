"""The application: everything put together."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from slotwise.service import json_lines
from slotwise.service.http import api, operations, problems
from slotwise.service.http.gate import Gate
from slotwise.service.settings import Settings, load
from slotwise.service.worker.worker import Clock, Service

log = logging.getLogger("slotwise.service")


def worker() -> FastAPI:
    """What a server's process runs: settings from the environment and from the file that it names."""
    settings = load()
    json_lines.configure(settings.log_level)
    return create(settings)


def create(settings: Settings, clock: Clock = time.time) -> FastAPI:
    """An application on the store of the settings."""
    service = Service(settings, clock)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        # what is there now stays: the collector need not walk through it again and again, while requests wait
        gc.collect()
        gc.freeze()
        log.info("ready", extra={"placements": len(service.placements.names())})
        yield
        await service.stop()
        log.info("stopped")

    app = FastAPI(
        title="slotwise",
        version=version("slotwise"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        # a path with a slash too many is not there, rather than elsewhere
        redirect_slashes=False,
    )
    api.install(app, service)
    operations.install(app, service)
    problems.install(app)
    app.add_middleware(Gate, key=settings.key, metrics=service.metrics)
    _name_the_key(app)
    return app


def _name_the_key(app: FastAPI) -> None:
    openapi = app.openapi()
    openapi.setdefault("components", {})["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    app.openapi_schema = openapi
