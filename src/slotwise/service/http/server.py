"""The server's processes."""

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
from slotwise.service.http.connection_limits import Connection, Limits, affordable
from slotwise.service.http.startup_banner import greeting
from slotwise.service.learning.learner_factory import try_out
from slotwise.service.schemas.definition import Definition
from slotwise.service.service_settings import Settings, load
from slotwise.service.storage import open_store

#: how long a worker may not answer the process that started it before it is taken for hung and started anew: on a busy
#: machine it takes many seconds to import what it needs, and one that is killed before it has done so never serves
HUNG_SECONDS: Final = 60
#: how long to wait for a port that the workers of a service that was killed have not let go of yet
PORT_SECONDS: Final = 3.0
#: how many of the next ones are tried, where a port is taken, to name one that is free
PORTS_TO_TRY: Final = 100
LAST_PORT: Final = 65_535

log = logging.getLogger("slotwise.service")


def run() -> None:
    """Serve as the environment says, until told to stop."""
    settings = load()
    logging_setup.configure(settings.log_level)
    for name, definition in settings.placements.items():
        _check(name, definition)
    # before any process is started: a store that is refused is an error of this command, and tables are created once
    placements = _look_at_store(settings)
    port = _wait_for_port(settings.host, settings.port)
    if logging_setup.is_for_a_person():
        print(greeting(settings, port, placements), file=sys.stderr, flush=True)
    elif settings.key is None:
        log.warning(f"no SLOTWISE_SERVER_KEY is set: serving {settings.host} only, and every request from this machine")
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


def _look_at_store(settings: Settings) -> dict[str, int]:
    """The placements that there are, or will be as soon as something is served, and how many decisions each has had."""
    store = open_store(settings.store.get_secret_value())
    try:
        counters = store.counters()
        names = [*settings.placements, *(version.placement for version in store.versions())]
    finally:
        store.close()
    return {name: sum(arm.issued for arm in counters.get(name, {}).values()) for name in names}


def _check(name: str, definition: Definition) -> None:
    """Refuse a placement that no learner takes, before anything starts."""
    try:
        with compiling("never"):
            try_out(definition)
    except SlotwiseError as problem:
        raise InvalidInput(f"setting placements.{name}: {problem}") from None


def options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told, whatever it serves from."""
    limits = Limits(
        affordable(settings.connections), settings.header_bytes, settings.header_seconds, settings.send_seconds
    )
    return {
        "http": partial(Connection, limits),
        "ws": "none",
        "timeout_keep_alive": settings.keep_alive_seconds,
        "timeout_graceful_shutdown": settings.drain_seconds,
        "forwarded_allow_ips": settings.trusted_proxies,
        "log_config": None,
        "access_log": False,
    }


def _wait_for_port(host: str, port: int) -> int:
    """Wait until the port is free, for a while; for port 0, one that is."""
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
    """What is said of a port that is not free, with one that is."""
    said = f"port {port} of {host} is taken by another program"
    for other in range(port + 1, min(port + PORTS_TO_TRY, LAST_PORT) + 1):
        if _try_port(host, other) is None:
            return f"{said}; {other} is free: --port {other}"
    return f"{said}; --port 0 takes any that is free"


def _try_port(host: str, port: int) -> OSError | None:
    """What is wrong with it, if anything."""
    try:
        socket.create_server((host, port), family=_family(host)).close()
    except OSError as problem:
        return problem
    return None


def free_port(host: str) -> int:
    """One that nobody uses at the moment."""
    with socket.create_server((host, 0), family=_family(host)) as listening:
        return int(listening.getsockname()[1])


def _family(host: str) -> int:
    return socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
