"""Workers stop when their parent process ends, so that they free its port."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess
from typing import Final

#: seconds to wait after the drain before the process exits
GRACE_SECONDS: Final = 5

log = logging.getLogger("slotwise.service")


def stop_with_parent(drain_seconds: float) -> None:
    """Stop this process gracefully when its parent ends; do nothing if it has none.

    Pending requests may take `drain_seconds` to finish.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent, drain_seconds), name="slotwise-parent", daemon=True).start()


def _watch(parent: BaseProcess, drain_seconds: float) -> None:
    # waits on a pipe that the system closes, also if the parent is killed
    parent.join()
    log.error("the parent process has ended: stopping", extra={"parent": parent.pid})
    os.kill(os.getpid(), signal.SIGTERM)
    # a process that hangs ignores signals
    time.sleep(drain_seconds + GRACE_SECONDS)
    os._exit(1)
