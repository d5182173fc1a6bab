"""Runs the demo: a service in this process, on a temporary store."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from pydantic import SecretStr

from slotwise.core.errors import InvalidInput
from slotwise.demo.clock import ShopClock
from slotwise.demo.demo_pages import DemoPages
from slotwise.demo.service_calls import Calls
from slotwise.demo.shop import PLACEMENT
from slotwise.demo.shop_engine import Shop, definition
from slotwise.demo.viewer_timeout import NotesPresence, Presence
from slotwise.jit.background_compile import SETTING as COMPILE
from slotwise.service import logging_setup
from slotwise.service.http.app import application
from slotwise.service.http.server import options, taken
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.service_settings import Settings

HOST: Final = "127.0.0.1"
#: seconds between two checks for viewers
LOOK_SECONDS: Final = 0.5
READY_SECONDS: Final = 0.05


def run(
    port: int, *, minutes: float, browser: bool, say: Callable[[str], None], presence: Presence | None = None
) -> None:
    """Run a shop until it is stopped, or until nobody has looked at it for some minutes.

    Parameters
    ----------
    port
        port to listen on; 0 for any free one
    minutes
        time without a viewer after which the shop closes
    browser
        whether to open a browser
    say
        prints a line
    presence
        tracks viewers

    """
    logging_setup.configure("warning")
    # fast enough for a dozen items without compilation, so the shop opens at once
    os.environ.setdefault(COMPILE, "never")
    asyncio.run(_run(_listening(port), 60.0 * minutes, browser, say, presence or Presence()))


async def _run(
    listening: socket.socket, patience: float, browser: bool, say: Callable[[str], None], presence: Presence
) -> None:
    url = f"http://{HOST}:{listening.getsockname()[1]}"
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with tempfile.TemporaryDirectory(prefix="slotwise-demo-") as folder:
        clock = ShopClock()
        shop = Shop(Calls(url), clock)
        server = _server(Path(folder), clock, shop, presence)
        # this program handles the signals
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        opened = asyncio.create_task(_stay_open(shop, f"{url}/demo", patience, browser, say))
        watching = asyncio.create_task(_watch(presence, patience, stop))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([serving, opened, stopping], return_when=asyncio.FIRST_COMPLETED)
        for task in (opened, watching, stopping):
            task.cancel()
        # open connections are cut after a second, without messages
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        server.should_exit = True
        failures = [
            result
            for result in await asyncio.gather(serving, opened, watching, return_exceptions=True)
            if isinstance(result, Exception)
        ]
        if failures:
            raise failures[0]
    why = "" if presence.alone_for() < patience else ", as nobody was looking"
    say(f"The shop is closed{why}: {shop.visitors:,} visitors came.")


def _server(folder: Path, clock: ShopClock, shop: Shop, presence: Presence) -> uvicorn.Server:
    # not from the environment, which may name a real store
    settings = Settings.model_construct(
        store=SecretStr(f"sqlite:///{folder / 'demo.db'}"),
        placements={PLACEMENT: PlacementDefinition.model_validate(definition())},
        keep_alive_seconds=60,
    )
    app = application(settings, clock)
    app.router.routes.extend(DemoPages(shop).routes())
    app.add_middleware(NotesPresence, presence)
    server_options = {**options(settings), "timeout_graceful_shutdown": 1}
    return uvicorn.Server(uvicorn.Config(app, lifespan="on", server_header=False, **server_options))


async def _stay_open(shop: Shop, address: str, patience: float, browser: bool, say: Callable[[str], None]) -> None:
    while not await shop.is_ready():
        await asyncio.sleep(READY_SECONDS)
    say(f"The shop is open at {address}")
    say(f"Ctrl-C closes it. It closes by itself once no page has been open for {_minutes(patience)}.")
    if browser and has_desktop():
        await asyncio.to_thread(webbrowser.open, address)
    await shop.stay_open()


async def _watch(presence: Presence, patience: float, stop: asyncio.Event) -> None:
    while presence.alone_for() < patience:
        await asyncio.sleep(LOOK_SECONDS)
    stop.set()


def has_desktop() -> bool:
    """Return whether there is a screen for a browser."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise InvalidInput(taken(HOST, port)) from None
        raise InvalidInput(f"port {port} cannot be used: {os.strerror(problem.errno or 0)}") from None


def _minutes(seconds: float) -> str:
    minutes = seconds / 60.0
    return "a minute" if minutes == 1.0 else f"{minutes:g} minutes"
