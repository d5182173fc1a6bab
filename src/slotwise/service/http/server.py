"""The server's processes."""

from __future__ import annotations

import errno
import logging
import socket
import time
from typing import Any, Final

import uvicorn

from slotwise.errors import InvalidInput, SlotwiseError
from slotwise.ranker.kernels import compiling
from slotwise.service import json_lines
from slotwise.service.http.connections import Connection
from slotwise.service.http.parent import DRAIN_SECONDS
from slotwise.service.settings import Settings, load
from slotwise.service.store import open_store
from slotwise.service.worker.definition import Definition
from slotwise.service.worker.learning import try_out

#: how long to wait for a port that the workers of a service that was killed have not let go of yet
PORT_SECONDS: Final = 3.0

log = logging.getLogger("slotwise.service")


def run() -> None:
    """Serve as the environment says, until told to stop."""
    settings = load()
    json_lines.configure(settings.log_level)
    # before any process is started: a store that is refused is an error of this command, and schemas migrate once
    open_store(settings.store.get_secret_value()).close()
    for name, definition in settings.placements.items():
        _check(name, definition)
    if settings.key is None:
        log.warning(f"no SLOTWISE_SERVER_KEY is set: serving {settings.host} only, and every request from this machine")
    _wait_for_port(settings.host, settings.port)
    uvicorn.run(
        "slotwise.service.http.app:from_environment",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        server_header=False,
        **options(settings),
    )


def _check(name: str, definition: Definition) -> None:
    """Refuse a placement that no learner takes, before anything starts."""
    try:
        with compiling("never"):
            try_out(definition)
    except SlotwiseError as problem:
        raise InvalidInput(f"setting placements.{name}: {problem}") from None


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


def _wait_for_port(host: str, port: int) -> None:
    """Until it is free, or for a while: that it is not is for the server to say."""
    give_up = time.monotonic() + PORT_SECONDS
    while time.monotonic() < give_up:
        try:
            with socket.create_server((host, port), family=_family(host)):
                return
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                return
            time.sleep(0.05)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
