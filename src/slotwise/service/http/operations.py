"""What operators and people look at: health, readiness, metrics, and two plain pages."""

from __future__ import annotations

import json
import logging
from importlib.resources import files

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from slotwise.errors import SlotwiseError
from slotwise.service.http import pages
from slotwise.service.http.problems import respond
from slotwise.service.worker.worker import Service

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

_SNIPPET = files("slotwise.service.http").joinpath("static/slotwise.js").read_bytes()

log = logging.getLogger("slotwise.service")


def install(app: FastAPI, service: Service) -> None:
    """The routes beside the contract's."""

    @app.api_route("/healthz", methods=["GET", "HEAD"], include_in_schema=False)
    async def health() -> Response:
        return Response(json.dumps({"status": "alive"}), media_type="application/json")

    @app.api_route("/readyz", methods=["GET", "HEAD"], include_in_schema=False)
    async def readiness() -> Response:
        try:
            await service.probe()
        except (SlotwiseError, TimeoutError) as problem:
            log.error("not ready", extra={"problem": str(problem) or "the store does not answer in time"})
            return respond(503, "the store cannot be used at the moment", {"Retry-After": "1"})
        return Response(json.dumps({"status": "ready"}), media_type="application/json")

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/slotwise.js", include_in_schema=False)
    async def snippet() -> Response:
        # nothing secret in it, and any page may run it
        headers = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
        return Response(_SNIPPET, media_type="text/javascript", headers=headers)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(pages.documentation(app.openapi()), headers=_HEADERS)

    @app.get("/", include_in_schema=False)
    async def overview() -> Response:
        names = service.placements.names()
        shown = {name: await service.estimates.document(name) for name in names[: pages.MOST_PLACEMENTS]}
        return HTMLResponse(pages.overview(shown, len(names)), headers=_HEADERS)
