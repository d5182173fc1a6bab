"""Workers end when the process that started them does, however it ended, and leave its port to whoever comes next."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess
from typing import Final

#: how much longer than that to wait for the end
PATIENCE: Final = 5

log = logging.getLogger("slotwise.service")


def stop_with_parent(drain_seconds: float) -> None:
    """Stop as if told to when the process that started this one has gone; nothing to do where there is none.

    Requests that are being answered then may take `drain_seconds`.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent, drain_seconds), name="slotwise-parent", daemon=True).start()


def _watch(parent: BaseProcess, drain_seconds: float) -> None:
    # a pipe that the system closes, whatever becomes of the parent
    parent.join()
    log.error("the process that started this worker is gone: stopping", extra={"parent": parent.pid})
    os.kill(os.getpid(), signal.SIGTERM)
    # one that does not answer any more does not listen to signals either
    time.sleep(drain_seconds + PATIENCE)
    os._exit(1)
