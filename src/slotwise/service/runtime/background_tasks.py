"""Background loops that log failures and retry."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from slotwise.core.errors import SlotwiseError

#: the pause after a failure
RECOVER_SECONDS: Final = 1.0

log = logging.getLogger("slotwise.service")


async def again_and_again(
    work: Callable[[], Awaitable[object]], until_next: Callable[[], Awaitable[object]], what: str
) -> None:
    """Wait and work, forever.

    Parameters
    ----------
    work
        The task; its failures are logged.
    until_next
        Waits for the next turn.
    what
        A verb and its object, for the log.
    """
    while True:
        await until_next()
        try:
            await work()
        except SlotwiseError as problem:
            log.warning(f"cannot {what} now", extra={"problem": str(problem)})
            await asyncio.sleep(RECOVER_SECONDS)
        except Exception:
            log.exception(f"failed to {what}")
            await asyncio.sleep(RECOVER_SECONDS)
