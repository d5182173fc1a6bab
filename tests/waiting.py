"""Waiting for what another process or thread does, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

#: no verdict on speed: only so that a test ends where something hangs
FOR_EVER = 600.0


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Return once `condition` holds; fail, naming what was waited for, only when it never seems to."""
    give_up = time.monotonic() + FOR_EVER
    while not condition():
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        time.sleep(0.02)
