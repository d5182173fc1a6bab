"""`slotwise serve`: checks the settings, the store and the port, then starts the server processes."""

from __future__ import annotations

import errno
import logging
import socket
import sys
import time
from functools import partial
from typing import Any, Final

import uvicorn

from slotwise.core.errors import InvalidInput, SlotwiseError
from slotwise.jit.background_compile import compiling
from slotwise.service import logging_setup
from slotwise.service.http.connection_limits import Connection, Limits, ReadingTurns, affordable
from slotwise.service.http.startup_banner import greeting
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.service_settings import Settings, load
from slotwise.service.storage import open_store

#: a worker that does not respond to its parent for this long is restarted; imports take many seconds on a busy machine,
#: and a worker that is killed before they end never serves
HUNG_SECONDS: Final = 60
#: time to wait for a port that workers of a killed service still hold
PORT_SECONDS: Final = 3.0
#: next ports that are tried, to suggest a free one
PORTS_TO_TRY: Final = 100
MAX_PORT: Final = 65_535

log = logging.getLogger("slotwise.service")


def run() -> None:
    """Serve with the settings of the environment until the process is stopped."""
    settings = load()
    logging_setup.configure(settings.log_level)
    for name, definition in settings.placements.items():
        _check(name, definition)
    # before any process starts: a bad store is an error of this command, and tables are created once
    placements = _count_decisions(settings)
    port = _wait_for_port(settings.host, settings.port)
    if logging_setup.is_for_a_person():
        print(greeting(settings, port, placements), file=sys.stderr, flush=True)
    elif settings.key is None:
        log.warning(f"SLOTWISE_SERVER_KEY is not set: serving {settings.host} only, without an API key")
    uvicorn.run(
        "slotwise.service.http.app:from_environment",
        factory=True,
        host=settings.host,
        port=port,
        workers=settings.workers,
        timeout_worker_healthcheck=HUNG_SECONDS,
        server_header=False,
        **options(settings),
    )


def _count_decisions(settings: Settings) -> dict[str, int]:
    """Return the number of decisions of each placement of the store and of the settings."""
    store = open_store(settings.store.get_secret_value())
    try:
        counters = store.counters()
        names = [*settings.placements, *(version.placement for version in store.versions())]
    finally:
        store.close()
    return {name: sum(arm.issued for arm in counters.get(name, {}).values()) for name in names}


def _check(name: str, definition: PlacementDefinition) -> None:
    """Reject a placement that no learner accepts, before the server starts."""
    try:
        with compiling("never"):
            try_out(definition)
    except SlotwiseError as problem:
        raise InvalidInput(f"setting placements.{name}: {problem}") from None


def options(settings: Settings) -> dict[str, Any]:
    """Return uvicorn's options."""
    limits = Limits(
        affordable(settings.connections), settings.header_bytes, settings.header_seconds, settings.send_seconds
    )
    return {
        "http": partial(Connection, limits, ReadingTurns()),
        "ws": "none",
        "timeout_keep_alive": settings.keep_alive_seconds,
        "timeout_graceful_shutdown": settings.drain_seconds,
        "forwarded_allow_ips": settings.trusted_proxies,
        "log_config": None,
        "access_log": False,
    }


def _wait_for_port(host: str, port: int) -> int:
    """Wait until the port is free and return it; for port 0, return any free port."""
    give_up = time.monotonic() + PORT_SECONDS
    while (problem := _try_port(host, port)) is not None:
        if problem.errno != errno.EADDRINUSE:
            why = str(problem.strerror or problem).partition(" (while")[0]
            raise InvalidInput(f"host {host!r} and port {port} cannot be served: {why}")
        if time.monotonic() > give_up:
            raise InvalidInput(taken(host, port))
        time.sleep(0.05)
    return port or free_port(host)


def taken(host: str, port: int) -> str:
    """Return the error message for a port that is in use, with a free one."""
    message = f"port {port} of {host} is in use by another program"
    for other in range(port + 1, min(port + PORTS_TO_TRY, MAX_PORT) + 1):
        if _try_port(host, other) is None:
            return f"{message}; {other} is free: --port {other}"
    return f"{message}; --port 0 takes any free port"


def _try_port(host: str, port: int) -> OSError | None:
    """Return the error of listening on a port, or None."""
    try:
        socket.create_server((host, port), family=_family(host)).close()
    except OSError as problem:
        return problem
    return None


def free_port(host: str) -> int:
    """Return a port that is free at the moment."""
    with socket.create_server((host, 0), family=_family(host)) as listening:
        return int(listening.getsockname()[1])


def _family(host: str) -> int:
    return socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
