from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from slotwise.demo.service_calls import Calls
from tests.service.serving import serving


def test_the_connection_of_a_cancelled_request_is_closed_after_its_response(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/store.db") as client:
        calls = Calls(str(client.base_url).rstrip("/"))

        async def cancel() -> None:
            request = asyncio.create_task(calls.ask("GET", "/openapi.json"))
            while not calls.unanswered:
                await asyncio.sleep(0)
            request.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await request
            calls.close()

        asyncio.run(cancel())
        calls._threads.shutdown()
        assert calls._transport._connections._idle == []
        assert calls.unanswered == 0
