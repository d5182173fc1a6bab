"""The server's processes."""

from __future__ import annotations

import logging
from typing import Any

import uvicorn

from slotwise.service import json_lines
from slotwise.service.http.connections import Connection
from slotwise.service.settings import Settings, load
from slotwise.service.store import open_store

#: seconds for the requests that are being answered when the service is told to stop
DRAIN_SECONDS = 10

log = logging.getLogger("slotwise.service")


def run() -> None:
    """Serve as the environment says, until told to stop."""
    settings = load()
    json_lines.configure(settings.log_level)
    # before any process is started: a store that is refused is an error of this command, and schemas migrate once
    open_store(settings.store.get_secret_value()).close()
    if settings.key is None:
        log.warning(f"no SLOTWISE_SERVER_KEY is set: serving {settings.host} only, and every request from this machine")
    uvicorn.run(
        "slotwise.service.http.app:from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        server_header=False,
        **options(settings),
    )


def options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told, whatever it serves from."""
    return {
        "http": Connection,
        "ws": "none",
        "h11_max_incomplete_event_size": settings.header_bytes,
        "timeout_keep_alive": settings.keep_alive_seconds,
        "timeout_graceful_shutdown": DRAIN_SECONDS,
        "log_config": None,
        "access_log": False,
    }
