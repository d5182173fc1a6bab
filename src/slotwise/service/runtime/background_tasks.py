"""What a worker does by itself, for ever: whatever goes wrong is logged, and it is done again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from slotwise.core.errors import SlotwiseError

#: after something went wrong
RECOVER_SECONDS: Final = 1.0

log = logging.getLogger("slotwise.service")


async def again_and_again(
    work: Callable[[], Awaitable[object]], until_next: Callable[[], Awaitable[object]], what: str
) -> None:
    """Wait, and do it; `what` is a verb and its object, for the log."""
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
