"""Routes for operators: health, readiness and metrics."""

from __future__ import annotations

import logging
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from slotwise.core.errors import SlotwiseError
from slotwise.service.http.error_responses import problem
from slotwise.service.runtime import Worker
from slotwise.service.runtime.worker import StillStarting

#: media type of Prometheus' text format
_EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8"

log = logging.getLogger("slotwise.service")


class Probes:
    """Health, readiness and metrics of a worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def routes(self) -> list[Route]:
        """Return the routes; the OpenAPI document leaves them out."""
        return [
            Route("/healthz", self.health),
            Route("/readyz", self.readiness),
            Route("/metrics", self.metrics),
        ]

    async def health(self, _: Request) -> Response:
        """Return 200: the process responds."""
        return JSONResponse({"status": "alive"})

    async def readiness(self, _: Request) -> Response:
        """Return 200 if all placements are loaded and up to date, and the store accepts writes; otherwise 503."""
        try:
            await self._worker.probe()
        except StillStarting as reason:
            return problem(503, str(reason), {"Retry-After": "1"})
        except (SlotwiseError, TimeoutError) as reason:
            log.error("not ready", extra={"problem": str(reason) or "the store does not respond in time"})
            return problem(503, "the store is unavailable", {"Retry-After": "1"})
        return JSONResponse({"status": "ready"})

    async def metrics(self, _: Request) -> Response:
        """Return the metrics in Prometheus' text format."""
        return Response(self._worker.metrics.text(), media_type=_EXPOSITION)
