"""The ASGI application: routes, middleware and lifespan."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from slotwise.service import logging_setup
from slotwise.service.http.connection_limits import log_loop_error
from slotwise.service.http.endpoint import BodyLimit
from slotwise.service.http.middleware.auth import RequireKey, ThisMachineOnly
from slotwise.service.http.middleware.cors import OutcomesFromAnywhere
from slotwise.service.http.middleware.request_metrics import Watch
from slotwise.service.http.middleware.root_path import UnderPath
from slotwise.service.http.parent_watchdog import stop_with_parent
from slotwise.service.http.routes.dashboard_routes import DashboardApi
from slotwise.service.http.routes.decision_routes import DecisionApi
from slotwise.service.http.routes.health import Probes
from slotwise.service.http.routes.pages import Pages
from slotwise.service.http.routes.placement_routes import BodyLimits, PlacementApi
from slotwise.service.runtime import Clock, Worker
from slotwise.service.runtime.alerting import AlertOptions
from slotwise.service.service_settings import Settings, load

log = logging.getLogger("slotwise.service")


class _Application(Starlette):
    """Starlette without its own two layers for exceptions, which cost as much as routing: `Watch` answers them."""

    def build_middleware_stack(self) -> ASGIApp:
        stack: ASGIApp = self.router
        for layer, positional, named in reversed(self.user_middleware):
            stack = layer(stack, *positional, **named)
        return stack


def from_environment() -> Starlette:
    """Return the application of a server process, with settings from the environment and its file."""
    settings = load()
    logging_setup.configure(settings.log_level)
    stop_with_parent(settings.drain_seconds)
    return application(settings)


def application(settings: Settings, clock: Clock = time.time) -> Starlette:
    """Return the application of a worker on the store of the settings."""
    worker = Worker(
        settings.store.get_secret_value(),
        clock=clock,
        placements=settings.placements,
        write_seconds=settings.write_seconds,
        read_seconds=settings.read_seconds,
        alerts=AlertOptions(
            settings.alert_secret.get_secret_value() if settings.alert_secret else None, settings.alert_http
        ),
    )
    sizes = (settings.outcome_bytes, settings.decision_bytes, settings.placement_bytes)
    bodies = BodyLimits(*(BodyLimit(size, settings.body_seconds) for size in sizes))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(log_loop_error)
        # in the background: /healthz responds meanwhile
        starting = worker.begin()
        starting.add_done_callback(partial(_started, worker))
        try:
            yield
        finally:
            await worker.stop()
        log.info("stopped")

    # the most frequent first: a router tries routes in order
    apis = (DecisionApi(worker, bodies), PlacementApi(worker, bodies), DashboardApi(worker))
    operations = [operation for api in apis for operation in api.operations()]
    app = _Application(
        routes=[
            *(operation.route() for operation in operations),
            *Probes(worker).routes(),
            *Pages(operations, settings.root_path).routes(),
        ],
        middleware=[
            Middleware(Watch, worker.metrics.registry),
            *([Middleware(UnderPath, settings.root_path)] if settings.root_path else []),
            Middleware(OutcomesFromAnywhere),
            Middleware(ThisMachineOnly)
            if settings.key is None
            else Middleware(RequireKey, settings.key, settings.key_for_reading),
        ],
        lifespan=lifespan,
    )
    # a path with one slash too many is 404, not a redirect
    app.router.redirect_slashes = False
    return app


def _started(worker: Worker, starting: asyncio.Task[None]) -> None:
    if starting.cancelled():
        return
    if problem := starting.exception():
        log.error("cannot start", exc_info=problem)
        return
    # these objects stay: the garbage collector need not visit them again while requests wait
    gc.collect()
    gc.freeze()
    log.info("ready", extra={"placements": len(worker.names())})
